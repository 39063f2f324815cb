package main

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/gofiber/fiber/v3"
)

const maxUploadSize = 16 << 20

// digestUpload hashes the body as it comes: copyBody holds 32 KiB of it.
func digestUpload(c fiber.Ctx) error {
	digest := sha256.New()
	if c.Request().IsBodyStream() {
		if err := copyBody(c, digest, maxUploadSize); err != nil {
			return err
		}
	}
	return c.SendString(base64.StdEncoding.EncodeToString(digest.Sum(nil)))
}
