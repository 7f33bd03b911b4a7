package upstream

import (
	"context"
	"reflect"
	"slices"
	"time"

	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
)

// This file applies changed settings to servers, without a restart where possible.

// Apply makes specs the new configuration. New servers are added, missing ones stop, and servers whose identity
// changed are replaced; a server whose other settings changed goes on undisturbed. Apply returns once the new list is
// in place, while old servers stop in the background. changed reports whether the list of sources differs from
// before.
func (s *Set) Apply(specs []Spec) (changed bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	old := s.servers
	next := make([]*Server, 0, len(specs))
	var fresh, removed, woken []*Server // woken: kept, and to be started, since they are to run always
	for _, spec := range specs {
		i := slices.IndexFunc(old, func(srv *Server) bool { return srv.name == spec.Entry.Name })
		waits := i >= 0 && (!old[i].runsOn() || old[i].hasFailed() && !reflect.DeepEqual(*old[i].settings(), spec.Entry))
		if i >= 0 && old[i].reconfigure(spec) {
			next = append(next, old[i])
			if waits && old[i].runsOn() && old[i].checkUsable() == nil {
				woken = append(woken, old[i])
			}
			continue
		}
		if i >= 0 {
			old[i].muted.Store(true) // it has a successor, whose state is the one to report
		}
		srv := newServer(s, spec)
		if i >= 0 {
			srv.takeOver(old[i])
		}
		next, fresh = append(next, srv), append(fresh, srv)
	}
	for _, srv := range old {
		if !slices.Contains(next, srv) {
			removed = append(removed, srv)
		}
	}
	changed = !slices.Equal(old, next)
	s.servers = next
	level, begun := s.level, s.hasBegun // level is the MCP log level that clients want
	s.stopping.Add(len(removed))
	s.mu.Unlock()
	for _, srv := range removed {
		go func() { // ends with the server, which Close waits for
			defer s.stopping.Done()
			srv.close(context.WithoutCancel(s.life), s.opts.Drain)
		}()
	}
	s.publishConfigured(next)
	for _, srv := range fresh {
		srv.wants.setLevel(level)
		var starts bool
		var endLease func()
		if begun {
			starts, endLease = srv.shouldStartNow(srv.recallFirst(false), true, true)
			starts = starts || srv.wants.hasSubscriptions()
		}
		if !starts || srv.listing.Lists() != nil {
			srv.first.endAllWaits() // nobody needs to wait for a first start
		}
		if starts {
			go srv.startFirst(endLease) // Close waits for the start
		}
	}
	for _, srv := range woken {
		go srv.startFirst(nil) // Close waits for the start
	}
	return changed
}

// hasFailed reports whether the last start or connection failed, so that the server waits for its next start.
func (s *Server) hasFailed() bool {
	state := s.supervisor.Condition().State
	return state == tool.StateBackoff || state == tool.StateOpen || state == tool.StateFailed
}

// takeOver takes over from the server that s replaces: its subscriptions, which a server that cannot be used keeps for its
// own successor, and, with the policy ServeOldOnChange, its lists.
func (s *Server) takeOver(old *Server) {
	for _, uri := range old.wants.now().uris {
		s.wants.addURI(uri)
	}
	if s.set.opts.Policy.ServeOldOnChange && s.checkUsable() == nil {
		s.listing.Succeed(old.listing)
	}
}

// successor returns the server that has replaced s, for a call that found s in the list before the settings changed
// and failed with err. If there is none, or if the caller gave up, it returns the error for the call.
func (s *Server) successor(ctx context.Context, err error) (*Server, error) {
	if ctx.Err() != nil || !s.replaced.Load() {
		return nil, s.startError(err)
	}
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	i := slices.IndexFunc(s.set.servers, func(srv *Server) bool { return srv.name == s.name })
	switch {
	case s.set.closed || i >= 0 && s.set.servers[i] == s:
		return nil, s.startError(err)
	case i < 0:
		return nil, &tool.Error{
			Op: "call", Kind: tool.Removed, Subject: s.name, Message: "the server has been taken out of the settings",
			Hint: "list the tools again",
		}
	}
	return s.set.servers[i], nil
}

// runInPlace runs a call that was made for the server that s has replaced. It refuses the call if the action's
// definition has changed, since checks and approvals were made on the old one.
func (s *Server) runInPlace(ctx context.Context, call *tool.Call) (tool.Result, error) {
	if call.Kind == tool.KindCall && call.Action != nil {
		if _, err := s.Current(ctx, call); err != nil {
			return tool.Result{}, err
		}
		now, err := s.offeredAction(call)
		if err != nil {
			return tool.Result{}, err
		}
		if !reflect.DeepEqual(now, call.Action) {
			return tool.Result{}, &tool.Error{
				Op: "call", Kind: tool.Unavailable, Subject: call.Name, Message: "the settings of the server changed during the call, and its tool with them",
				Hint: "list the tools again, then call once more",
			}
		}
	}
	return s.Run(ctx, call)
}

// reconfigure applies new settings without a restart. It returns false, and changes nothing, if they make it a
// different server, switch it on or off, or change what was announced to it at its start.
func (s *Server) reconfigure(spec Spec) bool {
	old, e := s.settings(), spec.Entry
	wrong := spec.invalidReason()
	if s.offReason != spec.Off || s.invalidReason != wrong || old.Disabled != e.Disabled {
		return false
	}
	if s.hash == "" && (old.Command != e.Command || old.URL != e.URL) {
		return false
	}
	key := s.set.opts.Key
	// s.hash may be a portable one, which ignores folders, but a process runs in one. So compare the full hashes.
	if s.hash != "" && (old.ConfigHash(key) != e.ConfigHash(key) || old.Isolation != e.Isolation) {
		return false
	}
	p := s.pool.lock()
	connected := len(p.conns()) > 0
	if (connected || len(p.opening) > 0) && (old.Sampling != e.Sampling || old.Elicitation != e.Elicitation) {
		s.pool.unlock()
		return false // a connection announces them at its start
	}
	changed := !reflect.DeepEqual(*old, e)
	s.conf.Store(&e)
	s.supervisor.Tell(func(m *supervise.Machine, now time.Time) {
		m.Reconfigured(now, connected)
		if changed && !connected {
			m.Forgive(now) // what has failed may work now, with a longer startTimeout for example
		}
	})
	s.pool.unlock()
	s.listing.Republish()
	return true
}
