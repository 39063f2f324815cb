package main

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"strconv"
)

type settings struct {
	addr        string
	tls         *tlsSettings // nil without TLS_PORT
	databaseURL string
	poolSize    int32
	upstreamURL string
	blobPath    string
	staticDir   string
}

type tlsSettings struct {
	addr     string
	certFile string
	keyFile  string
}

func settingsFromEnv() (settings, error) {
	poolSize, err := strconv.ParseInt(cmp.Or(os.Getenv("POOL_SIZE"), "16"), 10, 32)
	if err != nil || poolSize < 1 {
		return settings{}, fmt.Errorf("POOL_SIZE is not a positive number: %q", os.Getenv("POOL_SIZE"))
	}
	host := cmp.Or(os.Getenv("HOST"), "127.0.0.1")
	fromEnv := settings{
		addr:        net.JoinHostPort(host, cmp.Or(os.Getenv("PORT"), "8080")),
		databaseURL: os.Getenv("DATABASE_URL"),
		poolSize:    int32(poolSize),
		upstreamURL: os.Getenv("UPSTREAM_URL"),
		blobPath:    os.Getenv("BLOB_PATH"),
		staticDir:   os.Getenv("STATIC_DIR"),
	}
	if port := os.Getenv("TLS_PORT"); port != "" {
		fromEnv.tls = &tlsSettings{
			addr:     net.JoinHostPort(host, port),
			certFile: os.Getenv("TLS_CERT"),
			keyFile:  os.Getenv("TLS_KEY"),
		}
	}
	return fromEnv, nil
}
