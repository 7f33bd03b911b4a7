package mcpserver

import (
	"context"
	"time"

	"collie/internal/mcp"
	"collie/internal/tool"
)

const (
	// sameClient is how long a modern client that goes by one name counts as the same: it has no
	// session that could say so.
	sameClient = 10 * time.Minute
	// maxModern bounds how many of them are remembered; the lists of more do not wait.
	maxModern = 1024
)

// awaitFirst waits for servers that are starting for the first time, if the client has just begun
// to list.
func (s *Server) awaitFirst(ctx context.Context, p *mcp.Peer, kind tool.ListKind) {
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

// listsUntil is when a client's lists stop waiting: ListWait after the first.
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
	until, known := s.newcomers[name]
	if !known || now.Sub(until) > sameClient {
		for other, t := range s.newcomers {
			if now.Sub(t) > sameClient {
				delete(s.newcomers, other)
			}
		}
		if len(s.newcomers) >= maxModern {
			return time.Time{}
		}
		until = now.Add(s.opts.ListWait)
		s.newcomers[name] = until
	}
	return until
}
