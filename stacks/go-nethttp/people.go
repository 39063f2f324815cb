package main

import "net/http"

type person struct {
	Name     string `json:"name"`
	Username string `json:"username"`
}

func listPeople(w http.ResponseWriter, _ *http.Request) {
	respondJSON(w, http.StatusOK, []person{{Name: "John", Username: "Doe"}})
}

func greetPerson(w http.ResponseWriter, r *http.Request) {
	// Pointers tell a missing (or null) text from an empty one.
	var request struct {
		Name     *string `json:"name"`
		Username *string `json:"username"`
	}
	if !readJSON(w, r, &request) {
		return
	}
	if request.Name == nil || request.Username == nil {
		http.Error(w, "expected a JSON object with a name and a username", http.StatusBadRequest)
		return
	}
	respondText(w, "Hello, "+*request.Name+"!")
}
