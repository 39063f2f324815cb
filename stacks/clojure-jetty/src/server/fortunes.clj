(ns server.fortunes
  "A page of fortunes, asked from PostgreSQL through JDBC or an asynchronous driver."
  (:require [clojure.java.jdbc :as jdbc]
            [server.response :as response])
  (:import (com.github.mustachejava DefaultMustacheFactory Mustache)
           (io.vertx.core Handler)
           (io.vertx.sqlclient Row SqlClient)
           (java.io StringWriter)
           (java.util.function Function)))

(set! *warn-on-reflection* true)

(def ^:private fortunes "select id, message from fortune")

;; Mustache looks for the names in a template as strings.
(def ^:private additional
  {"id" 0, "message" "Additional fortune added at request time."})

(defn- template
  "The compiled template, which threads may share."
  ^Mustache []
  (.compile (DefaultMustacheFactory. "templates") "fortunes.mustache"))

(defn- page
  [^Mustache template rows]
  (let [writer (StringWriter.)]
    (.execute template writer {"fortunes" (sort-by #(get % "message") (cons additional rows))})
    (response/html (str writer))))

(defn handler
  "Asks a javax.sql.DataSource, and waits for it."
  [data-source]
  (if data-source
    (let [template (template)]
      (fn [_]
        (page template (jdbc/query {:datasource data-source} [fortunes] {:keywordize? false}))))
    (constantly (response/unavailable))))

(defn- fortune
  [^Row row]
  {"id" (.getInteger row "id"), "message" (.getString row "message")})

(defn async-handler
  "Asks a client of Vert.x."
  [^SqlClient client]
  (if client
    (let [template (template)]
      (fn [_ respond raise]
        (.. client
            (preparedQuery fortunes)
            execute
            (map (reify Function
                   (apply [_ rows] (page template (map fortune rows)))))
            (onComplete (reify Handler
                          (handle [_ response] (respond response)))
                        (reify Handler
                          (handle [_ error] (raise error)))))))
    (fn [_ respond _]
      (respond (response/unavailable)))))
