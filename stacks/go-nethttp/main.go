// Command server is the net/http stack.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
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
		Handler: routes(handlers{
			files:    staticFiles{dir: settings.staticDir},
			payloads: payloads,
			digest:   digestHandler{blobPath: settings.blobPath},
			users:    usersHandler{pool: pool},
			fortunes: fortunesHandler{pool: pool},
			items:    itemsHandler{pool: pool},
			proxy:    proxyHandler{client: newUpstreamClient(), url: settings.upstreamURL},
			suite:    techempower{pool: pool, cached: &cache[[]world]{fill: loadWorlds(pool)}},
		}),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
	}
	return serve(ctx, server, settings)
}

// serve answers on every address until ctx is done, then lets requests in flight finish for a short while.
func serve(ctx context.Context, server *http.Server, settings settings) error {
	failed := make(chan error, 3)
	listen := func(addr string, answer func(net.Listener) error) {
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			failed <- err
			return
		}
		go func() { failed <- answer(listener) }()
	}
	if settings.h2cAddr != "" {
		server.Protocols = new(http.Protocols)
		server.Protocols.SetHTTP1(true)
		server.Protocols.SetHTTP2(true)
		server.Protocols.SetUnencryptedHTTP2(true)
		listen(settings.h2cAddr, server.Serve)
	}
	if tls := settings.tls; tls != nil {
		listen(tls.addr, func(l net.Listener) error { return server.ServeTLS(l, tls.certFile, tls.keyFile) })
	}
	listen(settings.addr, server.Serve)

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
