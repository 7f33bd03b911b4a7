package chat

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textarea"
	"github.com/tidwall/gjson"
)

// This file has the input history of the chat, and the undo of its input line.

// recall is the input history, like that of a shell. The zero value is ready.
type recall struct {
	lines  []string // newest last
	back   int      // position in lines, from the end; 0 is the text being typed
	typing string   // text that was being typed before going back
	older  bool     // earlier conversations were loaded
}

// add appends a message that was sent.
func (r *recall) add(text string) {
	r.back = 0
	if n := len(r.lines); n == 0 || r.lines[n-1] != text {
		r.lines = append(r.lines, text)
	}
}

// prepend inserts older lines at the beginning.
func (r *recall) prepend(lines []string) {
	r.lines = slices.Concat(slices.Compact(lines), r.lines)
}

// step moves by lines back, or forward if by is negative. shown is the current text. ok is false if there is no such
// line.
func (r *recall) step(by int, shown string) (text string, ok bool) {
	to := r.back + by
	if to < 0 || to > len(r.lines) {
		return "", false
	}
	if r.back == 0 {
		r.typing = shown
	}
	r.back = to
	if to == 0 {
		return r.typing, true
	}
	return r.lines[len(r.lines)-to], true
}

// remembered holds texts of earlier conversations, newest last.
type remembered struct{ lines []string }

// Bounds for loading earlier conversations.
const (
	olderSessions = 5
	olderLines    = 100
)

// loadEarlierTexts loads what the person said in earlier conversations.
func (k *talk) loadEarlierTexts(ctx context.Context) (lines []string) {
	list, err := k.latestSessions(ctx)
	if err != nil {
		return nil // there is no history
	}
	this := k.id()
	list = slices.DeleteFunc(list, func(c choice) bool { return c.value == this })
	for _, c := range list[:min(len(list), olderSessions)] {
		var view json.RawMessage
		if k.api.Do(ctx, http.MethodGet, "/sessions/"+url.PathEscape(c.value), nil, &view) != nil {
			continue
		}
		lines = slices.Concat(ownTexts(gjson.GetBytes(view, "path").Array()), lines)
	}
	return lines[max(len(lines)-olderLines, 0):]
}

// ownTexts returns the person's own texts among messages.
func ownTexts(path []gjson.Result) (texts []string) {
	for _, m := range path {
		if text := textOf(m); m.Get("role").String() == "user" && strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// undo is the undo stack of the input. It undoes a word or a deletion at a time. The zero value is ready.
type undo struct {
	was  []inputState
	last rune // kind of the last change
}

// inputState is the text of the input with the position of the cursor.
type inputState struct {
	text      string
	line, col int
}

// maxUndo bounds the changes that can be undone.
const maxUndo = 200

// recordChange records that a key changed the input from before to now.
func (u *undo) recordChange(before inputState, now string) {
	kind := 'i'
	switch added := len(now) - len(before.text); {
	case added < 0:
		kind = 'd'
	case added > 4: // pasted, completed or recalled
		kind = 'p'
	case added > 0 && (strings.HasSuffix(now, " ") || strings.HasSuffix(now, "\n")):
		kind = ' '
	}
	if kind != u.last || kind == 'p' || kind == ' ' {
		u.was = append(u.was, before)
		if len(u.was) > maxUndo {
			u.was = u.was[1:]
		}
	}
	u.last = kind
}

// back undoes the last change and returns the former input.
func (u *undo) back() (t inputState, ok bool) {
	if len(u.was) == 0 {
		return t, false
	}
	t = u.was[len(u.was)-1]
	u.was, u.last = u.was[:len(u.was)-1], 0
	return t, true
}

// stateOf returns the content of an input with the position of its cursor.
func stateOf(in *textarea.Model) inputState { return inputState{in.Value(), in.Line(), in.Column()} }

// put restores t in an input.
func (t inputState) put(in *textarea.Model) {
	in.SetValue(t.text)
	in.MoveToBegin()
	for range strings.Count(t.text, "") { // wrapped lines count more than once
		if in.Line() >= t.line {
			break
		}
		in.CursorDown()
	}
	in.SetCursorColumn(t.col)
}
