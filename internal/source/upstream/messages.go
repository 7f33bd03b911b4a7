package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"collie/internal/mcp"
	"collie/internal/tool"
)

var _ tool.Messenger = (*Server)(nil)

// Listens reports whether the server may run; see [tool.Messenger].
func (s *Server) Listens() bool { return s.usable() == nil }

// Owns reports whether a message names a call, or a question of the server's, that its sender has
// under way here.
func (s *Server) Owns(m *tool.Message) bool {
	c, _ := s.addressee(m)
	return c != nil
}

// Tell passes a client's notification on: over the connection that it is about, else over the one
// that the client's calls take, if it stands.
func (s *Server) Tell(m *tool.Message) {
	if m.Method == methodRootsChanged {
		s.tellRoots(m.Session)
		return
	}
	about, params := s.addressee(m)
	c := about
	if c == nil {
		p := s.pool.lock()
		c, params = p.at(p.slotOf(slot{session: m.Session})), m.Params
		s.pool.unlock()
	}
	switch {
	case c == nil || !c.alive():
		s.log.Debug("notification of a client dropped, the server does not run", "method", m.Method)
	case about == nil && c.isAnothers(m):
		s.log.Debug("notification of a client dropped, it names a request that is not the client's", "method", m.Method)
	default:
		c.notes.send(c, m.Method, params)
	}
}

// addressee is the connection that a message is about, and its parameters as the server knows what
// they name. Nil is none.
func (s *Server) addressee(m *tool.Message) (*conn, json.RawMessage) {
	if c, params := s.questions.find(m); c != nil {
		return c, params
	}
	for _, c := range s.live() {
		if params, ok := c.translate(m); ok {
			return c, params
		}
	}
	return nil, nil
}

// translate replaces the id or the progress token of a request that the sender of m has in flight
// over this connection, as m names it, by the one that the server knows. It is false where m names
// none.
func (c *conn) translate(m *tool.Message) (json.RawMessage, bool) {
	id, token := mcp.Get(m.Params, "requestId"), mcp.Get(m.Params, "progressToken")
	var meta, metaToken json.RawMessage
	if !m.Request { // of a request it is its own
		meta = mcp.Get(m.Params, "_meta")
		metaToken = mcp.Get(meta, "progressToken")
	}
	if m.Session == "" || id == nil && token == nil && metaToken == nil { // without one ids are everybody's
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.calls {
		if f.call.Session != m.Session || f.call.Principal != m.Principal {
			continue
		}
		ours := mcp.Quote(strconv.FormatUint(f.seq, 10))
		switch {
		case id != nil && string(id) == f.call.RequestID && f.wire.Load() != 0:
			return mcp.Edit(m.Params, mcp.Field{Key: "requestId", Value: strconv.AppendUint(nil, f.wire.Load(), 10)}), true
		case f.token == nil:
		case bytes.Equal(token, f.token):
			return mcp.Edit(m.Params, mcp.Field{Key: "progressToken", Value: ours}), true
		case bytes.Equal(metaToken, f.token):
			return mcp.Edit(m.Params, mcp.Field{Key: "_meta", Value: mcp.Edit(meta, mcp.Field{Key: "progressToken", Value: ours})}), true
		}
	}
	return nil, false
}

// isAnothers reports whether a message, as it came, names a request that is in flight over this
// connection as the server knows it. Nobody on the client's side knows those names: it would be taken
// for a message about whatever call has that number now.
func (c *conn) isAnothers(m *tool.Message) bool {
	id, token := number(mcp.Get(m.Params, "requestId")), number(mcp.Get(m.Params, "progressToken"))
	var metaToken uint64
	if !m.Request {
		metaToken = number(mcp.Get(m.Params, "_meta", "progressToken"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.calls {
		if id != 0 && f.wire.Load() == id || f.token != nil && (f.seq == token || f.seq == metaToken) {
			return true
		}
	}
	return false
}

// number is the id that a server may take raw for, a number or a text; 0 for none.
func number(raw json.RawMessage) uint64 {
	text, ok := mcp.Text(raw)
	if !ok {
		text = string(raw)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 1 || n > 1<<53 {
		return 0
	}
	return uint64(n)
}

// named finds the call that a message of the server's names by the id or the progress token of the
// request, and returns the parameters as the caller knows it. Nil is none.
func (c *conn) named(params json.RawMessage) (*flight, json.RawMessage) {
	if token := mcp.Get(params, "progressToken"); token != nil {
		if f := c.byToken(token); f != nil && f.token != nil {
			return f, mcp.Edit(params, mcp.Field{Key: "progressToken", Value: f.token})
		}
	}
	id, err := strconv.ParseUint(string(mcp.Get(params, "requestId")), 10, 64)
	if err != nil {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.calls {
		if f.wire.Load() == id && f.call.RequestID != "" {
			return f, mcp.Edit(params, mcp.Field{Key: "requestId", Value: json.RawMessage(f.call.RequestID)})
		}
	}
	return nil, nil
}

// questions are those that a server has put to clients with a progress token. Servers choose tokens
// by themselves, so each gets one of ours on the way.
type questions struct {
	prefix string // of the tokens: no two servers have the same

	mu   sync.Mutex
	last uint64
	open map[string]question // by the token that the client knows, as JSON
}

type question struct {
	conn    *conn
	session string
	token   json.RawMessage
}

// note keeps the progress token of a question, if it has one, until forget is called, and returns
// the parameters as the client gets them.
func (q *questions) note(c *conn, session string, params json.RawMessage) (_ json.RawMessage, forget func()) {
	meta := mcp.Get(params, "_meta")
	token := mcp.Get(meta, "progressToken")
	if token == nil {
		return params, func() {}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last++
	ours := mcp.Quote(q.prefix + strconv.FormatUint(q.last, 10))
	if q.open == nil {
		q.open = map[string]question{}
	}
	q.open[string(ours)] = question{c, session, token}
	meta = mcp.Edit(meta, mcp.Field{Key: "progressToken", Value: ours})
	return mcp.Edit(params, mcp.Field{Key: "_meta", Value: meta}), func() {
		q.mu.Lock()
		delete(q.open, string(ours))
		q.mu.Unlock()
	}
}

// find returns the connection of the question that m tells the progress of, and the parameters as
// the server knows it; nil if there is none.
func (q *questions) find(m *tool.Message) (*conn, json.RawMessage) {
	token := mcp.Get(m.Params, "progressToken")
	if token == nil || m.Request {
		return nil, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	one, ok := q.open[string(token)]
	if !ok || one.session != m.Session {
		return nil, nil
	}
	return one.conn, mcp.Edit(m.Params, mcp.Field{Key: "progressToken", Value: one.token})
}

// maxNotes bounds the notifications that wait for a server; what comes beyond is dropped.
const maxNotes = 256

// notes sends notifications to a server in their order, for those who do not wait.
type notes struct {
	mu    sync.Mutex
	queue []note
	busy  bool
}

type note struct {
	method string
	params json.RawMessage
}

// send takes a notification for c, which owns n.
func (n *notes) send(c *conn, method string, params json.RawMessage) {
	s := c.server
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) >= maxNotes {
		s.log.Debug("notification of a client dropped, too many wait", "method", method)
		return
	}
	n.queue = append(n.queue, note{method, params})
	if n.busy {
		return
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	if n.busy = !p.closed; n.busy {
		s.life.wg.Go(func() { n.run(c) }) // ends when all have been sent, each within settleTime
	}
}

func (n *notes) run(c *conn) {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.busy = false
			n.mu.Unlock()
			return
		}
		next := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		ctx, cancel := context.WithTimeout(c.server.life.ctx, settleTime)
		if err := c.client.Link.Notify(ctx, next.method, next.params); err != nil {
			c.server.log.Debug("notification of a client not delivered", "method", next.method, "error", err)
		}
		cancel()
	}
}
