(ns server.settings
  "The settings, all from the environment.")

(defn- integer
  "The number that the text of a variable is, no less than `least`."
  [env variable otherwise least]
  (let [text  (get env variable (str otherwise))
        value (parse-long text)]
    (if (and value (>= value least))
      value
      (throw (ex-info (str variable " is not a number from " least " on: " text) {})))))

(defn from-env
  [env]
  {:host         (get env "HOST" "127.0.0.1")
   :port         (integer env "PORT" 8080 1)
   :tls          (when (get env "TLS_PORT")
                   {:port      (integer env "TLS_PORT" nil 1)
                    :cert-path (get env "TLS_CERT")
                    :key-path  (get env "TLS_KEY")})
   :h2c-port     (when (get env "H2C_PORT")
                   (integer env "H2C_PORT" nil 1))
   :cpus         (integer env "CPUS" (.availableProcessors (Runtime/getRuntime)) 1)
   :pool-size    (integer env "POOL_SIZE" 16 0) ; 0: no pool
   :async?       (not= "blocking" (get env "HANDLERS"))
   :database-url (get env "DATABASE_URL")
   :upstream-url (get env "UPSTREAM_URL")
   :blob-path    (get env "BLOB_PATH")
   :static-dir   (get env "STATIC_DIR" "static")})
