package main

import (
	"bytes"
	"io"

	"github.com/gofiber/fiber/v3"
)

// readBody reads the whole body before the next handler runs. Only handlers that are registered before it get a stream.
func readBody(c fiber.Ctx) error {
	if !c.Request().IsBodyStream() {
		return c.Next()
	}
	var body bytes.Buffer
	if err := copyBody(c, &body, maxBodySize); err != nil {
		return err
	}
	c.Request().SetBodyRaw(body.Bytes())
	return c.Next()
}

// copyBody writes the streamed body to out. If it cannot read all of it, the connection closes after the answer:
// fasthttp would take the rest of the body for the next request.
func copyBody(c fiber.Ctx, out io.Writer, limit int64) error {
	length, err := io.Copy(out, io.LimitReader(c.Request().BodyStream(), limit+1))
	switch {
	case err != nil:
		c.RequestCtx().SetConnectionClose()
		return fiber.ErrBadRequest
	case length > limit:
		c.RequestCtx().SetConnectionClose()
		return fiber.ErrRequestEntityTooLarge
	}
	return nil
}
