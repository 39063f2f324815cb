package main

import (
	"encoding/json"
	"errors"
	"io"
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
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodySize))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, http.StatusText(status), status)
		return
	}
	// A pointer tells a missing (or null) name from an empty one.
	var request struct {
		Name *string `json:"name"`
	}
	if err := json.Unmarshal(body, &request); err != nil || request.Name == nil {
		http.Error(w, "expected a JSON object with a name", http.StatusBadRequest)
		return
	}
	respondText(w, "Hello, "+*request.Name+"!")
}
