(ns server.upload
  "Bodies that are hashed as they come."
  (:require [server.response :as response])
  (:import (java.io InputStream)
           (java.security MessageDigest)
           (java.util Base64)))

(set! *warn-on-reflection* true)

(def ^:private piece-bytes (* 64 1024))

(defn digest-body
  [{:keys [^InputStream body]}]
  (let [sha-256 (MessageDigest/getInstance "SHA-256")
        piece   (byte-array piece-bytes)]
    (loop []
      (let [length (.read body piece)]
        (when (pos? length)
          (.update sha-256 piece 0 length)
          (recur))))
    (response/text (.encodeToString (Base64/getEncoder) (.digest sha-256)))))
