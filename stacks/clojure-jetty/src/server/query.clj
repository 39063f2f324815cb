(ns server.query
  "Parameters of the query string."
  (:require [clojure.string :as string])
  (:import (java.net URLDecoder)
           (java.nio.charset StandardCharsets)))

(set! *warn-on-reflection* true)

(defn- decode
  "The text, or nil if its escapes are wrong."
  [^String text]
  (try
    (URLDecoder/decode text StandardCharsets/UTF_8)
    (catch IllegalArgumentException _)))

(defn parameter
  "The first value of the parameter, or nil."
  [{:keys [query-string]} parameter-name]
  (when query-string
    (some (fn [pair]
            (let [[key value] (string/split pair #"=" 2)]
              (when (= parameter-name (decode key))
                (some-> value decode))))
          (string/split query-string #"&"))))
