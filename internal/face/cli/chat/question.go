package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/tidwall/gjson"

	"collie/internal/face/cli/call"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/tool"
)

// This file asks the questions of the gate and of servers on the full screen.

// Messages to the event loop about questions to the person.
type (
	question struct {
		tool.Question
		typed  string // what was typed so far of the name that the question asks for
		answer chan<- json.RawMessage
	}
	withdrawn struct{ answer chan<- json.RawMessage } // the turn has ended, so nobody waits for the answer
	formText  struct{ text string }                   // text to show in the current form
	formEnd   struct{ form *form }                    // the form is filled in or cancelled
)

// form is a form of a server (MCP elicitation). Its fields are filled in where messages are typed.
type form struct {
	lines  *io.PipeWriter // receives the person's lines
	prompt string         // current prompt
	kept   string         // unfinished message from before the form
}

// person asks the person questions of the gate and of servers, on the screen.
type person struct {
	tool.Caller
	screen *screen
	filled chan struct{} // holds one token, owned by whoever shows a form
}

// Capabilities returns what a terminal supports.
func (*person) Capabilities() json.RawMessage {
	return json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`)
}

// Ask asks a question on the screen. If its turn ends first, the question is withdrawn.
func (a *person) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case tool.MethodConfirm:
	case "elicitation/create":
		return a.fillIn(ctx, params)
	default:
		return a.Caller.Ask(ctx, method, params) // refuses the question
	}
	var q tool.Question
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, err
	}
	answer := make(chan json.RawMessage, 1)
	a.screen.program.Send(question{Question: q, answer: answer})
	select {
	case said := <-answer:
		return said, nil
	case <-ctx.Done():
		a.screen.program.Send(withdrawn{answer})
		return nil, context.Cause(ctx)
	}
}

// fillIn shows a form of a server. Only one form is shown at a time.
func (a *person) fillIn(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	select {
	case <-a.filled:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { a.filled <- struct{}{} }()
	typed, lines := io.Pipe()
	f := &form{lines: lines}
	a.screen.program.Send(f)
	defer a.screen.program.Send(formEnd{f})
	defer typed.Close()
	return call.FillIn(ctx, "collie chat", typed, formWriter{a.screen}, params)
}

// formWriter writes the text of a form to the screen.
type formWriter struct{ screen *screen }

func (w formWriter) Write(text []byte) (int, error) {
	w.screen.program.Send(formText{string(text)})
	return len(text), nil
}

// ask adds a question. It is shown after those before it are answered.
func (s *screen) ask(q question) {
	s.asking = append(s.asking, q)
	if len(s.asking) == 1 {
		s.showQuestion()
	}
}

// showQuestion prints the current question into the scrollback, so that even a long one is not cut off.
func (s *screen) showQuestion() {
	if len(s.asking) == 0 {
		return
	}
	s.ring()
	for line := range strings.Lines(call.QuestionText(&s.asking[0].Question)) {
		s.lines = append(s.lines, s.argument(strings.TrimSuffix(line, "\n"))...)
	}
}

// continued indents continuation lines in a question, so that foreign text cannot look like a line of the question
// itself.
const continued = "          "

// argument formats a line of a question or of arguments, with colours for removed and added text.
func (s *screen) argument(line string) []string {
	colour := 0
	if goes, comes := call.LineKind(line); goes {
		colour = 31
	} else if comes {
		colour = 32
	}
	lines := []string{line}
	if room := s.width - len(continued); lipgloss.Width(line) > s.width && room > 0 {
		lines = strings.Split(lipgloss.Wrap(line, room, ""), "\n")
	}
	for i := range lines {
		if i > 0 {
			lines[i] = continued + lines[i]
		}
		if s.styled && colour > 0 {
			lines[i] = fmt.Sprintf("\x1b[%dm%s\x1b[39m", colour, lines[i])
		}
	}
	return lines
}

// withdraw removes a question.
func (s *screen) withdraw(w withdrawn) {
	at := slices.IndexFunc(s.asking, func(q question) bool { return q.answer == w.answer })
	if at < 0 {
		return // it was answered in the meantime
	}
	s.asking = slices.Delete(s.asking, at, at+1)
	if at == 0 {
		s.say("%s", s.Dim(locale.T("not answered: the question was taken back")))
		s.showQuestion()
	}
}

// answerKey handles a key while a question is shown.
func (s *screen) answerKey(name, text string) {
	q := &s.asking[0]
	done, typed := q.key(name, text)
	if !done {
		return
	}
	answered := *q
	s.asking = s.asking[1:]
	answer := call.Answer(&answered.Question, typed)
	said := map[bool]string{true: locale.T("yes"), false: locale.T("no")}[gjson.GetBytes(answer, "confirm").Bool()]
	if gjson.GetBytes(answer, "grant").Exists() {
		said = typed
	}
	s.say("%s%s", call.Prompt(&answered.Question), said)
	answered.answer <- answer
	s.showQuestion()
}

// key handles a key. done reports that the key answers the question. typed is the answer as a person would type it in the
// line-by-line interface.
func (q *question) key(name, text string) (done bool, typed string) {
	switch {
	case name == "esc", q.Name == "" && (name == "n" || name == "enter"):
		return true, ""
	case q.Name == "":
		n, err := strconv.Atoi(name)
		return name == "y" || err == nil && n >= 1 && n <= len(q.Grants), name
	case name == "enter":
		return true, q.typed
	case name == "backspace":
		_, n := utf8.DecodeLastRuneInString(q.typed)
		q.typed = q.typed[:len(q.typed)-n]
	default:
		q.typed += text
	}
	return false, ""
}

// prompt returns the line with the answer being typed.
func (q *question) prompt() string {
	return call.Prompt(&q.Question) + output.OneLine(q.typed)
}

// beginForm empties the input for a form and keeps the message that was being typed.
func (s *screen) beginForm(f *form) {
	f.kept = s.input.Value()
	s.input.Reset()
	s.form = f
}

// formText shows text of a form. Its last line is the prompt.
func (s *screen) formText(text string) {
	if s.form == nil {
		return
	}
	lines := strings.Split(s.form.prompt+text, "\n")
	s.put(lines[:len(lines)-1])
	s.form.prompt = lines[len(lines)-1]
}

// formKey handles the keys that have a meaning in forms, and reports whether name is one of them.
func (s *screen) formKey(name string) bool {
	switch {
	case name == "enter":
		line := strings.ReplaceAll(s.input.Value(), "\n", " ")
		s.say("%s%s", s.form.prompt, output.OneLine(line))
		s.form.prompt = ""
		s.input.Reset()
		lines := s.form.lines
		s.work.Go(func() { _, _ = io.WriteString(lines, line+"\n") }) // ends when the form reads it or is closed
	case name == "esc", name == "ctrl+d" && s.input.Value() == "":
		_ = s.form.lines.Close() // end of input for the form
	default:
		return false
	}
	return true
}

// endForm restores the unfinished message from before the form.
func (s *screen) endForm(f *form) {
	if s.form != f {
		return
	}
	if s.form.prompt != "" {
		s.say("%s", s.form.prompt)
	}
	s.form = nil
	s.input.SetValue(f.kept)
}
