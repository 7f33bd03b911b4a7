package api

import (
	"log/slog"

	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// This file registers the handlers of routes and operations, and says in which transaction each runs.

// Handler handles one call. It reads parameters with the methods of [Request], works on tx, and returns [OK], [Done],
// [Fail], [Notice] or [File]. Functions that it calls may end the call with [End].
type Handler func(tx *workspace.Tx, req Request) Reply

// Operation executes one operation of /api/transactions. raw is the operation in the request. Changes to op appear in
// the answer. If it returns false, the whole transaction is undone.
type Operation func(tx *workspace.Tx, op *DoOperation, raw gjson.Result) bool

// Mux serves the kernel's API for a workspace. It is safe for concurrent use once all routes are added.
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

// access is the kind of transaction that a route runs in.
type access int

const (
	readAccess access = iota
	writeAccess
	readFirst
)

// New returns a Mux without routes. w is nil for a Mux that only lists its routes. A nil log discards.
func New(w *workspace.Workspace, log *slog.Logger) *Mux {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Mux{workspace: w, log: log, routes: map[string]route{}, operations: map[string]Operation{}}
}

// Read adds a handler for POST requests to path that change nothing.
func (m *Mux) Read(path string, h Handler) { m.add(path, route{h, readAccess}) }

// Write adds a handler for POST requests to path that may change the workspace.
func (m *Mux) Write(path string, h Handler) { m.add(path, route{h, writeAccess}) }

// ReadFirst adds a handler for POST requests to path, most of which change nothing. The handler first runs like one of
// Read. If it calls [NeedWrite], it runs again from the start, like one of Write. So everything that it does before
// NeedWrite must be safe to do twice.
func (m *Mux) ReadFirst(path string, h Handler) { m.add(path, route{h, readFirst}) }

// NeedWrite must be called by the handler of a route added with [Mux.ReadFirst] before it changes anything. If it
// returns false, the answer of this run is discarded, and the call runs again as a write.
func NeedWrite(tx *workspace.Tx) bool {
	if !tx.Writes() {
		tx.Abandon(errNeedsWrite)
	}
	return tx.Writes()
}

// add adds a route. It panics if the path has one already, which is a mistake in the packages of endpoints.
func (m *Mux) add(path string, r route) {
	if _, exists := m.routes[path]; exists {
		panic("vault: two handlers for " + path)
	}
	m.routes[path] = r
}

// Operation adds an operation of /api/transactions. Unknown actions are echoed and do nothing. It panics if the action
// exists already.
func (m *Mux) Operation(action string, do Operation) {
	if m.operations[action] != nil {
		panic("vault: two operations " + action)
	}
	m.operations[action] = do
}

// OnErased sets a function that runs at the end of each write that erases blocks with custom attributes; see
// [workspace.Workspace.OnErased].
func (m *Mux) OnErased(do func(tx *workspace.Tx, erased map[string]map[string]string)) {
	if m.workspace != nil {
		m.workspace.OnErased(do)
	}
}

// Operations returns all operations by action, for the handler of /api/transactions.
func (m *Mux) Operations() map[string]Operation { return m.operations }

// Routes returns the paths of all routes, in no order.
func (m *Mux) Routes() []string {
	paths := make([]string, 0, len(m.routes))
	for path := range m.routes {
		paths = append(paths, path)
	}
	return paths
}
