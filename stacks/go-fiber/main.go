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
		payloads: startPayloadWorker(),
		digest:   digestHandler{blobPath: settings.blobPath},
		users:    usersHandler{pool: pool},
		proxy:    proxyHandler{client: newUpstreamClient(), url: settings.upstreamURL},
	})
	return serve(ctx, app, settings.addr)
}

// serve answers until ctx is done, then lets requests in flight finish for a short while.
func serve(ctx context.Context, app *fiber.App, addr string) error {
	failed := make(chan error, 1)
	go func() { failed <- app.Listen(addr, fiber.ListenConfig{DisableStartupMessage: true}) }()

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
