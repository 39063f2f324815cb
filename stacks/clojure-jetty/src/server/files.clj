(ns server.files
  "The files of a folder, with ETags of their time and length."
  (:require [clojure.string :as string]
            [server.response :as response])
  (:import (java.nio.file Files LinkOption Path)
           (java.nio.file.attribute FileTime)))

(set! *warn-on-reflection* true)

(def ^:private no-options (make-array LinkOption 0))

(def ^:private types {"css" "text/css", "html" "text/html", "js" "text/javascript"})

(defn- content-type
  [path]
  (let [[_ extension] (re-find #"\.(\w+)$" path)]
    (get types extension "application/octet-stream")))

(defn- etag
  [^Path file]
  (let [^FileTime modified (Files/getLastModifiedTime file no-options)]
    (format "\"%x-%x\"" (.toMillis modified) (Files/size file))))

(defn- known?
  "Whether the client has what the ETag is of, by the weak comparison (RFC 9110, section 8.8.3.2)."
  [{:strs [if-none-match]} tag]
  (let [known (some-> if-none-match (string/split #","))]
    (some #{tag (str "W/" tag) "*"} (map string/trim known))))

(defn- file-in
  "The file of the name, if there is one in the folder."
  [^Path root ^String file-name]
  (let [file (.normalize (.resolve root file-name))]
    (when (and (.startsWith file root) (Files/isRegularFile file no-options))
      file)))

(defn handler
  [folder]
  (let [root (.. (Path/of folder (make-array String 0)) toAbsolutePath normalize)]
    (fn [{:keys [path-params headers]}]
      (if-let [file (file-in root (:name path-params))]
        (let [tag (etag file)]
          (if (known? headers tag)
            {:status 304, :headers {"ETag" tag}}
            (-> (response/response 200 (content-type (str file)) (Files/readAllBytes file))
                (assoc-in [:headers "ETag"] tag))))
        (response/not-found)))))
