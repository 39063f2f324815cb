(ns server.users
  "The first ten users, asked from PostgreSQL through JDBC or an asynchronous driver."
  (:require [clojure.java.jdbc :as jdbc]
            [server.response :as response])
  (:import (io.vertx.core Handler)
           (io.vertx.sqlclient Row SqlClient)
           (java.util.function Function)))

(set! *warn-on-reflection* true)

(def ^:private first-users "select id, email from users order by id limit 10")

(defn handler
  "Asks a javax.sql.DataSource, and waits for it."
  [data-source]
  (if data-source
    (fn [_]
      (response/json (jdbc/query {:datasource data-source} [first-users])))
    (constantly (response/unavailable))))

(defn- user
  [^Row row]
  {:id (.getInteger row "id"), :email (.getString row "email")})

(defn async-handler
  "Asks a client of Vert.x."
  [^SqlClient client]
  (if client
    (fn [_ respond raise]
      (.. client
          (preparedQuery first-users)
          execute
          (map (reify Function
                 (apply [_ rows] (response/json (mapv user rows)))))
          (onComplete (reify Handler
                        (handle [_ response] (respond response)))
                      (reify Handler
                        (handle [_ error] (raise error))))))
    (fn [_ respond _]
      (respond (response/unavailable)))))
