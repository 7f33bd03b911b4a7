package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// defaultChunk is the default number of characters in a piece of a stream.
const defaultChunk = 16

// resultsPlaceholder stands for the results of the preceding calls in the text of a turn.
const resultsPlaceholder = "$RESULTS"

// answer is a turn prepared for one request.
type answer struct {
	id    string // unique within a conversation
	think string
	say   string
	calls []resolvedCall
	stop  string
	usage Usage
	chunk int
	pace  time.Duration
	until <-chan struct{} // as in [Turn]
	split int
	raw   *Raw
}

// resolvedCall is a call with the tool name that the client uses.
type resolvedCall struct {
	id        string
	namespace string
	name      string
	args      string
}

func newAnswer(r *Request, t Turn, calls []resolvedCall) answer {
	a := answer{
		id: fmt.Sprint(len(r.Messages)), think: t.Think, say: r.fillPlaceholders(t.Say), calls: calls, stop: t.Stop,
		chunk: t.Chunk, pace: time.Duration(t.Pace), until: t.Until, split: t.Split, raw: t.Raw,
	}
	if a.chunk <= 0 {
		a.chunk = defaultChunk
	}
	if t.Usage != nil {
		a.usage = *t.Usage
		return a
	}
	var text strings.Builder
	text.WriteString(a.think + a.say)
	for _, c := range calls {
		text.WriteString(c.name + c.args)
	}
	a.usage = Usage{Input: tokens(string(r.Body)), Output: tokens(text.String())}
	return a
}

// fillPlaceholders inserts the latest results of tools into text.
func (r *Request) fillPlaceholders(text string) string {
	if !strings.Contains(text, resultsPlaceholder) || len(r.Messages) == 0 {
		return text
	}
	var given []string
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == Model {
			break
		}
		for _, res := range slices.Backward(m.Results) {
			given = append(given, res.plain())
		}
	}
	slices.Reverse(given)
	return strings.ReplaceAll(text, resultsPlaceholder, strings.Join(given, "\n"))
}

// plain returns the text of a result, without the object that Gemini wraps it in.
func (r Result) plain() string {
	var around struct {
		Output, Error *string
	}
	switch _ = json.Unmarshal([]byte(r.Text), &around); {
	case around.Output != nil:
		return *around.Output
	case around.Error != nil:
		return *around.Error
	}
	return r.Text
}

// resolve finds the tools that the script calls.
func (r *Request) resolve(calls []Call) (made []resolvedCall, err error) {
	for i, c := range calls {
		tool, err := r.find(c.Tool)
		if err != nil {
			return nil, err
		}
		made = append(made, resolvedCall{
			id:        fmt.Sprintf("call_%d_%d", len(r.Messages), i+1),
			namespace: tool.Namespace, name: tool.Name, args: orDefault(c.Raw, orDefault(string(c.Args), "{}")),
		})
	}
	return made, nil
}

// reason returns one of its arguments, depending on why the answer ends.
func (a answer) reason(done, calls, length, filter string) string {
	switch {
	case a.stop == StopLength:
		return length
	case a.stop == StopFilter:
		return filter
	case len(a.calls) > 0:
		return calls
	}
	return done
}

// object returns the arguments as a JSON object, for APIs that expect one.
func (c resolvedCall) object() json.RawMessage {
	if !json.Valid([]byte(c.args)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(c.args)
}

// pieces splits text into pieces for a stream; none for an empty text.
func (a answer) pieces(text string) (pieces []string) {
	for text != "" {
		end := 0
		for range a.chunk {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		pieces = append(pieces, text[:end])
		text = text[end:]
	}
	return pieces
}

// tokens returns a rough estimate.
func tokens(text string) int { return (len(text) + 3) / 4 }
