package main

import "github.com/gofiber/fiber/v3"

func plaintext(c fiber.Ctx) error {
	return c.SendString("Hello, World!")
}
