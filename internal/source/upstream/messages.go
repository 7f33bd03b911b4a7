package upstream

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// This file passes messages of clients on to the server that they concern.

// Listens reports whether clients' messages can reach the server: it is usable, running or not. See [tool.Peer].
func (s *Server) Listens() bool { return s.checkUsable() == nil }

// Owns reports whether a message refers to a call that its sender has in flight here, or to a question of this server
// that it is answering.
func (s *Server) Owns(m *tool.Message) bool {
	c, _ := s.addressee(m)
	return c != nil
}

// Tell forwards a client's notification: on the connection that it refers to, else on the one that the client's calls
// use, if that is open.
func (s *Server) Tell(m *tool.Message) {
	if m.Method == methodRootsChanged {
		s.tellRoots(m.Session)
		return
	}
	about, params := s.addressee(m)
	c := about
	if c == nil {
		p := s.pool.lock()
		c, params = p.at(p.connKey(slot{session: m.Session})), m.Params
		s.pool.unlock()
	}
	switch {
	case c == nil || !c.Alive():
		s.log.Debug("notification of a client dropped, the server does not run", "method", m.Method)
	case about == nil && c.calls.IsAnothers(m):
		s.log.Debug("notification of a client dropped, it names a request that is not the client's", "method", m.Method)
	default:
		c.outgoing.send(c, m.Method, params)
	}
}

// addressee returns the connection that a message refers to, and the message's parameters with the ids that the
// server knows. The connection is nil if there is none.
func (s *Server) addressee(m *tool.Message) (*conn, json.RawMessage) {
	if c, params := s.questions.find(m); c != nil {
		return c, params
	}
	for _, c := range s.liveConns() {
		if params, ok := c.calls.Translate(m); ok {
			return c, params
		}
	}
	return nil, nil
}

// pendingQuestions are the pending questions to clients that carry a progress token. Tokens of different servers may be
// equal, so each is replaced by one of ours.
type pendingQuestions struct {
	prefix string // of our tokens, different for each server

	mu   sync.Mutex
	last uint64
	open map[string]pendingQuestion // by our token, as JSON
}

type pendingQuestion struct {
	conn    *conn
	session string
	token   json.RawMessage
}

// swapToken replaces the progress token of a question, if it has one, and returns the parameters for the client. The
// token is remembered until forget is called.
func (q *pendingQuestions) swapToken(c *conn, session string, params json.RawMessage) (_ json.RawMessage, forget func()) {
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
		q.open = map[string]pendingQuestion{}
	}
	q.open[string(ours)] = pendingQuestion{c, session, token}
	meta = mcp.Edit(meta, mcp.Field{Key: "progressToken", Value: ours})
	return mcp.Edit(params, mcp.Field{Key: "_meta", Value: meta}), func() {
		q.mu.Lock()
		delete(q.open, string(ours))
		q.mu.Unlock()
	}
}

// find returns the connection of the question whose progress m reports, and the parameters with the server's own
// token; nil if there is none.
func (q *pendingQuestions) find(m *tool.Message) (*conn, json.RawMessage) {
	token := mcp.Get(m.Params, "progressToken")
	if token == nil || m.Request {
		return nil, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	question, ok := q.open[string(token)]
	if !ok || question.session != m.Session {
		return nil, nil
	}
	return question.conn, mcp.Edit(m.Params, mcp.Field{Key: "progressToken", Value: question.token})
}

// maxNotes bounds the notifications that wait for a server. Further ones are dropped.
const maxNotes = 256

// notificationQueue sends notifications to a server in order, in the background.
type notificationQueue struct {
	mu    sync.Mutex
	queue []queuedNotification
	busy  bool
}

type queuedNotification struct {
	method string
	params json.RawMessage
}

// send queues a notification for c, the connection to which n belongs.
func (n *notificationQueue) send(c *conn, method string, params json.RawMessage) {
	s := c.server
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) >= maxNotes {
		s.log.Debug("notification of a client dropped, too many wait", "method", method)
		return
	}
	n.queue = append(n.queue, queuedNotification{method, params})
	if n.busy {
		return
	}
	p := s.pool.lock()
	defer s.pool.unlock()
	if n.busy = !p.closed; n.busy {
		s.life.wg.Go(func() { n.run(c) }) // ends when all have been sent, each within requestLimit
	}
}

func (n *notificationQueue) run(c *conn) {
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
