package main

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

const maxBodySize = 1 << 20

// readJSON decodes the request's body into target, or answers why it cannot.
func readJSON(w http.ResponseWriter, r *http.Request, target any) bool {
	if !hasJSON(r) {
		http.Error(w, http.StatusText(http.StatusUnsupportedMediaType), http.StatusUnsupportedMediaType)
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, http.StatusText(status), status)
		return false
	}
	if err := json.Unmarshal(body, target); err != nil {
		http.Error(w, "not the JSON that is expected", http.StatusBadRequest)
		return false
	}
	return true
}

func hasJSON(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}
