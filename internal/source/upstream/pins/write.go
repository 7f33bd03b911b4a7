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

// This file writes pins in the background, together with what other processes have written.

// retryPauses are the pauses after failed writes; the last one repeats.
var retryPauses = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute}

// writeTime bounds one write, most of which is waiting for the lock.
const writeTime = 2 * time.Second

// refresh reads the file if another process has changed it. If the file is gone or broken, memory stays as it is.
func (b *pinBook) refresh() {
	if b.store.file.Path == "" {
		return
	}
	info, err := os.Stat(b.store.file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.restore()
		return
	case err != nil:
		b.warn(err)
		return
	case b.info != nil && os.SameFile(info, b.info) && info.Size() == b.info.Size() && info.ModTime().Equal(b.info.ModTime()):
		return
	}
	raw, err := os.ReadFile(b.store.file.Path)
	if err == nil {
		err = b.adopt(raw)
	}
	if err != nil {
		b.warn(err)
		return
	}
	b.info, b.warned = info, ""
}

// restore has a deleted file written again, since deleting it must not be a way to have other definitions pinned.
// Definitions that only the file had are lost.
func (b *pinBook) restore() {
	if b.info == nil {
		return // there was no file
	}
	b.info = nil
	for server, tools := range b.pins {
		for name, r := range tools {
			if r.stored && r.definition == nil {
				next := *r
				next.stored = false
				r = &next
				tools[name] = r
			}
			b.dirty.put(server, name, r)
		}
	}
	b.writeSoon()
}

// adopt takes over the content of the file and adds what is not written yet.
func (b *pinBook) adopt(raw []byte) error {
	st, err := parse(raw, false)
	if err != nil {
		return err
	}
	st.applyAll(b.edits, b.dirty, b.store.definitionOf)
	if !equal(st, b.pins) {
		b.wakeWatchers()
	}
	b.pins = st
	return nil
}

// definitionOf returns the pinned definition of one tool, from memory or from the file; nil if it is lost.
func (s *Store) definitionOf(server, name string, r *record) json.RawMessage {
	return s.lookup(server)(name, r)
}

// applyAll applies edits and then sightings to st. was returns the pinned definition of a record.
func (st state) applyAll(edits []edit, dirty state, was func(server, name string, r *record) json.RawMessage) {
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

// equal reports whether two states are the same for every tool.
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

// warn logs a problem of the file, unless it is the same as last time.
func (b *pinBook) warn(err error) {
	if text := err.Error(); b.warned != text {
		b.warned = text
		b.store.log.Warn("pins of tool definitions are kept in memory only, until their file can be read and written",
			"path", b.store.file.Path, "error", err)
	}
}

// writeSoon starts the background write, unless it is running.
func (b *pinBook) writeSoon() {
	if b.store.file.Path == "" || b.writing || b.closed {
		return
	}
	b.writing = true
	b.store.wg.Go(b.store.writeInBackground)
}

// writeInBackground writes what is new, again and again, until nothing is left to write or until Close.
func (s *Store) writeInBackground() {
	pause := s.opts.Collect
	for failed := 0; ; {
		select {
		case <-time.After(pause):
		case <-s.stop:
			return
		}
		if err := s.flush(context.Background()); err != nil {
			pause = retryPauses[min(failed, len(retryPauses)-1)]
			failed++
		} else {
			pause, failed = s.opts.Collect, 0
		}
		b := s.lock()
		if !b.hasUnwritten() {
			b.writing = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// hasUnwritten reports whether the file lacks something.
func (b *pinBook) hasUnwritten() bool { return len(b.edits) > 0 || len(b.dirty) > 0 }

// flush makes one attempt to write what is new.
func (s *Store) flush(ctx context.Context) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	b := s.lock()
	edits, dirty := slices.Clone(b.edits), state{}
	for server, tools := range b.dirty {
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
		st.applyAll(edits, dirty, func(_, _ string, r *record) json.RawMessage { return r.definition })
		raw := st.encode()
		if len(raw) > s.limits.file { // nobody could read it, and all servers would be without pins at the next start
			return nil, fmt.Errorf("the file would have %d bytes, expected at most %d", len(raw), s.limits.file)
		}
		return raw, nil
	})
	b = s.lock()
	defer s.mu.Unlock()
	if err != nil {
		b.warn(err)
		return fmt.Errorf("write pins %q: %w", s.file.Path, err)
	}
	b.forgetWritten(edits, dirty)
	return nil
}

// forgetWritten drops what has been written from the lists of unwritten changes, but keeps what came meanwhile.
// Written definitions can then be read from the file again and need not stay in memory.
func (b *pinBook) forgetWritten(edits []edit, dirty state) {
	b.edits = b.edits[len(edits):]
	for server, tools := range dirty {
		for name, r := range tools {
			if b.dirty[server][name] == r {
				delete(b.dirty[server], name)
			}
		}
		if len(b.dirty[server]) == 0 {
			delete(b.dirty, server)
		}
	}
	b.info = nil
	b.refresh()
}

// Close ends all watches and makes one last attempt to write what is new, which takes at most writeTime. It may be called twice.
// The error says why something could not be written.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	b := s.lock()
	first := !b.closed
	b.closed = true
	s.mu.Unlock()
	if first {
		close(s.stop)
	}
	s.wg.Wait()
	return s.flush(context.Background())
}
