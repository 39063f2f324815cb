package main

import "github.com/gofiber/fiber/v3"

type person struct {
	Name     string `json:"name"`
	Username string `json:"username"`
}

// greetingRequest has pointers to tell a missing (or null) text from an empty one, which is allowed.
type greetingRequest struct {
	Name     *string `json:"name"`
	Username *string `json:"username"`
}

func listPeople(c fiber.Ctx) error {
	return c.JSON([]person{{Name: "John", Username: "Doe"}})
}

func greetPerson(c fiber.Ctx) error {
	// Bind().Body would accept forms and XML, too, and Bind().JSON any content type.
	if !c.Is("json") {
		return fiber.ErrUnsupportedMediaType
	}
	var request greetingRequest
	if err := c.Bind().WithAutoHandling().JSON(&request); err != nil {
		return err
	}
	if request.Name == nil || request.Username == nil {
		return fiber.NewError(fiber.StatusBadRequest, "expected a name and a username")
	}
	return c.SendString("Hello, " + *request.Name + "!")
}
