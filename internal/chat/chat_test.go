package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
	"collie/test/await"
)

// engineFunc is an engine made of one function.
type engineFunc func(ctx context.Context, t *chat.Turn, s chat.Sink) (chat.Outcome, error)

func (e engineFunc) Run(ctx context.Context, t *chat.Turn, s chat.Sink) (chat.Outcome, error) {
	return e(ctx, t, s)
}

// engineThatSays returns an engine that answers with texts, one event for each.
func engineThatSays(texts ...string) engineFunc {
	return func(_ context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		for _, text := range texts {
			s.Emit(0, llm.Event{Kind: llm.EventText, Text: text})
		}
		return chat.Outcome{Finish: llm.FinishStop, Steps: 1}, nil
	}
}

// testService is a service with the database in a folder. Its methods fail the test where the service returns an error.
type testService struct {
	*chat.Service
	t     testing.TB
	dir   string
	store *store.Store
}

func openService(t testing.TB, dir string, e chat.Engine) *testService {
	t.Helper()
	s, err := store.Open(t.Context(), dir, chat.Schema())
	if err != nil {
		t.Fatal(err)
	}
	service, err := chat.Open(t.Context(), s, chat.Options{
		Engine: func(context.Context, chat.Config, []llm.Part) (string, chat.Engine, error) { return "script", e, nil },
		Redact: func(_ string, args json.RawMessage) json.RawMessage {
			return json.RawMessage(strings.ReplaceAll(string(args), "s3cret", "•••"))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &testService{Service: service, t: t, dir: dir, store: s}
	t.Cleanup(p.closeNow)
	return p
}

// closeNow closes the service without waiting for its turns. It is safe to call twice.
func (p *testService) closeNow() {
	now, stop := context.WithCancel(context.Background())
	stop()
	if err := errors.Join(p.Close(now), p.store.Close()); err != nil {
		p.t.Error(err)
	}
}

func (p *testService) createSession() string {
	p.t.Helper()
	c, err := p.Create(p.t.Context(), chat.NewSession{})
	if err != nil {
		p.t.Fatal(err)
	}
	return c.ID
}

func textParts(s string) []llm.Part { return []llm.Part{{Kind: llm.PartText, Text: s}} }

func (p *testService) mustGet(session string) chat.View {
	p.t.Helper()
	v, err := p.Get(p.t.Context(), session)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// lastMessage returns the id of the last message of the active path, or of the root.
func (p *testService) lastMessage(session string) string {
	p.t.Helper()
	v := p.mustGet(session)
	if len(v.Path) == 0 {
		return v.Root
	}
	return v.Path[len(v.Path)-1].ID
}

func (p *testService) mustSend(session, what string) chat.Accepted {
	p.t.Helper()
	a, err := p.Send(p.t.Context(), session, chat.Draft{Parent: p.lastMessage(session), Parts: textParts(what)}, chat.TurnOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// awaitEnd waits for the end of a turn.
func (p *testService) awaitEnd(turn string) chat.Snapshot {
	p.t.Helper()
	var s chat.Snapshot
	await.Until(p.t, "the end of a turn", func() bool {
		var err error
		if s, err = p.Turn(p.t.Context(), turn); err != nil {
			p.t.Fatal(err)
		}
		return s.State.Ended()
	})
	return s
}

// pathText returns the active path as text: role, status and content, a line for each message.
func pathText(v chat.View) string {
	var b strings.Builder
	for _, m := range v.Path {
		fmt.Fprintf(&b, "%s(%s):", m.Role, m.Status)
		for _, part := range m.Parts {
			fmt.Fprintf(&b, " %s%s", part.Text, part.Args)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestSendIsAnswered(t *testing.T) {
	t.Parallel()
	p := openService(t, t.TempDir(), engineThatSays("Hello", " there"))
	session := p.createSession()
	sub, err := p.Subscribe(t.Context(), chat.Filter{Sessions: []string{session}}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	a, err := p.Send(t.Context(), session, chat.Draft{Parts: textParts("Hi\nyou")}, chat.TurnOptions{TurnID: "t-1"})
	if err != nil {
		t.Fatal(err)
	}
	end := p.awaitEnd(a.Turn)
	if end.State != chat.TurnDone || end.Finish != "stop" {
		t.Errorf("it ended %+v", end)
	}
	again, err := p.Send(t.Context(), session, chat.Draft{Parts: textParts("Hi\nyou")}, chat.TurnOptions{TurnID: "t-1"})
	if err != nil || again.Answer != a.Answer {
		t.Errorf("sent again: %+v, %v", again, err)
	}
	v := p.mustGet(session)
	if got := pathText(v); got != "user(complete): Hi\nyou\nassistant(complete): Hello there\n" || v.Title != "Hi" {
		t.Errorf("%q:\n%s", v.Title, got)
	}
	if got := readUntilEnd(t, sub, a.Turn); got.text != "Hello there" || got.state != chat.TurnDone {
		t.Errorf("the stream said %+v", got)
	}
}

// clientState is the state of a turn that a client computes from its events.
type clientState struct {
	text  string
	seq   int64
	state chat.TurnState
	last  string // id
}

// apply changes the state as an event says, and fails the test if an event is missing before it.
func (f *clientState) apply(t *testing.T, e *chat.Event) {
	t.Helper()
	if e.ID != "" {
		f.last = e.ID
	}
	if e.Kind != chat.EventTurn {
		return
	}
	var body chat.TurnEvent
	if err := json.Unmarshal(e.Body, &body); err != nil {
		t.Fatal(err)
	}
	if body.Type != "snapshot" && body.Seq != f.seq+1 {
		t.Errorf("after %d comes %d, %s", f.seq, body.Seq, body.Type)
	}
	f.seq = body.Seq
	switch body.Type {
	case "snapshot":
		var s chat.Snapshot
		if err := json.Unmarshal(body.Data, &s); err != nil {
			t.Fatal(err)
		}
		f.text = ""
		for _, part := range s.Parts {
			f.text += part.Text
		}
	case "text.delta":
		var d struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(body.Data, &d); err != nil {
			t.Fatal(err)
		}
		f.text += d.Text
	case "turn.end":
		var d struct {
			State chat.TurnState `json:"state"`
		}
		if err := json.Unmarshal(body.Data, &d); err != nil {
			t.Fatal(err)
		}
		f.state = d.State
	}
}

// readUntilEnd reads a stream until the turn ends, and returns its state.
func readUntilEnd(t *testing.T, sub *chat.Subscription, turn string) (f clientState) {
	t.Helper()
	f.applyUntilEnd(t, sub, turn)
	return f
}

// applyUntilEnd applies the events of a stream until the turn ends.
func (f *clientState) applyUntilEnd(t *testing.T, sub *chat.Subscription, turn string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	for f.state == "" {
		events, err := sub.Next(ctx)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind != chat.EventTurn || strings.Contains(string(e.Body), turn) {
				f.apply(t, e)
			}
		}
	}
}

func kindOf(err error) tool.ErrorKind {
	if err == nil {
		return ""
	}
	return tool.KindOf(err)
}

// countedBody counts how often it is encoded as JSON.
type countedBody struct{ times *int }

func (c countedBody) MarshalJSON() ([]byte, error) {
	*c.times++
	return []byte(`{"a":1}`), nil
}

// An event outside of turns is not encoded while nobody subscribes, and a client that comes back still gets it.
func TestWhatNobodyTakesIsNotEncoded(t *testing.T) {
	t.Parallel()
	p := openService(t, t.TempDir(), engineThatSays("fine"))
	listen := func(kind, after string) *chat.Subscription {
		sub, err := p.Subscribe(t.Context(), chat.Filter{Kinds: []string{kind}}, after)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sub.Close)
		return sub
	}
	next := func(sub *chat.Subscription) *chat.Event {
		events, err := sub.Next(t.Context())
		if err != nil || len(events) != 1 {
			t.Fatalf("%v, %v", events, err)
		}
		return events[0]
	}
	other, gone := listen("other", ""), listen("thing", "")
	next(other)
	last := next(gone).ID
	gone.Close()
	times := 0
	p.Publish("thing", "", "", countedBody{&times})
	if times != 0 {
		t.Errorf("encoded %d times for nobody", times)
	}
	back, again := listen("thing", last), listen("thing", last)
	for _, sub := range []*chat.Subscription{back, again} {
		if e := next(sub); e.Kind != "thing" || string(e.Body) != `{"a":1}` {
			t.Errorf("missed: %s %s", e.Kind, e.Body)
		}
	}
	p.Publish("thing", "", "", countedBody{&times})
	next(back)
	next(again)
	if times != 2 {
		t.Errorf("two events were encoded %d times for two clients", times)
	}
}
