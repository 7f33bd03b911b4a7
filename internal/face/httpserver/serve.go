package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"collie/internal/tool"
)

// Limits of the HTTP server. There is none for writing, since event streams last.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 64 << 10 // bytes
	// unwindTimeout is how long handlers may take to return after their contexts have ended.
	unwindTimeout = time.Second
)

// Serve answers requests with h, behind the checks, until ctx ends or [Server.Shutdown] or [Server.Close] is
// called. It returns when the stop is complete. After ctx has ended, requests in flight may go on for
// [Options.Grace]; their contexts are not derived from ctx. Serve returns nil after a clean stop, and an
// error of kind Timeout if requests had to be cut off. It may be called once.
func (d *Server) Serve(ctx context.Context, h http.Handler) error {
	srv, err := d.start(ctx, h)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		at := watchedListener{d.listener, &d.conns}
		if d.cert != nil {
			failed <- srv.ServeTLS(at, "", "")
		} else {
			failed <- srv.Serve(at)
		}
	}()
	select {
	case <-ctx.Done():
		err := d.shutdownWithin(d.grace)
		<-failed //nolint:errcheck // it says that the server was shut down
		return err
	case err := <-failed:
		stopErr := d.shutdownWithin(d.grace) // or waits for the stop in progress
		if !errors.Is(err, http.ErrServerClosed) {
			return &tool.Error{Op: "serve", Kind: tool.Internal, Subject: d.url, Err: err}
		}
		return stopErr
	}
}

func (d *Server) start(ctx context.Context, h http.Handler) (*http.Server, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil || d.stopped != nil {
		return nil, &tool.Error{Op: "serve", Kind: tool.Internal, Subject: d.url, Message: "a server serves once"}
	}
	base, abort := context.WithCancel(context.WithoutCancel(ctx))
	d.checks.next = h
	d.abort = abort
	d.server = &http.Server{ //nolint:gosec // the connections have deadlines of their own: see conns
		Handler:                      d.checks,
		DisableGeneralOptionsHandler: true, // otherwise "OPTIONS *" would bypass the checks
		MaxHeaderBytes:               maxHeader,
		ConnState:                    d.conns.observe,
		ErrorLog:                     slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return base },
	}
	d.server.RegisterOnShutdown(func() { // once the listener is closed: a client whose stream ends comes back at once
		d.stop()
		d.conns.closeYoung()
	})
	if !d.local { // slow headers hold a processor's time too: see conns for what all listeners have
		d.server.ReadHeaderTimeout, d.server.IdleTimeout = headerTimeout, idleTimeout
	}
	if d.cert != nil {
		d.server.TLSConfig = d.cert.config()
	}
	return d.server, nil
}

func (d *Server) shutdownWithin(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return d.Shutdown(ctx)
}

// Close stops at once: it ends the contexts of all requests, and cuts off those that do not return soon. It
// may be called twice, and waits until the server is closed.
func (d *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.Shutdown(ctx); tool.KindOf(err) != tool.Timeout {
		return err
	}
	return nil
}

// Shutdown stops accepting connections, ends event streams, and lets other requests go on until ctx ends.
// Then it ends their contexts and, a second later, their connections. It returns when everything is closed,
// with an error of kind Timeout if requests were cut off. A later call waits for the first and returns the
// same; when its ctx ends, so does the grace time of the first.
func (d *Server) Shutdown(ctx context.Context) error {
	d.mu.Lock()
	first := d.stopped == nil
	graceCtx := ctx
	if first {
		d.stopped = make(chan struct{})
		graceCtx, d.endGrace = context.WithCancel(ctx)
	}
	srv, abort, endGrace := d.server, d.abort, d.endGrace
	d.mu.Unlock()
	if first {
		d.stopErr = d.stopServer(graceCtx, srv, abort)
		endGrace()
		close(d.stopped)
		return d.stopErr
	}
	select {
	case <-d.stopped:
	case <-ctx.Done():
		endGrace()
		<-d.stopped
	}
	return d.stopErr
}

// stopServer stops in this order: listener, streams, grace time, contexts, connections.
func (d *Server) stopServer(ctx context.Context, srv *http.Server, abort context.CancelFunc) error {
	defer d.stop()
	if srv == nil {
		return d.listener.Close()
	}
	defer abort()
	err := srv.Shutdown(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	abort()
	unwind, cancel := context.WithTimeout(context.WithoutCancel(ctx), unwindTimeout)
	defer cancel()
	if srv.Shutdown(unwind) != nil {
		_ = srv.Close() // the errors returned below say more
	}
	return &tool.Error{
		Op: "stop serving", Kind: tool.Timeout, Subject: d.url,
		Message: "requests were still running and have been cut off", Err: err,
	}
}
