package mcpserver

import (
	"context"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

const (
	// sameClient is how long a modern client is remembered by its name. Over HTTP it has no session.
	sameClient = 10 * time.Minute
	// maxModern is how many such clients are remembered; lists of further clients do not wait.
	maxModern = 1024
)

// awaitFirstLists waits for servers that are starting for the first time, if the client has just begun to request
// lists.
func (s *Server) awaitFirstLists(ctx context.Context, p *mcp.Peer, kind tool.ListKind) {
	if s.opts.ListWait <= 0 {
		return
	}
	until := s.listsUntil(p, time.Now())
	if !time.Now().Before(until) {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	s.pipeline.AwaitKnown(ctx, kind)
}

// listsUntil returns until when a client's lists wait: ListWait after its first list; the zero time if they do not wait.
func (s *Server) listsUntil(p *mcp.Peer, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.sessions[p]; sess != nil {
		if sess.until.IsZero() {
			sess.until = now.Add(s.opts.ListWait)
		}
		return sess.until
	}
	if p.Era != mcp.Modern {
		return time.Time{}
	}
	name := client(p).Principal + "\n" + p.Session + "\n" + clientName(p)
	until, known := s.firstListsUntil[name]
	if !known || now.Sub(until) > sameClient {
		for other, t := range s.firstListsUntil {
			if now.Sub(t) > sameClient {
				delete(s.firstListsUntil, other)
			}
		}
		if len(s.firstListsUntil) >= maxModern {
			return time.Time{}
		}
		until = now.Add(s.opts.ListWait)
		s.firstListsUntil[name] = until
	}
	return until
}
