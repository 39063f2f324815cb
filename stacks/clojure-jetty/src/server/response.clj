(ns server.response
  "Response maps."
  (:require [clojure.data.json :as json]))

(defn response
  [status content-type body]
  {:status status, :headers {"Content-Type" content-type}, :body body})

(defn text
  ([body]
   (text 200 body))
  ([status body]
   (response status "text/plain; charset=utf-8" body)))

(defn json
  [value]
  (response 200 "application/json" (json/write-str value)))

(defn html
  [body]
  (response 200 "text/html; charset=utf-8" body))

(defn octets
  [bytes]
  (response 200 "application/octet-stream" bytes))

(defn created
  [path value]
  (-> (json value)
      (assoc :status 201)
      (assoc-in [:headers "Location"] path)))

(defn no-content [] {:status 204, :headers {}})
(defn bad-request [message] (text 400 message))
(defn not-found [] (text 404 "Not Found"))
(defn bad-gateway [] (text 502 "Bad Gateway"))
(defn unavailable [] (text 503 "Service Unavailable"))
