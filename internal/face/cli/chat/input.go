package chat

import (
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file handles the keys of the full-screen chat: editing, history, completion, sending and cancelling.

// key handles a key.
func (s *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	if name != "ctrl+c" {
		s.leaving = false
	}
	if name != "esc" {
		s.escaped = false
	}
	if len(s.asking) > 0 && name != "ctrl+c" {
		s.answerKey(name, msg.Text)
		return nil
	}
	if s.form != nil && s.formKey(name) {
		return nil
	}
	switch name {
	case "ctrl+c":
		switch {
		case s.leaving:
			return tea.Quit
		case len(s.turns) > 0:
			s.turns[0].stop()
		}
		s.leaving = true
		return nil
	case "ctrl+d":
		if s.input.Value() == "" {
			return tea.Quit
		}
	case "ctrl+z":
		return s.suspend
	case "ctrl+_", "ctrl+/":
		if was, ok := s.undo.back(); ok {
			was.put(&s.input)
			s.chosen = -1
		}
		return nil
	case "tab":
		s.completeOrSelect()
		return nil
	case "up":
		if s.chosen >= 0 {
			s.chosen--
			return nil
		}
		if s.input.Line() == 0 && s.input.LineInfo().RowOffset == 0 {
			return s.goBack()
		}
	case "down":
		switch list := s.suggestions(); {
		case len(list) > 0 && s.recall.back == 0:
			s.chosen = min(s.chosen+1, len(list)-1)
			return nil
		case s.recall.back > 0 && s.input.Line() == s.input.LineCount()-1:
			s.step(-1)
			return nil
		}
	case "esc":
		s.handleEscape()
		return nil
	case "enter":
		if s.chosen >= 0 && !s.choose() {
			return nil
		}
		return s.handleEnter()
	}
	return s.passToInput(msg)
}

// passToInput passes a key or pasted text to the input.
func (s *screen) passToInput(msg tea.Msg) tea.Cmd {
	before := stateOf(&s.input)
	var cmd tea.Cmd
	s.input, cmd = s.input.Update(msg)
	if now := s.input.Value(); now != before.text {
		s.undo.recordChange(before, now)
		s.chosen, s.recall.back = -1, 0
		s.startLoadingChoices(now)
	}
	return cmd
}

// setInput replaces the input; undo restores it.
func (s *screen) setInput(text string) {
	before := stateOf(&s.input)
	s.input.SetValue(text)
	if text != before.text {
		s.undo.recordChange(before, text)
		s.startLoadingChoices(text)
	}
	s.chosen = -1
}

// pastedFile returns the mention of a file whose path was pasted. Terminals paste the path of a file that is dropped on
// them.
func pastedFile(text string) (mention string, ok bool) {
	path := strings.TrimSpace(text)
	if len(path) > 1 && (path[0] == '\'' || path[0] == '"') && path[len(path)-1] == path[0] {
		path = path[1 : len(path)-1]
	}
	path = strings.ReplaceAll(path, `\ `, " ")
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\"\n") {
		return "", false
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	return fileSuggestion(path, false).text, true
}

// step moves through the input history.
func (s *screen) step(by int) {
	if text, ok := s.recall.step(by, s.input.Value()); ok {
		s.setInput(text)
		if by > 0 { // the next step starts at the first line
			s.input.MoveToBegin()
			s.input.CursorEnd()
		}
	}
}

// goBack goes back in the input history. When it reaches the oldest line for the first time, it loads earlier conversations.
func (s *screen) goBack() tea.Cmd {
	if s.recall.back == len(s.recall.lines) && !s.recall.older && s.api != nil {
		s.recall.older = true
		return func() tea.Msg { return remembered{s.loadEarlierTexts(s.ctx)} }
	}
	s.step(1)
	return nil
}

// completeOrSelect extends the last word by the common prefix of the suggestions, or selects the next one.
func (s *screen) completeOrSelect() {
	list := s.suggestions()
	if s.chosen >= 0 {
		s.choose()
		return
	}
	text := s.input.Value()
	if now := completeWord(text, s.wordAt, list); now != text {
		s.setInput(now)
	} else if len(list) > 0 {
		s.chosen = 0
	}
}

// choose inserts the selected suggestion, and reports whether the line is complete with it.
func (s *screen) choose() (complete bool) {
	list := s.suggestions()
	if s.chosen >= len(list) {
		s.chosen = -1
		return true
	}
	it := list[s.chosen]
	s.setInput(s.input.Value()[:s.wordAt] + it.text)
	return it.whole
}

// handleEscape cancels the selection, the editing of an earlier message or, if pressed twice, the answer.
func (s *screen) handleEscape() {
	switch {
	case s.chosen >= 0:
		s.chosen = -1
	case s.isEditing():
		s.setEditing("")
		s.input.Reset()
	case len(s.turns) > 0 && s.escaped:
		s.turns[0].stop()
		s.escaped = false
	case len(s.turns) > 0:
		s.escaped = true
	}
}

// handleEnter sends the input or runs the command in it. If the screen is not ready, sendEntered does so later.
func (s *screen) handleEnter() tea.Cmd {
	text := strings.TrimSpace(s.input.Value())
	switch {
	case text == "":
		return nil
	case isQuit(text):
		s.input.Reset()
		return tea.Quit
	case !s.ready || s.commanding:
		s.entered = true
		return nil
	}
	s.input.SetValue(s.later)
	s.later = ""
	s.recall.add(text)
	s.undo = undo{}
	s.showOwnMessage(output.Harmless(text))
	if run, found := s.commandIn(text); found {
		s.commanding = true
		return func() tea.Msg {
			o, err := run(s.ctx)
			return done{o, text, err}
		}
	}
	if text == "/help" {
		s.put(append(helpLines(), keyLines()...))
	}
	s.send(s.compose(text))
	return nil
}

// showResult shows the result of a command.
func (s *screen) showResult(d *done) tea.Cmd {
	s.commanding = false
	if d.err != nil {
		s.fail(d.err)
		if s.input.Value() == "" {
			s.input.SetValue(d.line)
			s.entered = false
		}
		return s.sendEntered()
	}
	s.put(d.lines)
	if d.draft {
		s.recall.prepend(ownTexts(d.path))
	}
	s.history(d.path)
	if d.input != "" && (!d.draft || s.input.Value() == "") {
		s.input.SetValue(d.input)
	}
	if d.send != nil {
		s.send(*d.send)
	}
	if d.copied != "" {
		s.say("%s", locale.T("the last answer was handed to the terminal for its clipboard"))
		return tea.Batch(tea.SetClipboard(d.copied), s.sendEntered())
	}
	return s.sendEntered()
}

// sendEntered sends what was entered before the conversation was open or while a command was running.
func (s *screen) sendEntered() tea.Cmd {
	if !s.entered {
		return nil
	}
	s.entered = false
	return s.handleEnter()
}

// suggestions returns completions for the last word of the input.
func (s *screen) suggestions() []suggestion {
	if text := s.input.Value(); text != s.suggestedTo {
		s.suggestedTo = text
		s.wordAt, s.suggested = s.suggest(text)
	}
	return s.suggested
}

// startLoadingChoices starts loading choices if text is a line that needs them.
func (s *screen) startLoadingChoices(text string) {
	what, _ := choiceKind(text)
	if what == "" || s.api == nil {
		return
	}
	if _, loaded := s.loadedChoices(what); s.looking || loaded && what != "session" {
		return
	}
	s.looking = true
	s.work.Go(func() { // ends with the program at the latest
		s.loadChoices(s.ctx, what)
		s.program.Send(learned{})
	})
}

// loadWhatIsMissing loads choices that startLoadingChoices could not load yet. It reloads prompts and resources while the name of an unknown
// one is typed: servers list them after their tools, and the lists may change.
func (s *screen) loadWhatIsMissing() {
	if what, _ := choiceKind(s.input.Value()); what != "" && s.api != nil && !s.looking {
		if _, loaded := s.loadedChoices(what); !loaded {
			s.startLoadingChoices(s.input.Value())
		}
		return
	}
	if s.api == nil || s.looking || !isTypingOffer(s.input.Value()) || len(s.suggestions()) > 0 {
		return
	}
	s.looking = true
	s.work.Go(func() { // ends with the program at the latest
		s.learnOffered(s.ctx)
		s.program.Send(learned{})
	})
}
