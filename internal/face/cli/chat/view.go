package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file draws the lines at the bottom of the full-screen chat: what is running, suggestions, the input and the
// status.

// View returns the current view; see [tea.Model].
func (s *screen) View() tea.View {
	if s.held && s.last.Content != "" {
		return s.last
	}
	s.last = s.draw()
	if n := strings.Count(s.last.Content, "\n") + 1; n != s.lastLines {
		s.lastLines, s.lastSized, s.lastFrame = n, time.Now(), s.frames.Load()
	}
	return s.last
}

// draw makes the view. A view that is shorter than the previous one must not be drawn before the lines removed from it
// have been printed: Bubble Tea determines where the view begins from the line of the cursor, which must exist in the
// new view.
func (s *screen) draw() tea.View {
	var lines []string
	below := suggestionLines(s.suggestions(), s.chosen, s.width)
	room := max(s.height-s.input.Height()-3-len(below), 1)
	if s.text != "" {
		lines = s.layout(s.text)
	}
	for _, c := range s.cards {
		lines = append(lines, output.Truncate("… "+c.title+"  "+c.state+"  "+elapsed(c.since)+"  "+c.args, s.width))
	}
	if len(s.asking) > 0 {
		lines = append(lines, strings.Split(lipgloss.Wrap(s.asking[0].prompt(), s.width, ""), "\n")...)
	} else if s.form != nil {
		lines = append(lines, strings.Split(lipgloss.Wrap(s.form.prompt, s.width, ""), "\n")...)
	}
	if len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	status := ""
	switch {
	case s.leaving:
		status = locale.T("Ctrl-C again leaves")
	case s.form != nil:
		status = locale.T("a server asks; Enter answers, Esc leaves it")
	case s.escaped:
		status = locale.T("Esc again ends the answer")
	case !s.ready:
		status = locale.T("opening")
	case s.isEditing():
		status = locale.T("in place of an earlier message, Esc leaves that as it is")
	case len(s.turns) > 1:
		status = locale.Sprintf("answering, %s wait", fmt.Sprint(len(s.turns)-1))
	case len(s.turns) > 0:
		status = locale.T("answering, Ctrl-C ends it")
		if !s.thinking.IsZero() {
			status = locale.T("thinking, Ctrl-C ends it")
		}
		if since := s.turns[0].since; !since.IsZero() {
			status = elapsed(since) + "  " + status
		}
	}
	if status == "" {
		status = s.idleStatusLine()
	}
	lines = append(lines, s.Dim(strings.TrimRight(output.Truncate(strings.Repeat("─", 2)+" "+status, s.width), " ")))
	drawn := strings.Join(slices.Concat(lines, []string{s.input.View()}, below), "\n")
	if h := strings.Count(drawn, "\n") + 1; h >= s.tallest || time.Since(s.tallestAt) > redrawTime {
		s.tallest, s.tallestAt = h, time.Now()
	}
	v := tea.NewView(drawn)
	v.ReportFocus = true
	if c := s.input.Cursor(); c != nil && len(s.asking) == 0 {
		c.Y += len(lines)
		v.Cursor = c
	}
	return v
}

// idleStatusLine returns the status line while no answer is written: the agent, the model and how full its context is.
func (s *screen) idleStatusLine() string {
	var words []string
	if agent := s.agent(); agent != "" {
		words = append(words, output.OneLine(agent))
	}
	if model := s.model(); model != "" {
		words = append(words, model)
	}
	switch {
	case s.contextOf != s.id():
	case s.context > 0 && s.window > 0:
		words = append(words, locale.Sprintf("%s of %s tokens (%d %%)", shortCount(s.context), shortCount(s.window), s.context*100/s.window))
	case s.context > 0:
		words = append(words, locale.Sprintf("%s tokens", shortCount(s.context)))
	}
	return strings.Join(words, " · ")
}
