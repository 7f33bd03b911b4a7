package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/call"
	"collie/internal/face/cli/chat/markdown"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file shows an answer on the full screen while it is being written, with its tool calls and its cost.

// turn is an answer that is being written or is queued.
type turn struct {
	cancel  context.CancelFunc
	since   time.Time // time of its first event; zero before
	stopped bool      // cancelled by the person
}

// stop cancels the turn.
func (t *turn) stop() {
	t.stopped = true
	t.cancel()
}

// card is a tool call without a result. It is shown below the answer.
type card struct {
	id, title, args, state string
	raw                    string // arguments as they were sent
	asked                  bool   // a question has shown them
	since                  time.Time
}

// send sends a message. Its events arrive as messages to the event loop. If the turn cannot begin, nothing is stored and
// the text returns to the input.
func (s *screen) send(m message) {
	ctx, cancel := context.WithCancel(s.ctx)
	if len(s.turns) > 0 && !m.steer {
		s.say("%s", s.Dim(locale.T("it waits until the answer is finished; /steer TEXT tells the model at once")))
	}
	t := &turn{cancel: cancel}
	s.turns = append(s.turns, t)
	s.running.Add(1)
	s.work.Go(func() { // ends with the turn or with ctx
		defer cancel()
		defer s.running.Add(-1)
		e := ended{of: t, said: m}
		e.turn, e.err = s.answer(ctx, m, s.asker, func(text string) { s.program.Send(notice{"! " + text}) }, func(body json.RawMessage) {
			e.began = true
			s.program.Send(event{t, body})
		})
		s.program.Send(e)
	})
}

// event handles an event of a turn.
func (s *screen) event(e gjson.Result) {
	d := e.Get("data")
	kind := e.Get("type").String()
	if kind == "reasoning.delta" && s.thinking.IsZero() {
		s.thinking = time.Now()
	} else if kind != "reasoning.delta" && !s.thinking.IsZero() {
		s.showReasoningTime()
	}
	switch kind {
	case "text.delta":
		if part := d.Get("partIndex").Int(); part != s.part {
			s.flush()
			s.part = part
		}
		s.text += output.Harmless(d.Get("text").String())
		if at := markdown.Split(s.text); at > 0 {
			s.block(s.text[:at])
			s.text = s.text[at:]
		}
	case "tool.proposed":
		if d.Get("partial").Bool() {
			return
		}
		s.flush()
		c := &card{id: d.Get("callId").String(), state: locale.T("waits"), raw: d.Get("args").String(), since: time.Now()}
		c.title, c.args = conversation.CallTitle(d.Get("name").String(), d.Get("args").String())
		s.cards = append(s.cards, c)
	case "tool.start", "tool.asking":
		if c := s.card(d); c != nil {
			c.state = map[bool]string{true: locale.T("runs"), false: locale.T("asks you")}[kind == "tool.start"]
			c.asked = c.asked || kind == "tool.asking"
		}
	case "tool.result":
		c := s.card(d)
		if c == nil {
			return
		}
		s.cards = slices.DeleteFunc(s.cards, func(o *card) bool { return o == c })
		mark := "✓"
		if !d.Get("ok").Bool() {
			mark = "✗"
		}
		s.say("%s %s  %s", s.Painter(s.Out).Mark(mark), s.bold(c.title), formatMillis(d.Get("durationMs").Int()))
		if changes := call.ArgumentLines(c.raw, maxCardLines); changes != nil && !c.asked {
			for _, line := range changes {
				s.lines = append(s.lines, s.argument(line)...)
			}
		} else {
			s.say("  %s", output.Truncate(c.args, max(s.width-2, 1)))
		}
		s.say("  %s", output.Truncate(conversation.ResultLine(d.Get("preview").String()), max(s.width-2, 1)))
	case "usage":
		s.updateContextUse(d)
	case "turn.start":
		if d.Get("ownTools").Bool() {
			s.say("! %s", conversation.OwnTools(d.Get("agent").String()))
		}
	case "notice":
		s.flush()
		s.say("! %s", conversation.NoticeText(d))
	case "steer":
		s.flush()
		s.say("%s", s.Dim(locale.Sprintf("the model was told: %s", output.OneLine(d.Get("text").String()))))
	case "retry":
		s.say("! %s", conversation.RetryText(d))
	}
}

// ended handles the end of a turn: it shows the cost or the error.
func (s *screen) ended(e ended) {
	s.flush()
	s.cards, s.thinking = nil, time.Time{}
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t == e.of })
	s.escaped = false
	s.ring()
	err := e.err
	if err != nil && !e.began && s.input.Value() == "" {
		s.input.SetValue(e.said.text)
		s.setEditing(e.said.edits)
	}
	if err == nil {
		if err = conversation.EndError(e.turn); err != nil && e.of.stopped {
			s.say("%s", s.Dim(locale.T("stopped")))
			err = nil
		}
		t := gjson.ParseBytes(e.turn)
		s.recordModel(t.Get("provider").String(), t.Get("model").String())
		if t.Get("usage.input").Int() > 0 {
			s.say("%s", s.Dim(cost(t)+" · "+time.Since(e.of.since).Round(100*time.Millisecond).String()))
		}
	}
	if err != nil {
		s.fail(conversation.NoModel(s.ctx, s.Program, s.flags.model, err))
	}
}

// updateContextUse updates how full the model's context is.
func (s *screen) updateContextUse(d gjson.Result) {
	if used := d.Get("contextUsed").Int(); used > 0 {
		s.context, s.window, s.contextOf = used, d.Get("contextSize").Int(), s.id()
	}
}

// ring rings the bell if the window does not have the focus.
func (s *screen) ring() {
	if s.unseen {
		_, _ = io.WriteString(s.Out, "\a") // an error does not matter
	}
}

// showReasoningTime shows how long the model was reasoning, if that was noticeable.
func (s *screen) showReasoningTime() {
	if took := elapsed(s.thinking); took != "0s" {
		s.say("%s", s.Dim(locale.Sprintf("thought for %s", took)))
	}
	s.thinking = time.Time{}
}

// elapsed returns the time since since, in whole seconds.
func elapsed(since time.Time) string { return time.Since(since).Truncate(time.Second).String() }

// formatMillis formats a number of milliseconds.
func formatMillis(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// maxCardLines bounds the lines that are shown of the arguments of a call that needed no confirmation.
const maxCardLines = 12

// card returns the card of the call that the data of an event names, or nil.
func (s *screen) card(d gjson.Result) *card {
	for _, c := range s.cards {
		if c.id == d.Get("callId").String() {
			return c
		}
	}
	return nil
}

// cost describes the model, tokens and cost of a turn.
func cost(turn gjson.Result) string {
	text := locale.Sprintf("%s tokens in, %s out", turn.Get("usage.input").String(), turn.Get("usage.output").String())
	if model := turn.Get("model").String(); model != "" {
		text = output.OneLine(model) + " · " + text
	}
	if micros := turn.Get("costMicros").Int(); micros > 0 {
		text += fmt.Sprintf(" · $%.4f", float64(micros)/1e6)
	}
	return text
}
