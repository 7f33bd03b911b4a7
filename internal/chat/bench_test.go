package chat_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/test/await"
)

// newLongSession returns a session of n messages as JSON, as Import reads it. Different seeds give different texts.
func newLongSession(n, seed int) string {
	var b strings.Builder
	b.WriteString(`{"format":"collie.session","version":1,"session":{"title":"long","config":{}},"selectedChildId":"0","messages":[`)
	words := strings.Fields("the tree has branches 会话 and messages 消息树 with text 工具 that people write about notes 笔记 and answers")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		var said []string
		for j := range 40 {
			said = append(said, words[(i*7+j*j+seed)%len(words)])
		}
		if i == n/2 {
			said = append(said, "needle 针")
		}
		fmt.Fprintf(&b, `{"id":"%d","parentId":"%d","role":%q,"status":"complete","parts":[{"type":"text","text":%q}],"selectedChildId":%q}`,
			i, i-1, []string{"user", "assistant"}[i%2], strings.Join(said, " "), map[bool]string{true: fmt.Sprint(i + 1)}[i+1 < n])
	}
	b.WriteString("]}")
	return b.String()
}

func TestLongSessionOpensSoon(t *testing.T) {
	t.Parallel()
	p := openService(t, t.TempDir(), engineThatSays("fine"))
	c, err := p.Import(t.Context(), strings.NewReader(newLongSession(5000, 0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	v := p.mustGet(c.ID)
	took := time.Since(begun)
	t.Logf("%d messages in %v", len(v.Path), took)
	if len(v.Path) != 5000 {
		t.Errorf("%d messages", len(v.Path))
	}
	await.Within(t, "opening a session of 5,000 messages", took, 5*150*time.Millisecond)
}

func BenchmarkSearch(b *testing.B) {
	p := openService(b, b.TempDir(), engineThatSays("fine"))
	for i := range 20 {
		if _, err := p.Import(b.Context(), strings.NewReader(newLongSession(5000, i)), nil); err != nil {
			b.Fatal(err)
		}
	}
	for _, query := range []string{"needle", "消息树", "笔记", "针", "not there", "没有"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Search(b.Context(), query, 50, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDelta measures how long a piece of an answer takes from the engine to a subscriber. Pieces come every 20 ms.
func BenchmarkDelta(b *testing.B) {
	told := make(chan time.Time, 1)
	p := openService(b, b.TempDir(), engineFunc(func(ctx context.Context, _ *chat.Turn, s chat.Sink) (chat.Outcome, error) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				told <- time.Now()
				s.Emit(0, llm.Event{Kind: llm.EventText, Text: "a few words "})
			case <-ctx.Done():
				return chat.Outcome{}, nil
			}
		}
	}))
	c, err := p.Create(b.Context(), chat.NewSession{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := p.Send(b.Context(), c.ID, chat.Draft{Parts: textParts("go")}, chat.TurnOptions{})
	if err != nil {
		b.Fatal(err)
	}
	sub, err := p.Subscribe(b.Context(), chat.Filter{Turn: a.Turn}, "")
	if err != nil {
		b.Fatal(err)
	}
	var sum, most time.Duration
	n := 0
	for b.Loop() {
		sent := <-told
		for text := false; !text; {
			events, err := sub.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range events {
				text = text || strings.Contains(string(e.Body), "text.delta")
			}
		}
		took := time.Since(sent)
		sum, most, n = sum+took, max(most, took), n+1
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(n), "µs/delta")
	b.ReportMetric(float64(most.Microseconds()), "µs-most")
}
