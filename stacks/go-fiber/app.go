package main

import (
	"embed"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v3"
	recoverer "github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/gofiber/template/html/v2"
)

const (
	maxBodySize = 1 << 20
	readTimeout = 10 * time.Second
	idleTimeout = 2 * time.Minute
)

//go:embed views
var views embed.FS

type handlers struct {
	payloads payloadWorker
	digest   digestHandler
	users    usersHandler
	fortunes fortunesHandler
	items    itemsHandler
	proxy    proxyHandler
}

func newApp(h handlers) *fiber.App {
	app := fiber.New(fiber.Config{
		BodyLimit:       maxBodySize,
		ReadTimeout:     readTimeout,
		IdleTimeout:     idleTimeout,
		ErrorHandler:    respondError,
		StructValidator: newStructValidator(),
		Views:           html.NewFileSystem(http.FS(views), ".html"),
	})
	// Without it, a handler that panics ends the process.
	app.Use(recoverer.New(recoverer.Config{EnableStackTrace: true}))
	app.Get("/plaintext", plaintext)
	app.Get("/json", listPeople)
	app.Post("/json", greetPerson)
	app.Get("/payload", sendPayload)
	app.Get("/ping-pong", h.payloads.handle)
	app.Get("/bytes", h.digest.handle)
	app.Get("/users", h.users.list)
	app.Get("/fortunes", h.fortunes.list)
	app.Get("/items", h.items.list)
	app.Post("/items", h.items.create)
	app.Get("/items/:id", h.items.read)
	app.Put("/items/:id", h.items.replace)
	app.Delete("/items/:id", h.items.delete)
	app.Get("/proxy", h.proxy.handle)
	return app
}
