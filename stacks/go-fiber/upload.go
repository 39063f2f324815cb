package main

import (
	"crypto/sha256"
	"encoding/base64"
	"io"

	"github.com/gofiber/fiber/v3"
)

const maxUploadSize = 16 << 20

// digestUpload hashes the body as it comes: io.Copy holds 32 KiB of it.
func digestUpload(c fiber.Ctx) error {
	digest := sha256.New()
	if c.Request().IsBodyStream() {
		length, err := io.Copy(digest, io.LimitReader(c.Request().BodyStream(), maxUploadSize+1))
		if err != nil {
			return fiber.ErrBadRequest
		}
		if length > maxUploadSize {
			return fiber.ErrRequestEntityTooLarge
		}
	} else {
		digest.Write(c.BodyRaw())
	}
	return c.SendString(base64.StdEncoding.EncodeToString(digest.Sum(nil)))
}
