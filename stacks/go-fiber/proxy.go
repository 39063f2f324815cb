package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/client"
	"github.com/valyala/fasthttp"
)

const (
	upstreamTimeout     = 10 * time.Second
	upstreamIdleTimeout = 90 * time.Second
	maxUpstreams        = 4096
)

type proxyHandler struct {
	client *client.Client
	url    string
}

// newUpstreamClient never retries a request, and keeps many connections for long. By default, fasthttp tries five
// times, opens 512 connections and closes those that were idle for ten seconds.
func newUpstreamClient() *client.Client {
	return client.NewWithClient(&fasthttp.Client{
		MaxConnsPerHost:           maxUpstreams,
		MaxIdleConnDuration:       upstreamIdleTimeout,
		MaxIdemponentCallAttempts: 1,
		ReadTimeout:               upstreamTimeout,
		WriteTimeout:              upstreamTimeout,
	})
}

func (h proxyHandler) handle(c fiber.Ctx) error {
	response, err := h.client.Get(h.url)
	if err != nil {
		return fmt.Errorf("%w: %w", fiber.ErrBadGateway, err)
	}
	defer response.Close()
	if response.StatusCode() != fiber.StatusOK {
		return fmt.Errorf("%w: the upstream answered %d", fiber.ErrBadGateway, response.StatusCode())
	}
	c.Set(fiber.HeaderContentType, cmp.Or(response.Header(fiber.HeaderContentType), fiber.MIMETextPlain))
	// Write copies the body, and Send would not: Close gives its buffer to the next response.
	_, err = c.Write(response.Body())
	return err
}
