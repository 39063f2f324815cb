(ns server.tls
  "The certificate and its key: PEM files, which Java reads only piece by piece."
  (:require [clojure.java.io :as io]
            [clojure.string :as string])
  (:import (java.security KeyFactory KeyStore PrivateKey)
           (java.security.cert Certificate CertificateFactory)
           (java.security.spec PKCS8EncodedKeySpec)
           (java.util Base64)))

(set! *warn-on-reflection* true)

(defn- certificates
  [path]
  (with-open [in (io/input-stream path)]
    (vec (.generateCertificates (CertificateFactory/getInstance "X.509") in))))

(defn- private-key
  ^PrivateKey [path ^String algorithm]
  (let [base64 (string/replace (slurp path) #"-----[A-Z ]+-----|\s" "")
        bytes  (.decode (Base64/getDecoder) ^String base64)]
    (.generatePrivate (KeyFactory/getInstance algorithm) (PKCS8EncodedKeySpec. bytes))))

(defn key-store
  "A key store in memory, without a password."
  ^KeyStore [{:keys [cert-path key-path]}]
  (let [chain     (certificates cert-path)
        algorithm (.. ^Certificate (first chain) getPublicKey getAlgorithm)]
    (doto (KeyStore/getInstance "PKCS12")
      (.load nil nil)
      (.setKeyEntry "server" (private-key key-path algorithm) (char-array 0)
                    (into-array Certificate chain)))))
