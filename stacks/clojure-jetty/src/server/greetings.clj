(ns server.greetings
  "Small answers: a text, a list of people, and a greeting for the person in the body."
  (:require [clojure.data.json :as json]
            [clojure.string :as string]
            [server.response :as response])
  (:import (java.io InputStream)
           (java.nio.charset StandardCharsets)))

(set! *warn-on-reflection* true)

(def ^:private max-body-bytes (bit-shift-left 1 20))

(defn plaintext
  [_]
  (response/text "Hello, World!"))

(defn list-people
  [_]
  (response/json [{:name "John", :username "Doe"}]))

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

(defn- greet
  [{who "name", username "username"}]
  (if (and (string? who) (string? username))
    (response/text (str "Hello, " who "!"))
    (response/bad-request "expected a JSON object with a name and a username")))

(defn greet-person
  [{:keys [headers ^InputStream body]}]
  (if (json? headers)
    (let [octets (.readNBytes body (inc max-body-bytes))]
      (if (> (alength octets) max-body-bytes)
        (response/text 413 "Content Too Large")
        (let [person (parse octets)]
          (greet (when (map? person) person)))))
    (response/text 415 "Unsupported Media Type")))
