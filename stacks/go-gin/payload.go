package main

import (
	"bytes"
	"net/http"

	"github.com/gin-gonic/gin"
)

const payloadSize = 1 << 20

var payload = bytes.Repeat([]byte{'d'}, payloadSize)

func servePayload(c *gin.Context) {
	respondPayload(c, payload)
}

func respondPayload(c *gin.Context, body []byte) {
	c.Data(http.StatusOK, "application/octet-stream", body)
}
