(ns server.digest
  "A file's digest, digested again and again."
  (:require [server.query :as query]
            [server.response :as response])
  (:import (java.nio.file Files Path)
           (java.security MessageDigest)
           (java.util Base64)))

(set! *warn-on-reflection* true)

(def ^:private max-rounds 1000000)

(defn- digest-chain
  "SHA-256 of the octets, then of the digest, so many times in all; base64."
  [^bytes octets ^long rounds]
  (let [sha-256 (MessageDigest/getInstance "SHA-256")]
    (loop [digest octets, round 0]
      (if (< round rounds)
        (recur (.digest sha-256 digest) (inc round))
        (.encodeToString (Base64/getEncoder) digest)))))

(defn- rounds
  "The number of rounds that is asked for, or nil."
  [request]
  (when-let [number (some-> (query/parameter request "rounds") parse-long)]
    (when (<= 1 number max-rounds)
      number)))

(defn handler
  [blob-path]
  (fn [request]
    (if-let [rounds (rounds request)]
      (-> (Path/of blob-path (make-array String 0))
          Files/readAllBytes
          (digest-chain rounds)
          response/text)
      (response/bad-request "rounds must be a number from 1 to 1000000"))))
