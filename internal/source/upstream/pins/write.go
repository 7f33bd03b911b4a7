package pins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// retries are the pauses after writes that failed; the last one repeats.
var retries = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute}

// writeTime bounds one write, most of which is waiting for the lock.
const writeTime = 2 * time.Second

// refresh reads the file if another process has changed it. A file that is gone or broken
// changes nothing in memory. The caller holds s.mu.
func (s *Store) refresh() {
	if s.file.Path == "" {
		return
	}
	info, err := os.Stat(s.file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.restore()
		return
	case err != nil:
		s.warn(err)
		return
	case s.info != nil && os.SameFile(info, s.info) && info.Size() == s.info.Size() && info.ModTime().Equal(s.info.ModTime()):
		return
	}
	raw, err := os.ReadFile(s.file.Path)
	if err == nil {
		err = s.adopt(raw)
	}
	if err != nil {
		s.warn(err)
		return
	}
	s.info, s.warned = info, ""
}

// restore has a file that was deleted written again: who can delete it must not be able to
// have other definitions pinned. What it alone knew is lost. The caller holds s.mu.
func (s *Store) restore() {
	if s.info == nil {
		return // there was none
	}
	s.info = nil
	for server, tools := range s.pins {
		for name, r := range tools {
			if r.stored && r.definition == nil {
				next := *r
				next.stored = false
				r = &next
				tools[name] = r
			}
			s.dirty.put(server, name, r)
		}
	}
	s.writeSoon()
}

// adopt takes over what the file says, with what it does not say yet. The caller holds s.mu.
func (s *Store) adopt(raw []byte) error {
	st, err := parse(raw, false)
	if err != nil {
		return err
	}
	st.bring(s.edits, s.dirty, s.definitionOf)
	if !equal(st, s.pins) {
		s.note()
	}
	s.pins = st
	return nil
}

// definitionOf is a lookup for one tool.
func (s *Store) definitionOf(server, name string, r *record) json.RawMessage {
	return s.lookup(server)(name, r)
}

// bring makes the edits and adds what was seen.
func (st state) bring(edits []edit, dirty state, was func(server, name string, r *record) json.RawMessage) {
	for _, e := range edits {
		e(st)
	}
	for server, tools := range dirty {
		for name, r := range tools {
			theirs := st[server][name]
			st.put(server, name, merge(theirs, r, func(r *record) json.RawMessage { return was(server, name, r) }))
		}
	}
}

// equal reports whether two states say the same of every tool.
func equal(a, b state) bool {
	return maps.EqualFunc(a, b, sameTools)
}

func sameTools(x, y map[string]*record) bool {
	return maps.EqualFunc(x, y, func(r, q *record) bool {
		if r.hash != q.hash || (r.pending == nil) != (q.pending == nil) {
			return false
		}
		return r.pending == nil || r.pending.hash == q.pending.hash
	})
}

// warn tells once what is wrong with the file. The caller holds s.mu.
func (s *Store) warn(err error) {
	if text := err.Error(); s.warned != text {
		s.warned = text
		s.log.Warn("pins of tool definitions are kept in memory only: repair the file or move it away",
			"path", s.file.Path, "error", err)
	}
}

// writeSoon has the file written in the background. The caller holds s.mu.
func (s *Store) writeSoon() {
	if s.file.Path == "" || s.writing || s.closed {
		return
	}
	s.writing = true
	s.wg.Go(s.write)
}

// write writes until there is nothing more to write. It ends by then, or with Close.
func (s *Store) write() {
	pause := s.opts.Collect
	for failed := 0; ; {
		select {
		case <-time.After(pause):
		case <-s.stop:
			return
		}
		if err := s.flush(context.Background()); err != nil {
			pause = retries[min(failed, len(retries)-1)]
			failed++
		} else {
			pause, failed = s.opts.Collect, 0
		}
		s.mu.Lock()
		if !s.unwritten() {
			s.writing = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// unwritten reports whether the file lacks something. The caller holds s.mu.
func (s *Store) unwritten() bool { return len(s.edits) > 0 || len(s.dirty) > 0 }

// flush writes what is new, once.
func (s *Store) flush(ctx context.Context) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	s.mu.Lock()
	edits, dirty := slices.Clone(s.edits), state{}
	for server, tools := range s.dirty {
		if dirty[server] = maps.Clone(tools); len(tools) == 0 {
			delete(dirty, server)
		}
	}
	s.mu.Unlock()
	if s.file.Path == "" || len(edits) == 0 && len(dirty) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	err := s.file.Update(ctx, func(old []byte) ([]byte, error) {
		st, err := parse(old, true)
		if err != nil {
			return nil, err
		}
		st.bring(edits, dirty, func(_, _ string, r *record) json.RawMessage { return r.definition })
		return st.encode(), nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.warn(err)
		return fmt.Errorf("write pins %q: %w", s.file.Path, err)
	}
	s.forgetWritten(edits, dirty)
	return nil
}

// forgetWritten forgets what has been written, but not what came meanwhile, and goes by the file
// again, so that definitions need not stay in memory. The caller holds s.mu.
func (s *Store) forgetWritten(edits []edit, dirty state) {
	s.edits = s.edits[len(edits):]
	for server, tools := range dirty {
		for name, r := range tools {
			if s.dirty[server][name] == r {
				delete(s.dirty[server], name)
			}
		}
		if len(s.dirty[server]) == 0 {
			delete(s.dirty, server)
		}
	}
	s.info = nil
	s.refresh()
}

// Close writes what is new, within 2 s, and ends everything. It may be called twice. The
// error is why something could not be written.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.stop)
	}
	s.wg.Wait()
	return s.flush(context.Background())
}
