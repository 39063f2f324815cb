(ns server.greetings
  "Small answers: a text, a list of people, and a greeting for the person in the body."
  (:require [server.body :as body]
            [server.response :as response]))

(defn plaintext
  [_]
  (response/text "Hello, World!"))

(defn list-people
  [_]
  (response/json [{:name "John", :username "Doe"}]))

(defn- greet
  [{who "name", username "username"}]
  (if (and (string? who) (string? username))
    (response/text (str "Hello, " who "!"))
    (response/bad-request "expected a JSON object with a name and a username")))

(defn greet-person
  [request]
  (body/with-object request greet))
