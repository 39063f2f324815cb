package main

import (
	"io"
	"log/slog"
	"net/http"
)

// routes is net/http's own router, until {{framework}} takes its place. It answers 404 and 405 by itself.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plaintext", plaintext)
	return mux
}

func plaintext(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, err := io.WriteString(w, "Hello, World!"); err != nil {
		slog.Debug("client went away", "err", err)
	}
}
