package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func plaintext(c *gin.Context) {
	c.String(http.StatusOK, "Hello, World!")
}
