package vault

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"collie/internal/vault/api"
	"collie/internal/vault/av"
	"collie/internal/vault/block"
	"collie/internal/vault/card"
	"collie/internal/vault/document"
	"collie/internal/vault/file"
	"collie/internal/vault/history"
	"collie/internal/vault/search"
	"collie/internal/vault/system"
	"collie/internal/vault/workspace"
)

// This file has the vault itself: an http.Handler over one file.

// Options say how a vault works. The zero value is for normal use.
type Options struct {
	// Log gets internal errors; nil discards.
	Log *slog.Logger
	// Workspace has the options for opening the file.
	Workspace workspace.Options
	// Fill is called once in the life of a file, when it is empty, to create a first notebook; nil leaves it empty. If
	// Fill fails, the file is still opened.
	Fill func(context.Context, http.Handler) error
}

// Vault is a vault at a path. It is safe for concurrent use.
type Vault struct {
	path string
	o    Options

	lock   chan struct{} // full while a goroutine uses the fields below
	open   *workspace.Workspace
	mux    *api.Mux
	closed bool
}

// New returns a vault over the file at path. The first request opens the file, and creates it if it is missing. The
// caller closes the vault.
func New(path string, o Options) *Vault {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Vault{path: path, o: o, lock: make(chan struct{}, 1)}
}

// Path returns the file of the vault.
func (v *Vault) Path() string { return v.path }

// families register the groups of endpoints.
var families = []func(*api.Mux){
	system.Register, document.Register, block.Register, search.Register, file.Register, av.Register, card.Register, history.Register,
}

// Endpoints returns the routes of a vault, in no order.
func Endpoints() []string {
	mux := api.New(nil, nil)
	for _, register := range families {
		register(mux)
	}
	return mux.Routes()
}

// Workspace returns the workspace in the file. The first call opens the file.
func (v *Vault) Workspace(ctx context.Context) (*workspace.Workspace, error) {
	w, _, err := v.ensureOpen(ctx)
	return w, err
}

// ensureOpen opens the file at the first call, and after a failure again at the next. Concurrent callers wait for the
// same attempt until their ctx ends.
func (v *Vault) ensureOpen(ctx context.Context) (*workspace.Workspace, *api.Mux, error) {
	select {
	case v.lock <- struct{}{}:
		defer func() { <-v.lock }()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	switch {
	case v.closed:
		return nil, nil, os.ErrClosed
	case v.open != nil:
		return v.open, v.mux, nil
	}
	if !v.o.Workspace.ReadOnly {
		if err := os.MkdirAll(filepath.Dir(v.path), 0o700); err != nil {
			return nil, nil, err
		}
	}
	w, err := workspace.Open(ctx, v.path, v.o.Workspace)
	if err != nil {
		return nil, nil, err
	}
	mux := api.New(w, v.o.Log)
	for _, register := range families {
		register(mux)
	}
	if !v.o.Workspace.ReadOnly {
		v.prepare(context.WithoutCancel(ctx), w, mux) // the first caller may give up before the others
	}
	v.open, v.mux = w, mux
	return w, mux, nil
}

// ServeHTTP answers the kernel's API.
func (v *Vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, mux, err := v.ensureOpen(r.Context())
	if err != nil {
		v.o.Log.Error("the vault could not be opened", "path", v.path, "error", err)
		api.WriteError(w, err)
		return
	}
	mux.ServeHTTP(w, r)
}

// Close closes the file once running requests are answered. Later requests get an error. It may be called twice.
func (v *Vault) Close() error {
	v.lock <- struct{}{}
	v.closed = true
	open := v.open
	<-v.lock
	if open == nil {
		return nil
	}
	return open.Close()
}
