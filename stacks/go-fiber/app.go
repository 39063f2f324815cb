package main

import (
	"embed"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/compress"
	recoverer "github.com/gofiber/fiber/v3/middleware/recover"
	"github.com/gofiber/fiber/v3/middleware/static"
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
	files    staticFiles
	payloads payloadWorker
	digest   digestHandler
	users    usersHandler
	fortunes fortunesHandler
	items    itemsHandler
	proxy    proxyHandler
}

func newApp(h handlers) *fiber.App {
	app := fiber.New(fiber.Config{
		// Every body comes as a stream, also that of a form: BodyLimit would not limit it.
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  readTimeout,
		IdleTimeout:                  idleTimeout,
		ErrorHandler:                 respondError,
		StructValidator:              newStructValidator(),
		Views:                        html.NewFileSystem(http.FS(views), ".html"),
	})
	// Without it, a handler that panics ends the process.
	app.Use(recoverer.New(recoverer.Config{EnableStackTrace: true}))
	app.Post("/upload", digestUpload)
	app.Use(readBody)
	app.Get("/plaintext", plaintext)
	app.Get("/json", listPeople)
	app.Post("/json", greetPerson)
	// Without a cache of open files, so that one that is replaced shows.
	files := static.Config{ByteRange: true, CacheDuration: -1}
	app.Get("/static/*", h.files.tag, static.New(h.files.dir, files))
	app.Get("/products", compress.New(), listProducts)
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
