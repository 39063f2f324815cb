(ns server.database
  "Connections to PostgreSQL. A server starts without a database, and fails only what needs it."
  (:require [clojure.string :as string])
  (:import (com.zaxxer.hikari HikariConfig HikariDataSource)
           (io.vertx.core Vertx VertxOptions)
           (io.vertx.pgclient PgBuilder PgConnectOptions)
           (io.vertx.sqlclient PoolOptions)
           (java.net URI)
           (javax.sql DataSource)
           (org.postgresql.ds PGSimpleDataSource)))

(set! *warn-on-reflection* true)

(def ^:private ^String statement-timeout "10s")

(defn- credentials
  "User and password of a URL."
  [^URI url]
  (string/split (or (.getUserInfo url) "") #":" 2))

(defn- unpooled
  "Opens a connection whenever it is asked for one."
  ^DataSource [database-url]
  (let [url             (URI. database-url)
        server          (string/replace (.getRawAuthority url) #"^.*@" "")
        [user password] (credentials url)]
    (doto (PGSimpleDataSource.)
      (.setURL (str "jdbc:postgresql://" server (.getRawPath url)))
      ;; A statement is prepared at its first use on a connection. The driver waits for the fifth
      ;; otherwise.
      (.setPrepareThreshold 1)
      (.setOptions (str "-c statement_timeout=" statement-timeout))
      (.setUser user)
      (.setPassword password))))

(defn- pooled
  ^DataSource [data-source pool-size]
  (HikariDataSource.
   (doto (HikariConfig.)
     (.setDataSource data-source)
     (.setMaximumPoolSize pool-size)
     (.setInitializationFailTimeout -1))))

(defn data-source
  "For JDBC, without a pool if its size is 0."
  [{:keys [database-url pool-size]}]
  (when database-url
    (cond-> (unpooled database-url)
      (pos? pool-size) (pooled pool-size))))

(def ^:private pipelining-limit 16) ; statements on the way, for each connection

(defn async-client
  "Of asynchronous connections that pipeline statements, on an event loop for each CPU."
  [{:keys [database-url pool-size cpus]}]
  (when database-url
    (.. (PgBuilder/client)
        (connectingTo (.. (PgConnectOptions/fromUri ^String database-url)
                          (addProperty "statement_timeout" statement-timeout)
                          (setCachePreparedStatements true)
                          (setPipeliningLimit pipelining-limit)))
        (with (doto (PoolOptions.)
                (.setMaxSize pool-size)
                (.setEventLoopSize cpus)))
        (using (Vertx/vertx (doto (VertxOptions.)
                              (.setEventLoopPoolSize cpus))))
        build)))
