package main

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

const maxBodySize = 1 << 20

type person struct {
	Name     string `json:"name"`
	Username string `json:"username"`
}

func listPeople(w http.ResponseWriter, _ *http.Request) {
	respondJSON(w, []person{{Name: "John", Username: "Doe"}})
}

func greetPerson(w http.ResponseWriter, r *http.Request) {
	if !hasJSON(r) {
		http.Error(w, http.StatusText(http.StatusUnsupportedMediaType), http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, http.StatusText(status), status)
		return
	}
	// Pointers tell a missing (or null) text from an empty one.
	var request struct {
		Name     *string `json:"name"`
		Username *string `json:"username"`
	}
	if err := json.Unmarshal(body, &request); err != nil || request.Name == nil || request.Username == nil {
		http.Error(w, "expected a JSON object with a name and a username", http.StatusBadRequest)
		return
	}
	respondText(w, "Hello, "+*request.Name+"!")
}

func hasJSON(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}
