// Command server is the net/http stack.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	shutdownGrace     = 700 * time.Millisecond
)

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

	payloads := newPayloadWorker()
	defer payloads.stop()

	server := &http.Server{
		Addr: settings.addr,
		Handler: routes(handlers{
			payloads: payloads,
			digest:   digestHandler{blobPath: settings.blobPath},
			users:    usersHandler{pool: pool},
			proxy:    proxyHandler{client: newUpstreamClient(), url: settings.upstreamURL},
		}),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
	}
	return serve(ctx, server)
}

// serve answers until ctx is done, then lets requests in flight finish for a short while.
func serve(ctx context.Context, server *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}
