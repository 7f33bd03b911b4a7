package bridge

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"collie/internal/mcp"
)

// request is a request of the client, from its arrival to its response.
type request struct {
	m       mcp.Message
	modern  bool
	ctx     context.Context //nolint:containedctx // the request's own context, which ends when the client cancels it
	cancel  context.CancelCauseFunc
	waitFor <-chan struct{} // the handshake that has to end first; nil if none

	// reply receives the response, heard the messages before it. Neither keeps raw.
	reply func(raw []byte)
	heard func(generation int, raw []byte)
	// acknowledgements counts those of a subscription: one from each gateway that has served it.
	acknowledgements atomic.Int32
}

// errTakenBack is the cause if the client cancelled the request.
var errTakenBack = errors.New("the client took the request back")

func newRequest(life context.Context, m mcp.Message) *request {
	f := &request{m: m, modern: isModern(&m)}
	f.ctx, f.cancel = context.WithCancelCause(life)
	return f
}

// isModern reports whether a request is of the modern era, by the same rule as in a gateway.
func isModern(m *mcp.Message) bool {
	return m.Method == "server/discover" || m.Params != nil && mcp.Get(m.Params, "_meta", mcp.MetaVersion) != nil
}

// isInitialize reports whether the request opens a legacy session.
func (f *request) isInitialize() bool { return !f.modern && f.m.Method == "initialize" }

// isSubscription reports whether the request is a subscription, which lasts as long as the client.
func (f *request) isSubscription() bool { return f.modern && f.m.Method == "subscriptions/listen" }

// mayRepeat reports whether the request may be sent twice: it only reads, or repeating it changes nothing more.
func (f *request) mayRepeat() bool {
	switch f.m.Method {
	case "initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel",
		"resources/subscribe", "resources/unsubscribe", "completion/complete",
		"tools/list", "prompts/list", "resources/list", "resources/templates/list":
		return true
	}
	return false
}

// isResponse reports whether raw is the response to the request.
func (f *request) isResponse(raw []byte) bool {
	if rest, ok := bytes.CutPrefix(raw, []byte(`{"jsonrpc":"2.0","id":`)); ok {
		if rest, ok = bytes.CutPrefix(rest, []byte(f.m.ID)); ok {
			if bytes.HasPrefix(rest, []byte(`,"result":`)) || bytes.HasPrefix(rest, []byte(`,"error":`)) {
				return true
			}
		}
	}
	if bytes.HasPrefix(raw, []byte(`{"jsonrpc":"2.0","method":`)) {
		return false
	}
	m, err := mcp.Parse(raw)
	return err == nil && m.IsResponse() && (m.ID == f.m.ID || m.Error != nil && (m.ID == "" || m.ID == "null"))
}
