(ns server.body
  "Request bodies that are JSON."
  (:require [clojure.data.json :as json]
            [clojure.string :as string]
            [server.response :as response])
  (:import (java.io InputStream)
           (java.nio.charset StandardCharsets)))

(set! *warn-on-reflection* true)

(def ^:private max-bytes (bit-shift-left 1 20))

(defn- parse
  "The JSON value that the bytes are, or nil."
  [^bytes octets]
  (try
    (json/read-str (String. octets StandardCharsets/UTF_8) :extra-data-fn json/on-extra-throw)
    (catch Exception _)
    ;; What is nested too deeply is refused like what is not JSON.
    (catch StackOverflowError _)))

(defn- json?
  "Whether the headers declare a body that is JSON. Parameters such as a charset do not matter."
  [headers]
  (some-> (get headers "content-type")
          (string/split #";" 2)
          first
          string/trim
          (.equalsIgnoreCase "application/json")))

(defn with-object
  "Calls `answer` with the JSON object that the body is, or with nil if it is something else. A body
  that is too long or not declared as JSON is refused."
  [{:keys [headers ^InputStream body]} answer]
  (if (json? headers)
    (let [octets (.readNBytes body (inc max-bytes))]
      (if (> (alength octets) max-bytes)
        (response/text 413 "Content Too Large")
        (let [value (parse octets)]
          (answer (when (map? value) value)))))
    (response/text 415 "Unsupported Media Type")))
