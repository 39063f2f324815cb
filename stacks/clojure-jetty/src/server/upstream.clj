(ns server.upstream
  "A slow upstream, relayed."
  (:require [clojure.tools.logging :as log]
            [server.response :as response])
  (:import (java.io IOException)
           (java.net URI)
           (java.net.http HttpClient HttpClient$Version HttpRequest HttpResponse
                          HttpResponse$BodyHandler HttpResponse$BodyHandlers)
           (java.time Duration)
           (java.util.concurrent CompletableFuture)
           (java.util.function BiConsumer)))

(set! *warn-on-reflection* true)

(def ^:private connect-timeout (Duration/ofSeconds 2))
(def ^:private timeout (Duration/ofSeconds 10))

(defn client
  "It keeps its connections, and opens as many as there are requests under way."
  ^HttpClient []
  (.. (HttpClient/newBuilder)
      (version HttpClient$Version/HTTP_1_1)
      (connectTimeout connect-timeout)
      build))

(defn- whole-body
  ^HttpResponse$BodyHandler []
  (HttpResponse$BodyHandlers/ofByteArray))

(defn- request
  ^HttpRequest [url]
  (.. (HttpRequest/newBuilder (URI. url))
      (timeout timeout)
      build))

(defn- relay
  [^HttpResponse answer]
  (if (= 200 (.statusCode answer))
    (response/response 200
                       (.. answer headers (firstValue "content-type") (orElse "text/plain"))
                       (.body answer))
    (do (log/error "the upstream answered" (.statusCode answer))
        (response/bad-gateway))))

(defn- refuse
  [error]
  (log/error error "the upstream failed")
  (response/bad-gateway))

(defn handler
  "Waits for the upstream."
  [^HttpClient client url]
  (if url
    (let [request (request url)]
      (fn [_]
        (try
          (relay (.send client request (whole-body)))
          (catch IOException error
            (refuse error)))))
    (constantly (response/bad-gateway))))

(defn async-handler
  [^HttpClient client url]
  (if url
    (let [request (request url)]
      (fn [_ respond _]
        (let [^CompletableFuture answer (.sendAsync client request (whole-body))]
          (.whenComplete answer
                         (reify BiConsumer
                           (accept [_ answer error]
                             (respond (if error (refuse error) (relay answer)))))))))
    (fn [_ respond _]
      (respond (response/bad-gateway)))))
