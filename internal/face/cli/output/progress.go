package output

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/face/cli/locale"
)

// progress tells how far work with several things is: on a terminal a line that changes, else a
// line for each that ends; with --json nothing. It is safe for concurrent use. close ends it.
type progress struct {
	p      *Output
	total  int
	screen bool
	ended  chan struct{}
	done   sync.WaitGroup

	mu    sync.Mutex
	began time.Time
	busy  []string
	over  int
}

// NewProgress makes a line that tells how many of total are done. It shows on a terminal only, and not where JSON is wanted.
func (o *Output) NewProgress(total int) *progress {
	s := &progress{p: o, total: total, screen: IsTerminal(o.Err) && !o.JSON, ended: make(chan struct{}), began: time.Now()}
	if s.screen {
		s.done.Go(s.run)
	}
	return s
}

// run shows that time goes on.
func (s *progress) run() {
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

func (s *progress) Begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = append(s.busy, name)
	s.draw()
}

// End says what came of a thing.
func (s *progress) End(name, result string) {
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

func (s *progress) draw() {
	if !s.screen {
		return
	}
	text := locale.Sprintf("%d/%d after %s", s.over, s.total, Age(time.Since(s.began)))
	if len(s.busy) > 0 {
		text += locale.Sprintf(", waiting for %s", strings.Join(s.busy, ", "))
	}
	width := TerminalWidth(s.p.Err) - 1
	if width < 20 {
		width = 79
	}
	_, _ = io.WriteString(s.p.Err, "\r\x1b[K"+Truncate(OneLine(text), width))
}

// Close takes the line away.
func (s *progress) Close() {
	close(s.ended)
	s.done.Wait()
	if s.screen {
		_, _ = io.WriteString(s.p.Err, "\r\x1b[K")
	}
}
