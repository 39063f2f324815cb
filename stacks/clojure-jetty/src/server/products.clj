(ns server.products
  "Products that are computed, compressed for clients that accept it."
  (:require [clojure.string :as string]
            [server.query :as query]
            [server.response :as response])
  (:import (java.io ByteArrayOutputStream)
           (java.nio.charset StandardCharsets)
           (java.util.zip GZIPOutputStream)))

(set! *warn-on-reflection* true)

(def ^:private products-per-page 100)
(def ^:private max-from 1000000)
(def ^:private categories ["books" "garden" "kitchen" "music" "tools"])

(defn- product
  [id]
  {:id       id
   :name     (str "Product " id)
   :category (nth categories (mod id (count categories)))
   :price    (mod (* id 37) 10007)
   :stock    (mod (* id 31) 101)})

(defn- gzip
  [^String text]
  (let [bytes (ByteArrayOutputStream.)]
    (with-open [gzip (GZIPOutputStream. bytes)]
      (.write gzip (.getBytes text StandardCharsets/UTF_8)))
    (.toByteArray bytes)))

(defn- accepts-gzip?
  "Whether gzip is among the codings, with another weight than 0 (RFC 9110, section 12.5.3)."
  [{:strs [accept-encoding]}]
  (some (fn [coding]
          (let [[coding-name weight] (map string/trim (string/split coding #";" 2))]
            (and (.equalsIgnoreCase "gzip" coding-name)
                 (not (re-matches #"q=0(\.0*)?" (or weight ""))))))
        (some-> accept-encoding (string/split #","))))

(defn- compressed
  [response]
  (-> response
      (update :body gzip)
      (assoc-in [:headers "Content-Encoding"] "gzip")))

(defn list-products
  [{:keys [headers] :as request}]
  (let [from (some-> (query/parameter request "from") parse-long)]
    (if (and from (<= 1 from max-from))
      (cond-> (response/json (mapv product (range from (+ from products-per-page))))
        true                    (assoc-in [:headers "Vary"] "Accept-Encoding")
        (accepts-gzip? headers) compressed)
      (response/bad-request "from must be a number from 1 to 1000000"))))
