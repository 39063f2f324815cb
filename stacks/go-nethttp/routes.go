package main

import "net/http"

type handlers struct {
	payloads *payloadWorker
	digest   digestHandler
	users    usersHandler
	fortunes fortunesHandler
	proxy    proxyHandler
}

func routes(h handlers) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plaintext", plaintext)
	mux.HandleFunc("GET /json", listPeople)
	mux.HandleFunc("POST /json", greetPerson)
	mux.HandleFunc("GET /payload", servePayload)
	mux.Handle("GET /ping-pong", h.payloads)
	mux.Handle("GET /bytes", h.digest)
	mux.Handle("GET /users", h.users)
	mux.Handle("GET /fortunes", h.fortunes)
	mux.Handle("GET /proxy", h.proxy)
	return mux
}
