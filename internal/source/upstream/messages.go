package upstream

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// Listens reports whether the server may run; see [tool.Peer].
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
	case c == nil || !c.Alive():
		s.log.Debug("notification of a client dropped, the server does not run", "method", m.Method)
	case about == nil && c.calls.IsAnothers(m):
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
		if params, ok := c.calls.Translate(m); ok {
			return c, params
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
		s.life.wg.Go(func() { n.run(c) }) // ends when all have been sent, each within requestLimit
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
		ctx, cancel := context.WithTimeout(c.server.life.ctx, requestLimit)
		if err := c.Client.Link.Notify(ctx, next.method, next.params); err != nil {
			c.server.log.Debug("notification of a client not delivered", "method", next.method, "error", err)
		}
		cancel()
	}
}
