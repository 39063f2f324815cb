package main

import (
	"log/slog"

	"github.com/gin-gonic/gin"
)

// logErrors logs what went wrong in the server. Binding errors are the client's, and only answered.
func logErrors(c *gin.Context) {
	c.Next()
	for _, failure := range c.Errors.ByType(gin.ErrorTypePrivate) {
		slog.Error("request failed", "route", c.FullPath(), "err", failure.Err)
	}
}
