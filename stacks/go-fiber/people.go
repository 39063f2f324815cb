package main

import "github.com/gofiber/fiber/v3"

type person struct {
	Name     string `json:"name"`
	Username string `json:"username"`
}

// greetingRequest has pointers to tell a missing (or null) text from an empty one, which is allowed.
type greetingRequest struct {
	Name     *string `json:"name" validate:"required"`
	Username *string `json:"username" validate:"required"`
}

func listPeople(c fiber.Ctx) error {
	return c.JSON([]person{{Name: "John", Username: "Doe"}})
}

func greetPerson(c fiber.Ctx) error {
	var request greetingRequest
	if err := bindJSON(c, &request); err != nil {
		return err
	}
	return c.SendString("Hello, " + *request.Name + "!")
}
