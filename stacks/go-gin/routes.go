package main

import (
	"embed"
	"net/http"

	"github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
)

//go:embed templates
var templates embed.FS

type handlers struct {
	files    staticFiles
	payloads *payloadWorker
	digest   digestHandler
	users    usersHandler
	fortunes fortunesHandler
	items    itemsHandler
	proxy    proxyHandler
}

func routes(h handlers) (http.Handler, error) {
	gin.SetMode(gin.ReleaseMode)
	// gin.Default would log each request.
	router := gin.New()
	router.Use(gin.Recovery(), logErrors)
	// No proxy is in front of this server, so X-Forwarded-For is not trusted.
	if err := router.SetTrustedProxies(nil); err != nil {
		return nil, err
	}
	router.LoadHTMLFS(http.FS(templates), "templates/*.html")
	router.GET("/plaintext", plaintext)
	router.GET("/json", listPeople)
	router.POST("/json", jsonOnly, greetPerson)
	router.GET("/static/*name", h.files.serve)
	router.GET("/products", gzip.Gzip(gzip.DefaultCompression), listProducts)
	router.POST("/upload", digestUpload)
	router.GET("/payload", servePayload)
	router.GET("/ping-pong", h.payloads.serve)
	router.GET("/bytes", h.digest.serve)
	router.GET("/users", h.users.list)
	router.GET("/fortunes", h.fortunes.list)
	router.GET("/items", h.items.list)
	router.POST("/items", jsonOnly, h.items.create)
	router.GET("/items/:id", h.items.read)
	router.PUT("/items/:id", jsonOnly, h.items.replace)
	router.DELETE("/items/:id", h.items.delete)
	router.GET("/proxy", h.proxy.serve)
	return router.Handler(), nil
}
