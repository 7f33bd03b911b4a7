package upstream

import (
	"context"
	"slices"

	"collie/internal/tool"
)

// Apply makes specs the configuration: servers that are new are added, those that are gone
// stop, those that have become other ones are replaced, and those that are only treated in
// another way go on undisturbed (R-CF-5). It returns when the change is made; what stops does
// so in the background. It reports whether the list of sources is another one.
func (s *Set) Apply(specs []Spec) (changed bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	old := s.servers
	next := make([]*Server, 0, len(specs))
	var fresh, gone []*Server
	for _, spec := range specs {
		i := slices.IndexFunc(old, func(srv *Server) bool { return srv.name == spec.Entry.Name })
		if i >= 0 && old[i].reconfigure(spec) {
			next = append(next, old[i])
			continue
		}
		srv := newServer(s, spec)
		if i >= 0 && s.opts.Policy.ServeOldOnChange && srv.usable() == nil {
			if k := old[i].known.Load(); k != nil {
				srv.publish(k, tool.FreshStale, "config_changed")
			}
		}
		next, fresh = append(next, srv), append(fresh, srv)
	}
	for _, srv := range old {
		if !slices.Contains(next, srv) {
			gone = append(gone, srv)
		}
	}
	changed = !slices.Equal(old, next)
	s.servers = next
	level, begun := s.level, s.begun
	s.leaving.Add(len(gone))
	s.mu.Unlock()
	for _, srv := range gone {
		go func() { // ends with the server, which Close waits for
			defer s.leaving.Done()
			srv.close(context.WithoutCancel(s.life), s.opts.Drain)
		}()
	}
	s.configured(next)
	for _, srv := range fresh {
		srv.wants.setLevel(level)
		switch {
		case begun && srv.begin1st(true, true):
			go srv.startFirst() // Close waits for the start
		default:
			srv.first.Do(func() { close(srv.started) })
		}
	}
	return changed
}

// reconfigure takes new settings over without a restart. It reports false where they make
// another server of it.
func (s *Server) reconfigure(spec Spec) bool {
	old, e := s.settings(), spec.Entry
	wrong := spec.wrong()
	if s.off != spec.Off || s.wrong != wrong || old.Disabled != e.Disabled {
		return false
	}
	if s.hash == "" {
		return old.Command == e.Command && old.URL == e.URL // it does nothing in either form
	}
	if s.hash != e.ConfigHash(s.set.opts.Key) || old.Isolation != e.Isolation {
		return false
	}
	s.conf.Store(&e)
	s.mu.Lock()
	if s.idle != nil {
		s.idle.Stop()
	}
	if s.primary != nil {
		s.restLater()
	}
	fresh, why := s.freshness, s.why
	s.mu.Unlock()
	if k := s.known.Load(); k != nil {
		s.publish(k, fresh, why)
	}
	return true
}
