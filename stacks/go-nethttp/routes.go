package main

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

type handlers struct {
	files    staticFiles
	payloads *payloadWorker
	digest   digestHandler
	users    usersHandler
	fortunes fortunesHandler
	items    itemsHandler
	proxy    proxyHandler
	suite    techempower
}

func routes(h handlers) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plaintext", plaintext)
	mux.HandleFunc("GET /json", listPeople)
	mux.HandleFunc("POST /json", greetPerson)
	mux.Handle("GET /static/{name...}", h.files)
	mux.Handle("GET /products", gzhttp.GzipHandler(http.HandlerFunc(listProducts)))
	mux.HandleFunc("POST /upload", digestUpload)
	mux.HandleFunc("GET /payload", servePayload)
	mux.Handle("GET /ping-pong", h.payloads)
	mux.Handle("GET /bytes", h.digest)
	mux.Handle("GET /users", h.users)
	mux.Handle("GET /fortunes", h.fortunes)
	mux.HandleFunc("GET /items", h.items.list)
	mux.HandleFunc("POST /items", h.items.create)
	mux.HandleFunc("GET /items/{id}", h.items.read)
	mux.HandleFunc("PUT /items/{id}", h.items.replace)
	mux.HandleFunc("DELETE /items/{id}", h.items.delete)
	mux.Handle("GET /proxy", h.proxy)
	mux.Handle("/techempower/", h.suite.routes(h.fortunes))
	return mux
}
