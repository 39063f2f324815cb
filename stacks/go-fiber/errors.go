package main

import (
	"errors"
	"log/slog"

	"github.com/gofiber/fiber/v3"
)

// respondError answers with the error's status and message. What went wrong in the server is only logged; Fiber's own
// handler would send it to the client.
func respondError(c fiber.Ctx, err error) error {
	answer := fiber.ErrInternalServerError
	errors.As(err, &answer)
	if answer.Code >= fiber.StatusInternalServerError {
		slog.Error("request failed", "path", c.Path(), "err", err)
	}
	return c.Status(answer.Code).SendString(answer.Message)
}
