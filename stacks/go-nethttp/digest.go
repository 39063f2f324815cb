package main

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"os"
	"strconv"
)

const maxRounds = 1_000_000

type digestHandler struct {
	blobPath string
}

func (h digestHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rounds, err := strconv.ParseUint(r.URL.Query().Get("rounds"), 10, 32)
	if err != nil || rounds < 1 || rounds > maxRounds {
		http.Error(w, "rounds must be a number from 1 to 1000000", http.StatusBadRequest)
		return
	}
	blob, err := os.ReadFile(h.blobPath)
	if err != nil {
		respondInternalError(w, "read the blob", err)
		return
	}
	digest := sha256.Sum256(blob)
	for range rounds - 1 {
		digest = sha256.Sum256(digest[:])
	}
	respondText(w, base64.StdEncoding.EncodeToString(digest[:]))
}
