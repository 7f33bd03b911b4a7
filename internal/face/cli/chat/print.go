package chat

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/tidwall/gjson"

	"collie/internal/face/cli/chat/markdown"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file prints finished lines above the view, into the scrollback of the terminal.

// redrawTime is how long after it was drawn a view has replaced the one before it on the terminal, unless that is very slow.
const redrawTime = 200 * time.Millisecond

// settleTime is how long printing waits at least after the height of the view has changed: three frames at 60 a second. Printed
// earlier, a line of the old view could remain in the scrollback.
const settleTime = 50 * time.Millisecond

func (s *screen) bold(text string) string {
	if s.styled {
		return "\x1b[1m" + text + "\x1b[22m"
	}
	return text
}

// say prints one or more lines above the view.
func (s *screen) say(format string, args ...any) {
	s.put(strings.Split(fmt.Sprintf(format, args...), "\n"))
}

// put wraps lines and queues them for printing above the view.
func (s *screen) put(lines []string) {
	for _, line := range lines {
		s.lines = append(s.lines, strings.Split(lipgloss.Wrap(line, s.width, ""), "\n")...)
	}
}

// next prints pending lines in order, but at most as many as fit above the view: more would scroll a part of the view
// into the scrollback.
func (s *screen) next() tea.Cmd {
	if s.printing || len(s.lines) == 0 {
		return nil
	}
	n := min(len(s.lines), max(s.height-s.tallest, 1))
	text := strings.Join(s.lines[:n], "\n")
	if text == "" {
		text = " "
	}
	s.lines, s.printing, s.held = s.lines[n:], true, true
	return tea.Sequence(s.awaitDrawn(), tea.Println(text), func() tea.Msg { return printed{} })
}

// awaitDrawn waits until something has been written to the terminal since the height of the view last changed: at least
// settleTime, at most ten times that.
func (s *screen) awaitDrawn() tea.Cmd {
	sized, frame := s.lastSized, s.lastFrame
	return func() tea.Msg {
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for since := time.Since(sized); since < settleTime || since < 10*settleTime && s.frames.Load() == frame; since = time.Since(sized) {
			<-look.C
		}
		return nil
	}
}

// countWrites wraps a terminal so that awaitDrawn sees what is written to it. Other writers are returned unchanged, and awaitDrawn
// then waits its longest.
func (s *screen) countWrites(out io.Writer) io.Writer {
	if f, ok := out.(*os.File); ok {
		return countedFile{f, &s.frames}
	}
	return out
}

// countedFile counts writes to a file.
type countedFile struct {
	*os.File
	writes *atomic.Int64
}

func (f countedFile) Write(b []byte) (int, error) {
	defer f.writes.Add(1)
	return f.File.Write(b)
}

// block prints complete blocks of Markdown.
func (s *screen) block(text string) {
	s.put(append(s.layout(text), ""))
}

// flush prints the rest of the current text.
func (s *screen) flush() {
	if strings.TrimSpace(s.text) != "" {
		s.block(s.text)
	}
	s.text = ""
}

// layout returns the lines of a Markdown text for the width of the screen.
func (s *screen) layout(text string) []string {
	return markdown.Renderer{Styled: s.styled}.Render(text, s.width)
}

// maxHistory bounds the earlier messages that are shown.
const maxHistory = 60

// history shows earlier messages.
func (s *screen) history(path []gjson.Result) {
	if n := len(path) - maxHistory; n > 0 {
		path = path[n:]
		s.say("%s", s.Dim(locale.Sprintf("%d earlier messages: %s", n, s.Typed("sessions show "+s.id()))))
	}
	for _, m := range path {
		s.recordModel(m.Get("provider").String(), m.Get("model").String())
		if p := siblingPosition(m); p != "" {
			s.say("%s", s.Dim(locale.Sprintf("branch %s", p)))
		}
		if m.Get("ownTools").Bool() {
			s.say("! %s", conversation.OwnTools(m.Get("provider").String()))
		}
		for _, p := range m.Get("parts").Array() {
			text := output.Harmless(p.Get("text").String())
			switch p.Get("type").String() {
			case "text":
				if m.Get("role").String() == "user" {
					s.showOwnMessage(text)
				} else {
					s.block(text)
				}
			case "tool_call":
				title, args := conversation.CallTitle(p.Get("name").String(), p.Get("args").String())
				s.say("✓ %s  %s", s.bold(title), output.Truncate(args, s.width))
			case "file":
				s.say("  @%s", output.OneLine(p.Get("file.name").String()))
			case "steer":
				s.say("%s", s.Dim(locale.Sprintf("the model was told: %s", output.OneLine(text))))
			case "notice":
				s.say("! %s", conversation.NoticeText(p))
			}
		}
	}
}

// showOwnMessage shows a message of the person.
func (s *screen) showOwnMessage(text string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = s.bold("> " + l)
	}
	s.put(append(append([]string{""}, lines...), ""))
}
