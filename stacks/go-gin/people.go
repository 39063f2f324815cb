package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

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
	var request greetingRequest
	if c.BindJSON(&request) != nil {
		return // It has answered 400, or 413 if the body is too large.
	}
	c.String(http.StatusOK, "Hello, %s!", *request.Name)
}
