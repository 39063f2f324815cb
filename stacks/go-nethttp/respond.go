package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
)

func respondText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, text)
}

func respondJSON(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		respondInternalError(w, "encode the answer", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func respondInternalError(w http.ResponseWriter, attempt string, err error) {
	slog.Error("request failed", "attempt", attempt, "err", err)
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}
