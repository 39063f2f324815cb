(ns server.router
  "From a table {path {method handler}} to one handler. A path may have parameters, as in
  `/items/:id`: a handler finds them in the request under `:path-params`."
  (:require [clojure.string :as string]
            [server.response :as response]))

(defn- not-found
  [_]
  (response/not-found))

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

(defn- matcher
  "Takes the parameters of the path out of a request's, or nil if that is not like it."
  [path]
  (let [names   (map (comp keyword second) (re-seq #":(\w+)" path))
        pattern (re-pattern (string/replace path #":\w+" "([^/]+)"))]
    (fn [uri]
      (when-let [[_ & values] (re-matches pattern uri)]
        (zipmap names values)))))

(defn- path-finder
  "From a request's path to the one in the table, with parameters if it has some."
  [table]
  (let [matchers (for [path (keys table) :when (string/includes? path ":")]
                   [path (matcher path)])]
    (fn [uri]
      (cond
        (contains? table uri) [uri]
        uri                   (some (fn [[path match]]
                                      (when-let [parameters (match uri)]
                                        [path parameters]))
                                    matchers)))))

(defn router
  "A handler of `table`, synchronous or asynchronous as those in it are. `lift` makes a synchronous
  handler one of them."
  [table lift]
  (let [not-found   (lift not-found)
        not-allowed (update-vals table (comp lift not-allowed))
        find-path   (path-finder table)
        route       (fn [{:keys [uri request-method] :as request}]
                      (let [[path parameters] (find-path uri)
                            methods           (get table path)]
                        [(if methods
                           (get methods request-method (get not-allowed path))
                           not-found)
                         (cond-> request
                           parameters (assoc :path-params parameters))]))]
    (fn
      ([request]
       (let [[handler request] (route request)]
         (handler request)))
      ([request respond raise]
       (let [[handler request] (route request)]
         (handler request respond raise))))))
