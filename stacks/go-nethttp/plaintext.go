package main

import "net/http"

func plaintext(w http.ResponseWriter, _ *http.Request) {
	respondText(w, "Hello, World!")
}
