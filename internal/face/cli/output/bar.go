package output

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// This file shows progress as one changing line, for work with many small parts.

// progressBar shows on a terminal how far work with many small parts has come, in one changing line. It shows nothing
// without a terminal or with --json. It is safe for concurrent use.
type progressBar struct {
	p      *Output
	verb   string
	screen bool

	mu    sync.Mutex
	drawn time.Time
}

const (
	barWidth = 24
	// barPause is the minimum time between two changes of the line.
	barPause = 50 * time.Millisecond
)

// NewBar returns a bar for work that verb names.
func (o *Output) NewBar(verb string) *progressBar {
	return &progressBar{p: o, verb: verb, screen: IsTerminal(o.Err) && !o.JSON}
}

// Show shows that done of total parts are done. name is the last of them; it may be empty.
func (b *progressBar) Show(done, total int, name string) {
	if !b.screen {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); done == total || now.Sub(b.drawn) >= barPause {
		b.drawn = now
		_, _ = io.WriteString(b.p.Err, "\r\x1b[K"+barLine(b.verb, done, total, name, TerminalWidth(b.p.Err)-1))
	}
}

// usableWidth returns width, or that of a usual terminal, less one column, where the width is not known or not credible.
func usableWidth(width int) int {
	const least, usual = 20, 79
	if width < least {
		return usual
	}
	return width
}

// barLine returns the line of a bar, at most width columns wide.
func barLine(verb string, done, total int, name string, width int) string {
	width = usableWidth(width)
	full := barWidth
	if total > 0 {
		full = min(barWidth*done/total, barWidth)
	}
	text := fmt.Sprintf("%s [%s%s] %d/%d", verb, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done, total)
	if name != "" {
		text += " " + OneLine(name)
	}
	return Truncate(text, width)
}

// Close removes the line.
func (b *progressBar) Close() {
	if b.screen {
		_, _ = io.WriteString(b.p.Err, "\r\x1b[K")
	}
}
