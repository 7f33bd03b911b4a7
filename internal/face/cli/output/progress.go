package output

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/face/cli/locale"
)

// This file shows the progress of a few items, each with a line of its own.

// itemProgress shows how far work on several items has come: on a terminal in a changing line, otherwise with a line for
// each finished item if there are several. With --json it shows nothing. Its methods are safe for concurrent use; Close
// is called last.
type itemProgress struct {
	p      *Output
	total  int
	screen bool
	ended  chan struct{}
	done   sync.WaitGroup

	mu    sync.Mutex
	began time.Time
	busy  []string
	over  int // how many items have ended
}

// NewProgress returns a progress for total items.
func (o *Output) NewProgress(total int) *itemProgress {
	s := &itemProgress{p: o, total: total, screen: IsTerminal(o.Err) && !o.JSON, ended: make(chan struct{}), began: time.Now()}
	if s.screen {
		s.done.Go(s.run)
	}
	return s
}

// run redraws the line as time passes.
func (s *itemProgress) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-tick.C:
			s.mu.Lock()
			s.draw()
			s.mu.Unlock()
		}
	}
}

// Begin shows that work on an item has begun.
func (s *itemProgress) Begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = append(s.busy, name)
	s.draw()
}

// End shows the result of an item.
func (s *itemProgress) End(name, result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over++
	if i := slices.Index(s.busy, name); i >= 0 {
		s.busy = slices.Delete(s.busy, i, i+1)
	}
	if !s.screen && !s.p.JSON && s.total > 1 {
		s.p.Note("%s: %s", name, OneLine(result))
	}
	s.draw()
}

// draw rewrites the line. The caller holds s.mu.
func (s *itemProgress) draw() {
	if !s.screen {
		return
	}
	text := locale.Sprintf("%d/%d after %s", s.over, s.total, Age(time.Since(s.began)))
	if len(s.busy) > 0 {
		text += locale.Sprintf(", waiting for %s", strings.Join(s.busy, ", "))
	}
	width := usableWidth(TerminalWidth(s.p.Err) - 1)
	_, _ = io.WriteString(s.p.Err, "\r\x1b[K"+Truncate(OneLine(text), width))
}

// Close removes the line.
func (s *itemProgress) Close() {
	close(s.ended)
	s.done.Wait()
	if s.screen {
		_, _ = io.WriteString(s.p.Err, "\r\x1b[K")
	}
}
