// Command server is the Fiber stack.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"
)

const shutdownGrace = 700 * time.Millisecond

func main() {
	if err := run(); err != nil {
		slog.Error("server stopped", "err", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	settings, err := settingsFromEnv()
	if err != nil {
		return err
	}
	// The pool connects on first use, so the server starts without a database.
	pool, err := newPool(ctx, settings)
	if err != nil {
		return err
	}
	defer pool.Close()

	app := newApp(handlers{
		files:    staticFiles{dir: settings.staticDir},
		payloads: startPayloadWorker(),
		digest:   digestHandler{blobPath: settings.blobPath},
		users:    usersHandler{pool: pool},
		fortunes: fortunesHandler{pool: pool},
		items:    itemsHandler{pool: pool},
		proxy:    proxyHandler{client: newUpstreamClient(), url: settings.upstreamURL},
	})
	return serve(ctx, app, settings)
}

// serve answers on every address until ctx is done, then lets requests in flight finish for a short while.
func serve(ctx context.Context, app *fiber.App, settings settings) error {
	failed := make(chan error, 2)
	listen := func(addr string, config fiber.ListenConfig) {
		config.DisableStartupMessage = true
		go func() { failed <- app.Listen(addr, config) }()
	}
	listen(settings.addr, fiber.ListenConfig{})
	if tls := settings.tls; tls != nil {
		listen(tls.addr, fiber.ListenConfig{CertFile: tls.certFile, CertKeyFile: tls.keyFile})
	}

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	err := app.ShutdownWithTimeout(shutdownGrace)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // The connections that are still open end with the process.
	}
	return err
}
