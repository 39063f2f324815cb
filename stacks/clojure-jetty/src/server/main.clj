(ns server.main
  (:require [server.database :as database]
            [server.digest :as digest]
            [server.files :as files]
            [server.fortunes :as fortunes]
            [server.greetings :as greetings]
            [server.items :as items]
            [server.jetty :as jetty]
            [server.payload :as payload]
            [server.products :as products]
            [server.router :as router]
            [server.settings :as settings]
            [server.upload :as upload]
            [server.upstream :as upstream]
            [server.users :as users])
  (:gen-class))

;; Nothing waits on a thread but for its client, and those are few. Jetty's default.
(def ^:private async-threads 200)
;; Every request that waits for the upstream or the database holds one.
(def ^:private blocking-threads 512)

(defn- table
  "The handlers. `lift` makes those that answer at once what the others are."
  [{:keys [blob-path static-dir]} lift {:keys [ping-pong users fortunes items proxy]}]
  {"/plaintext" {:get (lift greetings/plaintext)}
   "/json"      {:get  (lift greetings/list-people)
                 :post (lift greetings/greet-person)}
   "/static/:name" {:get (lift (files/handler static-dir))}
   "/products"  {:get (lift products/list-products)}
   "/upload"    {:post (lift upload/digest-body)}
   "/payload"   {:get (lift payload/direct)}
   "/ping-pong" {:get ping-pong}
   "/bytes"     {:get (lift (digest/handler blob-path))}
   "/users"     {:get users}
   "/fortunes"  {:get fortunes}
   "/items"     {:get (:list items), :post (:create items)}
   "/items/:id" {:get (:find items), :put (:replace items), :delete (:delete items)}
   "/proxy"     {:get proxy}})

(defn- async-app
  [{:keys [upstream-url] :as settings}]
  (let [client  (database/async-client settings)
        waiting {:ping-pong (payload/handed-over-async (payload/start-worker))
                 :users     (users/async-handler client)
                 :fortunes  (fortunes/async-handler client)
                 :items     (items/async-handlers client)
                 :proxy     (upstream/async-handler (upstream/client) upstream-url)}]
    (router/router (table settings router/async waiting) router/async)))

(defn- blocking-app
  [{:keys [upstream-url] :as settings}]
  (let [source  (database/data-source settings)
        waiting {:ping-pong (payload/handed-over (payload/start-worker))
                 :users     (users/handler source)
                 :fortunes  (fortunes/handler source)
                 :items     (items/handlers source)
                 :proxy     (upstream/handler (upstream/client) upstream-url)}]
    (router/router (table settings identity waiting) identity)))

(defn -main
  []
  (let [{:keys [async?] :as settings} (settings/from-env (System/getenv))]
    (jetty/start (if async? (async-app settings) (blocking-app settings))
                 (assoc (select-keys settings [:host :port :tls :h2c-port :cpus :async?])
                        :threads (if async? async-threads blocking-threads)))))
