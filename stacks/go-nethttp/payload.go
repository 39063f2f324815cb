package main

import (
	"bytes"
	"net/http"
	"strconv"
)

const payloadSize = 1 << 20

var payload = bytes.Repeat([]byte{'d'}, payloadSize)

func servePayload(w http.ResponseWriter, _ *http.Request) {
	respondPayload(w, payload)
}

func respondPayload(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
