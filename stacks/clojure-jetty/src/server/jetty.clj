(ns server.jetty
  "Jetty 12 for handlers that are functions, synchronous or asynchronous.

  Requests and responses are maps with the keys that Ring's specification gives them:
  https://github.com/ring-clojure/ring/blob/master/SPEC.md"
  (:require [clojure.string :as string]
            [clojure.tools.logging :as log]
            [server.tls :as tls])
  (:import (java.io InputStream)
           (java.nio ByteBuffer)
           (java.nio.charset StandardCharsets)
           (org.eclipse.jetty.alpn.server ALPNServerConnectionFactory)
           (org.eclipse.jetty.http HttpException HttpField HttpFields HttpFields$Mutable)
           (org.eclipse.jetty.http2.server HTTP2CServerConnectionFactory
                                           HTTP2ServerConnectionFactory)
           (org.eclipse.jetty.io Content Content$Sink Content$Source)
           (org.eclipse.jetty.server ConnectionFactory Handler$Abstract HttpConfiguration
                                     HttpConnectionFactory Request Response Server
                                     ServerConnector SslConnectionFactory)
           (org.eclipse.jetty.util Callback)
           (org.eclipse.jetty.util.ssl SslContextFactory$Server)
           (org.eclipse.jetty.util.thread QueuedThreadPool)))

(set! *warn-on-reflection* true)

(def ^:private acceptors 1)
(def ^:private backlog 4096)
(def ^:private idle-timeout-ms 120000)
(def ^:private grace-ms 700)

;; Requests

(defn- header-map
  "Names in lower case; fields of the same name are joined."
  [^HttpFields fields]
  (persistent!
   (reduce (fn [headers ^HttpField field]
             (let [field-name (.getLowerCaseName field)
                   value      (.getValue field)
                   separator  (if (= field-name "cookie") "; " ",")]
               (assoc! headers field-name
                       (if-let [before (get headers field-name)]
                         (str before separator value)
                         value))))
           (transient {})
           fields)))

(defn- request-map
  [^Request request]
  (let [uri (.getHttpURI request)]
    {:server-port    (Request/getServerPort request)
     :server-name    (Request/getServerName request)
     :remote-addr    (Request/getRemoteAddr request)
     :uri            (.getPath uri)
     :query-string   (.getQuery uri)
     :scheme         (keyword (.getScheme uri))
     :request-method (keyword (string/lower-case (.getMethod request)))
     :protocol       (.. request getConnectionMetaData getProtocol)
     :headers        (header-map (.getHeaders request))
     :body           (Content$Source/asInputStream request)}))

;; Responses

(defprotocol ResponseBody
  (send-body [body response callback]
    "Writes the body to Jetty's response, and completes the callback when it has been written."))

(defn- send-buffer
  [^ByteBuffer buffer ^Response response ^Callback callback]
  (.write response true buffer callback))

(extend-protocol ResponseBody
  (class (byte-array 0))
  (send-body [body response callback]
    (send-buffer (ByteBuffer/wrap body) response callback))

  String
  (send-body [^String body response callback]
    (send-buffer (ByteBuffer/wrap (.getBytes body StandardCharsets/UTF_8)) response callback))

  InputStream
  (send-body [body response callback]
    (Content/copy (Content$Source/from body) ^Content$Sink response ^Callback callback))

  nil
  (send-body [_ response callback]
    (send-buffer nil response callback)))

(defn- put-headers
  [^HttpFields$Mutable fields headers]
  (doseq [[^String field-name value] headers]
    (if (string? value)
      (.put fields field-name ^String value)
      (.put fields field-name ^java.util.List value))))

(defn- send-response
  [{:keys [status headers body]} ^Response response callback]
  (.setStatus response status)
  (put-headers (.getHeaders response) headers)
  (send-body body response callback))

(defn- error-status
  "What Jetty says of a request that the client broke, such as 400 for a malformed chunk; or 500."
  [error]
  (if (instance? HttpException error)
    (.getCode ^HttpException error)
    500))

(defn- send-error
  [^Throwable error ^Request request ^Response response ^Callback callback]
  (let [status (int (error-status error))]
    (when (>= status 500)
      (log/error error "a request failed"))
    (Response/writeError request response callback status)))

;; Handlers

(defn- call-blocking
  [handler ^Request request ^Response response ^Callback callback]
  (send-response (handler (request-map request)) response callback))

(defn- call-async
  [handler ^Request request ^Response response ^Callback callback]
  (let [raise   #(send-error % request response callback)
        respond #(try
                   (send-response % response callback)
                   (catch Throwable error
                     (raise error)))]
    (handler (request-map request) respond raise)))

(defn- jetty-handler
  [handler async?]
  (let [call (if async? call-async call-blocking)]
    (proxy [Handler$Abstract] []
      (handle [request response callback]
        (try
          (call handler request response callback)
          (catch Throwable error
            (send-error error request response callback)))
        true))))

;; Server

(defn- connector
  [^Server server {:keys [host cpus]} port protocols]
  (doto (ServerConnector. server
                          nil nil nil ; executor, scheduler and buffers: the server's
                          acceptors cpus
                          (into-array ConnectionFactory protocols))
    (.setHost host)
    (.setPort port)
    (.setAcceptQueueSize backlog)
    (.setIdleTimeout idle-timeout-ms)))

(defn- http-config
  []
  (doto (HttpConfiguration.)
    (.setSendServerVersion false)))

(defn- http-connector
  [server {:keys [port] :as options}]
  (connector server options port [(HttpConnectionFactory. (http-config))]))

(defn- h2c-connector
  "HTTP/2 without TLS, for clients that know that the server speaks it."
  [server {:keys [h2c-port] :as options}]
  (connector server options h2c-port [(HTTP2CServerConnectionFactory. (http-config))]))

(defn- tls-connector
  "HTTP/2 or HTTP/1.1, whichever the client chooses in the handshake."
  [server {:keys [tls] :as options}]
  (let [context (doto (SslContextFactory$Server.)
                  (.setKeyStore (tls/key-store tls))
                  (.setKeyStorePassword ""))
        alpn    (ALPNServerConnectionFactory. ^"[Ljava.lang.String;" (make-array String 0))
        http1   (HttpConnectionFactory. (http-config))
        http2   (HTTP2ServerConnectionFactory. (http-config))]
    (.setDefaultProtocol alpn (.getProtocol http1))
    (connector server options (:port tls)
               [(SslConnectionFactory. context (.getProtocol alpn)) alpn http2 http1])))

(defn start
  "Starts a server that lets open requests finish for a short while after SIGTERM.

  Options: `:host`, `:port`, `:cpus` (one selector of each connector for each), `:threads` (how
  many there may be, Jetty's own included), and `:async?` (whether the handler is called with the
  three arguments of an asynchronous one) are required. `:tls` (its port, certificate and key) and
  `:h2c-port` may be nil."
  [handler {:keys [tls h2c-port threads async?] :as options}]
  (let [server (Server. (QueuedThreadPool. (int threads)))]
    (when tls
      (.addConnector server (tls-connector server options)))
    (when h2c-port
      (.addConnector server (h2c-connector server options)))
    (doto server
      (.addConnector (http-connector server options))
      (.setHandler ^Handler$Abstract (jetty-handler handler async?))
      (.setStopTimeout grace-ms)
      (.setStopAtShutdown true)
      (.start))))
