package main

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
)

const maxUploadSize = 16 << 20

// digestUpload hashes the body as it comes: io.Copy holds 32 KiB of it.
func digestUpload(c *gin.Context) {
	digest := sha256.New()
	body := http.MaxBytesReader(c.Writer, c.Request.Body, maxUploadSize)
	if _, err := io.Copy(digest, body); err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		c.AbortWithStatus(status)
		return
	}
	c.String(http.StatusOK, base64.StdEncoding.EncodeToString(digest.Sum(nil)))
}
