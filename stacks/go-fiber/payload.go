package main

import (
	"bytes"

	"github.com/gofiber/fiber/v3"
)

const payloadSize = 1 << 20

var payload = bytes.Repeat([]byte{'d'}, payloadSize)

func sendPayload(c fiber.Ctx) error {
	return sendBytes(c, payload)
}

func sendBytes(c fiber.Ctx, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.Send(body)
}
