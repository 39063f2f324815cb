package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"

	"github.com/gofiber/fiber/v3"
)

const maxRounds = 1_000_000

type digestHandler struct {
	blobPath string
}

func (h digestHandler) handle(c fiber.Ctx) error {
	// The default stands for what is missing or no number, and is refused like a 0 from the client.
	rounds := fiber.Query[uint32](c, "rounds", 0)
	if rounds < 1 || rounds > maxRounds {
		return fiber.NewError(fiber.StatusBadRequest, "rounds must be a number from 1 to 1000000")
	}
	blob, err := os.ReadFile(h.blobPath)
	if err != nil {
		return fmt.Errorf("read the blob: %w", err)
	}
	digest := sha256.Sum256(blob)
	for range rounds - 1 {
		digest = sha256.Sum256(digest[:])
	}
	return c.SendString(base64.StdEncoding.EncodeToString(digest[:]))
}
