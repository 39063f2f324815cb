package main

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

const maxBodySize = 1 << 20

type person struct {
	Name     string `json:"name"`
	Username string `json:"username"`
}

// greetingRequest has pointers to tell a missing (or null) text from an empty one, which is allowed.
type greetingRequest struct {
	Name     *string `json:"name" binding:"required"`
	Username *string `json:"username" binding:"required"`
}

func listPeople(c *gin.Context) {
	c.JSON(http.StatusOK, []person{{Name: "John", Username: "Doe"}})
}

func greetPerson(c *gin.Context) {
	// BindJSON does not look at the content type.
	if !strings.EqualFold(c.ContentType(), gin.MIMEJSON) {
		c.AbortWithStatus(http.StatusUnsupportedMediaType)
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBodySize)
	var request greetingRequest
	if c.BindJSON(&request) != nil {
		return // It has answered 400, or 413 if the body is too large.
	}
	c.String(http.StatusOK, "Hello, %s!", *request.Name)
}
