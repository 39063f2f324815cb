package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofiber/fiber/v3"
)

// staticFiles makes ETags of a file's time and length. Fiber's own are checksums, and missing in an answer with 304.
type staticFiles struct {
	dir string
}

func (h staticFiles) tag(c fiber.Ctx) error {
	name := filepath.FromSlash(c.Params("*"))
	if !filepath.IsLocal(name) {
		return fiber.ErrNotFound
	}
	info, err := os.Stat(filepath.Join(h.dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return fiber.ErrNotFound
	}
	etag := fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size())
	c.Set(fiber.HeaderETag, etag)
	if c.Get(fiber.HeaderIfNoneMatch) != "" {
		// The tag alone decides (RFC 9110, section 13.2.2).
		c.Request().Header.Del(fiber.HeaderIfModifiedSince)
		if c.Fresh() {
			return c.SendStatus(fiber.StatusNotModified)
		}
	}
	// fasthttp would send a part of a file that the client has another version of.
	if version := c.Get(fiber.HeaderIfRange); version != "" && version != etag {
		c.Request().Header.Del(fiber.HeaderRange)
	}
	if err := c.Next(); err != nil {
		return err
	}
	// An answer of 304 by the date has lost it.
	c.Set(fiber.HeaderETag, etag)
	return nil
}
