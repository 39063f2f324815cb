package main

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

const maxBodySize = 1 << 20

// jsonOnly lets only JSON of a limited size reach the handler; BindJSON does not look at the content type.
func jsonOnly(c *gin.Context) {
	if !strings.EqualFold(c.ContentType(), gin.MIMEJSON) {
		c.AbortWithStatus(http.StatusUnsupportedMediaType)
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBodySize)
}
