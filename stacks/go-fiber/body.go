package main

import "github.com/gofiber/fiber/v3"

// bindJSON decodes and validates JSON. Bind().Body would accept forms and XML, too, and Bind().JSON any content type.
func bindJSON(c fiber.Ctx, out any) error {
	if !c.Is("json") {
		return fiber.ErrUnsupportedMediaType
	}
	return c.Bind().WithAutoHandling().JSON(out)
}
