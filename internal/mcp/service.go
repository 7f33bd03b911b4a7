package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
)

// This file defines what a program provides to serve MCP clients, and what it learns of them.

// A Service answers requests of MCP clients. The server side of this package handles both eras and all
// transports; a Service sees only requests. Implementations are safe for concurrent use.
type Service interface {
	// Hello returns the server's description, for initialize and server/discover.
	Hello(ctx context.Context, p *Peer) Hello
	// Handle answers one request of any method except initialize, ping and server/discover. A result for a
	// modern client needs its resultType. A [RawError] reaches the client unchanged, any other error as an
	// internal error.
	Handle(ctx context.Context, r *Incoming) (json.RawMessage, error)
	// Notified receives notifications of the client that this package does not handle itself.
	Notified(p *Peer, m Message)
	// Opened and Closed mark the life of a legacy session. Opened comes with notifications/initialized or the
	// first request, whichever is first.
	Opened(p *Peer)
	Closed(p *Peer)
}

// Hello is a server's description of itself. Info and Capabilities are JSON objects.
type Hello struct {
	Info         json.RawMessage
	Capabilities json.RawMessage
	Instructions string
}

// Peer is a client: a legacy session, or the sender of one modern request.
type Peer struct {
	// Session is the id of a legacy session or of a stream; empty for modern HTTP, where a Peer is the sender
	// of one request.
	Session string
	Era     Era
	Version string
	// Info and Capabilities are JSON objects as the client sent them; Capabilities is never nil.
	Info, Capabilities json.RawMessage
	// Key is what the transport knows about the caller; see [HTTPServerOptions.Identify].
	Key any

	notify notifier // nil for a modern peer over HTTP
	ask    askFunc  // nil if the client can be asked only in the course of its own requests
	opened sync.Once
}

// Notify sends a notification outside of any request. It does not block. A client that cannot be reached now
// gets it when it connects its stream. If too much waits for a client that does not read, log messages and
// unknown notifications are left out, and the client is told how many. A notification that a list has changed
// is not queued twice.
func (p *Peer) Notify(method string, params json.RawMessage) {
	if p.notify != nil {
		p.notify(AppendNotification(nil, method, params), kindOf(method))
	}
}

// notifier sends a notification to a client without blocking for long.
type notifier func(raw []byte, k kind)

// askFunc sends a request to a client and waits for the answer.
type askFunc func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

// Ask sends the client a request outside of its own requests and waits for the result. That works only for a
// legacy session, over HTTP only while it reads its stream; otherwise the error is [errNoAsking]. An error
// that the client answers with is an [*RPCError].
func (p *Peer) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if p.ask == nil || p.Version == "" {
		return nil, errNoAsking
	}
	return p.ask(ctx, method, params)
}

// Can reports whether the client declared a capability, given by its path.
func (p *Peer) Can(path ...string) bool {
	v := Get(p.Capabilities, path...)
	return v != nil && string(v) != "false" && string(v) != "null"
}

// Incoming is one request from a client.
type Incoming struct {
	Message
	Peer *Peer
	// Header holds the HTTP header fields of the request; nil on other transports.
	Header http.Header
	// Cancel ends the context that Handle was called with. It is nil if the request has no context of its
	// own.
	Cancel context.CancelCauseFunc

	out outlet
}

// outlet sends messages to the client while its request runs.
type outlet interface {
	// send sends a notification before the response. It does not block for long.
	send(raw []byte, k kind)
	// ask sends a request to the client and waits for the answer.
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// isConnected reports whether the client still reads what is sent.
	isConnected() bool
}

// Notify sends a notification that belongs to this request.
func (r *Incoming) Notify(method string, params json.RawMessage) {
	r.out.send(AppendNotification(nil, method, params), kindOf(method))
}

// Ask sends the client a request that belongs to this one and waits for its result. A modern client is asked
// by an input_required result, and its retry brings the answer. An error that the client answers with is an
// [*RPCError].
func (r *Incoming) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return r.out.ask(ctx, method, params)
}

// Heard reports whether the client still reads messages of this request. Over HTTP it may have closed the
// connection without resuming.
func (r *Incoming) Heard() bool { return r.out.isConnected() }

// errNoAsking says that the client cannot be asked over this transport.
var errNoAsking = errors.New("the client cannot be asked")

// WithFields returns obj, a JSON object, with fields inserted at its front. obj must not have members of
// those names.
func WithFields(obj json.RawMessage, fields ...Field) json.RawMessage {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return obj
	}
	i++
	size := len(obj) + 1
	for _, f := range fields {
		size += len(f.Key) + len(f.Value) + 4
	}
	out := append(make([]byte, 0, size), '{')
	for n, f := range fields {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, f.Key), ':')
		out = append(out, f.Value...)
	}
	if j := skipSpace(obj, i); len(fields) > 0 && j < len(obj) && obj[j] != '}' {
		out = append(out, ',')
	}
	return append(out, obj[i:]...)
}

// peerMeta reads the metadata about the sender of a modern request.
func peerMeta(params json.RawMessage) (version string, info, caps json.RawMessage) {
	meta := Get(params, "_meta")
	return GetString(meta, MetaVersion), Get(meta, MetaClientInfo), Get(meta, MetaCapabilities)
}

// isModernRequest reports whether a request carries the metadata of the modern era.
func isModernRequest(m *Message) bool {
	return m.Params != nil && Get(m.Params, "_meta", MetaVersion) != nil
}

// checkModern refuses a malformed modern request (2026-07-28, basic: _meta).
func checkModern(m *Message) (*Peer, error) {
	version, info, caps := peerMeta(m.Params)
	switch {
	case version == "":
		return nil, &Error{Code: CodeInvalidParams, Message: `params._meta needs "` + MetaVersion + `", a version such as "` + ModernVersions[0] + `"`}
	case version != ModernVersions[0]:
		data, err := json.Marshal(map[string]any{"supported": ModernVersions, "requested": version})
		if err != nil {
			return nil, err
		}
		return nil, &Error{Code: codeVersion, Message: "unsupported protocol version", Data: data}
	case !isObject(caps):
		return nil, &Error{Code: CodeInvalidParams, Message: `params._meta needs "` + MetaCapabilities + `", an object`}
	}
	return &Peer{Era: Modern, Version: version, Info: info, Capabilities: caps}, nil
}

// *Error is a [RawError].
var _ RawError = (*Error)(nil)

// discoverResult returns the result of server/discover.
func discoverResult(h Hello) json.RawMessage {
	fields := []Field{
		{"resultType", json.RawMessage(`"complete"`)},
		{"supportedVersions", marshalStrings(append(append([]string{}, ModernVersions...), legacyVersions...))},
		{"capabilities", h.Capabilities},
		{"_meta", Edit(nil, Field{metaServerInfo, h.Info})},
	}
	if h.Instructions != "" {
		fields = append(fields, Field{"instructions", Quote(h.Instructions)})
	}
	fields = append(fields, Field{"ttlMs", json.RawMessage("0")}, Field{"cacheScope", json.RawMessage(`"private"`)})
	return Edit(nil, fields...)
}

// initializeResult returns the result of initialize.
func initializeResult(version string, h Hello) json.RawMessage {
	fields := []Field{
		{"protocolVersion", Quote(version)},
		{"capabilities", h.Capabilities},
		{"serverInfo", h.Info},
	}
	if h.Instructions != "" {
		fields = append(fields, Field{"instructions", Quote(h.Instructions)})
	}
	return Edit(nil, fields...)
}

func marshalStrings(list []string) json.RawMessage {
	raw, err := json.Marshal(list)
	if err != nil {
		panic("mcp: strings do not encode: " + err.Error())
	}
	return raw
}
