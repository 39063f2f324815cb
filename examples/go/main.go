// A small service: it listens at $HOST and $PORT, as Deadheat asks for.
package main

import (
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("content-type", "application/json")
		json.NewEncoder(response).Encode(map[string]string{"message": "Hello", "path": request.URL.Path})
	})
	log.Fatal(http.ListenAndServe(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), nil))
}
