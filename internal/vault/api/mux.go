package api

import (
	"log/slog"

	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// Handler answers one call. It reads parameters through the methods of [Request], finds what the call is about through
// tx, and answers with [OK], [Done], [Fail], [Notice] or [File], or from further down with [End].
type Handler func(tx *workspace.Tx, req Request) Reply

// Operation carries out one step of /api/transactions. raw is the step as sent. What it changes in op is echoed; false
// undoes the whole transaction.
type Operation func(tx *workspace.Tx, op *DoOperation, raw gjson.Result) bool

// Mux answers the kernel's API over a workspace. It is safe for concurrent use once all routes are added.
type Mux struct {
	workspace  *workspace.Workspace
	log        *slog.Logger
	routes     map[string]route
	operations map[string]Operation
}

type route struct {
	handler Handler
	access  access
}

// access is what kind of transaction a route runs in.
type access int

const (
	readAccess access = iota
	writeAccess
	readFirst
)

// New makes a Mux without routes. A nil log discards.
func New(w *workspace.Workspace, log *slog.Logger) *Mux {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Mux{workspace: w, log: log, routes: map[string]route{}, operations: map[string]Operation{}}
}

// Read adds the handler of the POST requests to path, which changes nothing.
func (m *Mux) Read(path string, h Handler) { m.add(path, route{h, readAccess}) }

// Write adds the handler of the POST requests to path, which may change the workspace.
func (m *Mux) Write(path string, h Handler) { m.add(path, route{h, writeAccess}) }

// ReadFirst adds a handler of POST requests to path, for calls most of which change nothing. The handler runs first
// like that of Read. If it calls [NeedWrite], it runs again from the start like that of Write. So what it does before
// NeedWrite must be safe to do twice.
func (m *Mux) ReadFirst(path string, h Handler) { m.add(path, route{h, readFirst}) }

// NeedWrite is for the handler of a route added with [Mux.ReadFirst], which calls it before it changes anything. False
// means that this run counts for nothing: the call is run again, as a write.
func NeedWrite(tx *workspace.Tx) bool {
	if !tx.Writes() {
		tx.Abandon(errNeedsWrite)
	}
	return tx.Writes()
}

// add keeps a route. Two for one path are a mistake of the families.
func (m *Mux) add(path string, r route) {
	if _, exists := m.routes[path]; exists {
		panic("vault: two handlers for " + path)
	}
	m.routes[path] = r
}

// Operation adds an action of /api/transactions. Unknown actions are echoed and do nothing.
func (m *Mux) Operation(action string, do Operation) {
	if m.operations[action] != nil {
		panic("vault: two operations " + action)
	}
	m.operations[action] = do
}

// WhenErased has do called in each write that removes blocks with custom attributes, at its end.
func (m *Mux) WhenErased(do func(tx *workspace.Tx, erased map[string]map[string]string)) {
	if m.workspace != nil {
		m.workspace.WhenErased(do)
	}
}

// Operations returns the table of what Operation added, for the handler of /api/transactions.
func (m *Mux) Operations() map[string]Operation { return m.operations }

// Routes returns the paths that are answered, in no order.
func (m *Mux) Routes() []string {
	paths := make([]string, 0, len(m.routes))
	for path := range m.routes {
		paths = append(paths, path)
	}
	return paths
}
