(ns server.items
  "Items in PostgreSQL: read, listed, created, replaced and deleted, through JDBC or an asynchronous
  driver.

  An action makes of a request a response or, if it is good, a query: a statement, its parameters,
  and the function that makes a response of the items that the statement returns."
  (:require [clojure.java.jdbc :as jdbc]
            [clojure.string :as string]
            [server.body :as body]
            [server.query :as query]
            [server.response :as response])
  (:import (io.vertx.core Handler)
           (io.vertx.sqlclient Row SqlClient Tuple)
           (java.util List)
           (java.util.function Function)))

(set! *warn-on-reflection* true)

;; Parameters are numbered in the order of their use.
(def ^:private find-item "select id, name, price from items where id = $1")
(def ^:private list-items "select id, name, price from items where id > $1 order by id limit $2")
(def ^:private create-item
  "insert into items (name, price) values ($1, $2) returning id, name, price")
(def ^:private replace-item
  "update items set name = $1, price = $2 where id = $3 returning id, name, price")
(def ^:private delete-item "delete from items where id = $1 returning id, name, price")

(def ^:private max-name-length 100)
(def ^:private max-price 1000000)
(def ^:private page-size 20)
(def ^:private max-page-size 100)

;; What a client sends

(defn- number
  "The number from `least` to `most` that the text is, or nil."
  [text least most]
  (when-let [value (parse-long text)]
    (when (<= least value most)
      value)))

(defn- parameter
  [request parameter-name otherwise least most]
  (if-let [text (query/parameter request parameter-name)]
    (number text least most)
    otherwise))

(defn- item-data
  "The name and the price in a body, or nil. The database chooses the id."
  [{title "name", price "price"}]
  (when (and (string? title) (<= 1 (count title) max-name-length)
             (int? price) (<= 0 price max-price))
    [title price]))

(defn- with-id
  [{:keys [path-params]} action]
  (if-let [id (number (:id path-params) 1 Integer/MAX_VALUE)]
    (action id)
    (response/not-found)))

(defn- with-data
  [request action]
  (body/with-object request
    (fn [object]
      (if-let [data (item-data object)]
        (action data)
        (response/bad-request
         "expected a name of 1 to 100 characters and a price from 0 to 1000000")))))

;; Actions

(defn- one
  [[item]]
  (if item
    (response/json item)
    (response/not-found)))

(defn- find-action
  [request]
  (with-id request
    (fn [id]
      {:statement find-item, :parameters [id], :answer one})))

(defn- list-action
  [request]
  (let [after (parameter request "after" 0 0 Integer/MAX_VALUE)
        limit (parameter request "limit" page-size 1 max-page-size)]
    (if (and after limit)
      {:statement list-items, :parameters [after limit], :answer response/json}
      (response/bad-request "after must be a number, and limit one from 1 to 100"))))

(defn- create-action
  [request]
  (with-data request
    (fn [data]
      {:statement  create-item
       :parameters data
       :answer     (fn [[{:keys [id] :as item}]]
                     (response/created (str "/items/" id) item))})))

(defn- replace-action
  [request]
  (with-id request
    (fn [id]
      (with-data request
        (fn [data]
          {:statement replace-item, :parameters (conj data id), :answer one})))))

(defn- delete-action
  [request]
  (with-id request
    (fn [id]
      {:statement  delete-item
       :parameters [id]
       :answer     (fn [[item]]
                     (if item
                       (response/no-content)
                       (response/not-found)))})))

(def ^:private actions
  {:find    find-action
   :list    list-action
   :create  create-action
   :replace replace-action
   :delete  delete-action})

;; Handlers

(def ^:private jdbc-statement
  "The statement with JDBC's placeholders."
  (memoize #(string/replace % #"\$\d" "?")))

(defn handlers
  "Ask a javax.sql.DataSource, and wait for it."
  [data-source]
  (update-vals
   actions
   (fn [action]
     (if data-source
       (fn [request]
         (let [{:keys [statement parameters answer] :as outcome} (action request)]
           (if statement
             (answer (jdbc/query {:datasource data-source}
                                 (into [(jdbc-statement statement)] parameters)))
             outcome)))
       (constantly (response/unavailable))))))

(defn- item
  [^Row row]
  {:id (.getInteger row "id"), :name (.getString row "name"), :price (.getInteger row "price")})

(defn async-handlers
  "Ask a client of Vert.x."
  [^SqlClient client]
  (update-vals
   actions
   (fn [action]
     (if client
       (fn [request respond raise]
         (let [{:keys [^String statement parameters answer] :as outcome} (action request)]
           (if statement
             (.. client
                 (preparedQuery statement)
                 (execute (Tuple/from ^List parameters))
                 (map (reify Function
                        (apply [_ rows] (answer (mapv item rows)))))
                 (onComplete (reify Handler
                               (handle [_ response] (respond response)))
                             (reify Handler
                               (handle [_ error] (raise error)))))
             (respond outcome))))
       (fn [_ respond _]
         (respond (response/unavailable)))))))
