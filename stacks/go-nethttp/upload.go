package main

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
)

const maxUploadSize = 16 << 20

// digestUpload hashes the body as it comes: io.Copy holds 32 KiB of it.
func digestUpload(w http.ResponseWriter, r *http.Request) {
	digest := sha256.New()
	if _, err := io.Copy(digest, http.MaxBytesReader(w, r.Body, maxUploadSize)); err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, http.StatusText(status), status)
		return
	}
	respondText(w, base64.StdEncoding.EncodeToString(digest.Sum(nil)))
}
