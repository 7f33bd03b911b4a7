package chat

import (
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/llm"
)

// The events of text that deltaEvent writes without encoding/json are equal to encoded ones.
func TestPiecesHaveTheFormOfEvents(t *testing.T) {
	t.Parallel()
	l := &liveTurn{
		s: &Service{hub: newHub()}, turn: &Turn{ID: "a-turn", Session: "a \"session\""}, seq: 7, waitingFor: 3,
		waiting: []byte("<b>\"quoted\" & \\ \n\t\x00\u2028 笔记 🐕</b>"),
	}
	data := struct {
		Part int    `json:"partIndex"`
		Text string `json:"text"`
	}{3, string(l.waiting)}
	want := encode(turnBody{V: 1, Seq: 7, Turn: l.turn.ID, Session: l.turn.Session, TS: 1234, Type: "text.delta", Data: data})
	if got := l.deltaEvent("text.delta", 1234); string(got.Body) != string(want) || got.turn != l.turn.ID || got.Session != l.turn.Session {
		t.Errorf("got %s, want %s", got.Body, want)
	}
}

// TestPiecesGoAtOnce adds pieces of text at given times and counts how many are published at once.
func TestPiecesGoAtOnce(t *testing.T) {
	t.Parallel()
	every := func(pace time.Duration, n int) (at []time.Duration) {
		for i := range n {
			at = append(at, pace*time.Duration(i))
		}
		return at
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		at          []time.Duration
		least, most int // how many of them are published at once
	}{
		"far apart":                     {every(20*ms, 50), 50, 50},
		"one late and the next in time": {[]time.Duration{0, 20 * ms, 55 * ms, 60 * ms, 80 * ms, 100 * ms}, 6, 6},
		"three late with the next":      {[]time.Duration{0, 20 * ms, 100 * ms, 100 * ms, 100 * ms, 101 * ms, 120 * ms, 140 * ms}, 8, 8},
		"many soon after each other":    {every(ms, 160), 10, 14},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHub()
				l := &liveTurn{s: &Service{hub: h}, turn: &Turn{}, parts: []*livePart{{part: llm.Part{Kind: llm.PartText}}}}
				begun := time.Now()
				for _, at := range c.at {
					<-time.After(time.Until(begun.Add(at)))
					h.mu.Lock()
					l.publishText(0, "a")
					h.mu.Unlock()
				}
				h.mu.Lock()
				n := len(h.ring)
				h.mu.Unlock()
				if n < c.least || n > c.most {
					t.Errorf("%d of %d pieces were told at once, want %d to %d", n, len(c.at), c.least, c.most)
				}
				<-time.After(quiet)
				synctest.Wait()
				h.mu.Lock()
				defer h.mu.Unlock()
				if len(l.waiting) > 0 {
					t.Errorf("%d bytes still wait", len(l.waiting))
				}
			})
		})
	}
}
