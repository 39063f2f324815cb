(ns server.payload
  "One mebibyte, written directly or handed over by a worker."
  (:require [clojure.core.async :as async]
            [server.response :as response]))

(def ^:private payload
  (byte-array (bit-shift-left 1 20) (byte \d)))

(defn direct
  [_]
  (response/octets payload))

;; A channel takes a bounded number of puts that wait, and refuses more.
(def ^:private mailbox-size 4096)

(defn start-worker
  "A channel, read by a thread that puts the payload into each channel it receives."
  []
  (let [requests (async/chan mailbox-size)]
    (async/thread
      (loop []
        (when-let [reply (async/<!! requests)]
          (async/>!! reply payload)
          (recur))))
    requests))

(defn handed-over
  "A handler that waits for the worker."
  [worker]
  (fn [_]
    (let [reply (async/promise-chan)]
      (async/>!! worker reply)
      (response/octets (async/<!! reply)))))

(defn handed-over-async
  [worker]
  (fn [_ respond _]
    (let [reply (async/promise-chan)]
      (async/take! reply #(respond (response/octets %)))
      (async/put! worker reply))))
