(ns server.router
  "From a table {path {method handler}} to one handler."
  (:require [clojure.string :as string]
            [server.response :as response]))

(defn- not-found
  [_]
  (response/text 404 "Not Found"))

(defn- not-allowed
  [methods]
  (let [allowed (string/join ", " (map (comp string/upper-case name) (sort (keys methods))))]
    (fn [_]
      (assoc-in (response/text 405 "Method Not Allowed") [:headers "Allow"] allowed))))

(defn async
  "Makes a handler that answers at once an asynchronous one."
  [handler]
  (fn [request respond raise]
    (when-let [response (try
                          (handler request)
                          (catch Throwable error
                            (raise error)
                            nil))]
      (respond response))))

(defn router
  "A handler of `table`, synchronous or asynchronous as those in it are. `lift` makes a synchronous
  handler one of them."
  [table lift]
  (let [not-found   (lift not-found)
        not-allowed (update-vals table (comp lift not-allowed))
        find        (fn [{:keys [uri request-method]}]
                      (if-let [methods (get table uri)]
                        (get methods request-method (get not-allowed uri))
                        not-found))]
    (fn
      ([request]
       ((find request) request))
      ([request respond raise]
       ((find request) request respond raise)))))
