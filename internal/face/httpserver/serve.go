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

// This file runs the HTTP server: its time limits, and the order in which it stops.

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
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	srv, err := s.start(ctx, h)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		at := watchedListener{s.listener, &s.conns}
		if s.cert != nil {
			failed <- srv.ServeTLS(at, "", "")
		} else {
			failed <- srv.Serve(at)
		}
	}()
	select {
	case <-ctx.Done():
		err := s.shutdownWithin(s.grace)
		<-failed //nolint:errcheck // it says that the server was shut down
		return err
	case err := <-failed:
		stopErr := s.shutdownWithin(s.grace) // or waits for the stop in progress
		if !errors.Is(err, http.ErrServerClosed) {
			return &tool.Error{Op: "serve", Kind: tool.Internal, Subject: s.url, Err: err}
		}
		return stopErr
	}
}

func (s *Server) start(ctx context.Context, h http.Handler) (*http.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil || s.stopped != nil {
		return nil, &tool.Error{Op: "serve", Kind: tool.Internal, Subject: s.url, Message: "a server serves once"}
	}
	base, abort := context.WithCancel(context.WithoutCancel(ctx))
	s.checks.next = h
	s.abort = abort
	s.server = &http.Server{ //nolint:gosec // the connections have deadlines of their own: see conns
		Handler:                      s.checks,
		DisableGeneralOptionsHandler: true, // otherwise "OPTIONS *" would bypass the checks
		MaxHeaderBytes:               maxHeader,
		ConnState:                    s.conns.observe,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext:                  func(net.Listener) context.Context { return base },
	}
	s.server.RegisterOnShutdown(func() { // runs once the listener is closed, because a client whose stream ends reconnects at once
		s.stop()
		s.conns.closeUnused()
	})
	if !s.local { // other machines may send headers slowly, which conns does not notice
		s.server.ReadHeaderTimeout, s.server.IdleTimeout = headerTimeout, idleTimeout
	}
	if s.cert != nil {
		s.server.TLSConfig = s.cert.config()
	}
	return s.server, nil
}

func (s *Server) shutdownWithin(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return s.Shutdown(ctx)
}

// Close stops at once: it ends the contexts of all requests, and cuts off those that do not return soon. It
// may be called twice, and waits until the server is closed.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); tool.KindOf(err) != tool.Timeout {
		return err
	}
	return nil
}

// Shutdown stops accepting connections, ends event streams, and lets other requests go on until ctx ends.
// Then it ends their contexts and, a second later, their connections. It returns when everything is closed,
// with an error of kind Timeout if requests were cut off. A later call waits for the first and returns the
// same; when its ctx ends, so does the grace time of the first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	first := s.stopped == nil
	graceCtx := ctx
	if first {
		s.stopped = make(chan struct{})
		graceCtx, s.endGrace = context.WithCancel(ctx)
	}
	srv, abort, endGrace := s.server, s.abort, s.endGrace
	s.mu.Unlock()
	if first {
		s.stopErr = s.stopServer(graceCtx, srv, abort)
		endGrace()
		close(s.stopped)
		return s.stopErr
	}
	select {
	case <-s.stopped:
	case <-ctx.Done():
		endGrace()
		<-s.stopped
	}
	return s.stopErr
}

// stopServer stops in this order: listener, streams, grace time, contexts, connections.
func (s *Server) stopServer(ctx context.Context, srv *http.Server, abort context.CancelFunc) error {
	defer s.stop()
	if srv == nil {
		return s.listener.Close()
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
		Op: "stop serving", Kind: tool.Timeout, Subject: s.url,
		Message: "requests were still running and have been cut off", Err: err,
	}
}
