package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// Lines of many writers each arrive whole, once, and in the order of their writer, whether the reader is fast
// or slow and whether or not the pipe supports writing without waiting.
func TestLineQueueKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	const writers, each = 12, 60
	body := func(n, i int) string { return strings.Repeat("x", (n*each+i*7919)%(maxJoined+50_000)) }
	for _, slow := range []bool{false, true} {
		t.Run(fmt.Sprintf("slow_%t", slow), func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			q := newLineQueue(w, 0, nil)
			var wg sync.WaitGroup
			for n := range writers {
				wg.Go(func() {
					for i := range each {
						line := outgoing{head: fmt.Appendf(nil, "%d %d:", n, i)}
						if i%2 == 0 {
							line.body = []byte(body(n, i) + "\r\n")
						} else {
							line.head = append(line.head, body(n, i)+"\n "...)
						}
						if i%10 == 9 {
							q.post(line.head, mustArrive)
						} else if err := q.deliver(line); err != nil {
							t.Errorf("line %d of %d: %v", i, n, err)
						}
					}
				})
			}
			next := make([]int, writers)
			lines := bufio.NewReaderSize(r, 64<<10)
			for k := range writers * each {
				text, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("after %d lines: %v", k, err)
				}
				var n, i int
				head, rest, _ := strings.Cut(text, ":")
				if _, err := fmt.Sscan(head, &n, &i); err != nil {
					t.Fatalf("not a line of ours: %.40q", text)
				}
				want := body(n, i) + map[bool]string{true: "  }\n", false: "  \n"}[i%2 == 0]
				if i != next[n] || rest != want {
					t.Fatalf("line %d of writer %d with %d bytes, want line %d with %d", i, n, len(rest), next[n], len(want))
				}
				next[n]++
				if slow && k%200 == 0 {
					await.Moment(20 * time.Millisecond) // until the pipe is full
				}
			}
			wg.Wait()
			q.finish()
			if err := errors.Join(w.Close(), r.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Notifications do not block their sender. As many wait as there is room for, answers are written meanwhile,
// and the client is told how many were left out.
func TestLineQueueTellsWhatItLeftOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &blockedWriter{freed: make(chan struct{})}
		q := newLineQueue(s, time.Hour, nil)
		logLine := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":%q}}`, strings.Repeat("x", 1<<20))
		begun := time.Now()
		for range 12 {
			q.post(logLine, mayBeDropped)
			synctest.Wait() // the first one is being written by now
		}
		for range 100 {
			q.post([]byte(`{"changed"}`), signal)
			q.post([]byte(`{"progress"}`), progressKind)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("a client that does not read held a sender for %v", took)
		}
		answered := make(chan error, 1)
		go func() { answered <- q.deliver(outgoing{head: []byte(`{"answer"}`)}) }()
		synctest.Wait()
		close(s.freed)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		q.finish()
		got := s.got.String()
		if n := strings.Count(got, `"level":"error","data":"x`); n != 8 {
			t.Errorf("%d log messages arrived, want 8: the one being written and as many as there is room for", n)
		}
		if n := strings.Count(got, `{"changed"}`); n != 1 {
			t.Errorf("a notice that waits arrived %d times", n)
		}
		if !strings.Contains(got, `{"level":"error","logger":"collie","data":"4 messages were left out here`) {
			t.Errorf("not told what was left out: %.300q", got[max(0, len(got)-300):])
		}
	})
}

// A client that reads nothing for too long is given up. Everyone who waits gets an error, even the goroutine
// in a blocked write, if the system can end that.
func TestLineQueueGivesUpAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	broken := make(chan error, 1)
	q := newLineQueue(w, 40*time.Millisecond, func(err error) { broken <- err })
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := q.deliver(outgoing{head: make([]byte, 1<<20)}); err == nil {
				t.Error("a line that nobody read was written")
			}
		})
	}
	wg.Wait()
	if err := <-broken; !errors.Is(err, ErrNotReading) {
		t.Errorf("given up with %v", err)
	}
	if err := q.deliver(outgoing{head: []byte("{}")}); !errors.Is(err, ErrNotReading) {
		t.Errorf("afterwards: %v", err)
	}
	q.post([]byte("{}"), mayBeDropped)
	q.finish()
}

// megabyteService is a Service that answers with one megabyte of text.
type megabyteService struct{ begun chan struct{} }

func (megabyteService) Hello(context.Context, *Peer) Hello {
	return Hello{Info: json.RawMessage("{}"), Capabilities: json.RawMessage("{}")}
}

func (s megabyteService) Handle(context.Context, *Incoming) (json.RawMessage, error) {
	s.begun <- struct{}{}
	return append(append([]byte(`{"t":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...), nil
}
func (megabyteService) Notified(*Peer, Message) {}
func (megabyteService) Opened(*Peer)            {}
func (megabyteService) Closed(*Peer)            {}

// A session whose client does not read ends with an error that says so. Until then requests are begun only
// while few answers wait; pings and cancellations are handled meanwhile.
func TestServeStreamEndsWithAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		answers, out := io.Pipe()
		svc := megabyteService{begun: make(chan struct{}, 1000)}
		lines := NewLines(in, out, 0, func() error { _ = out.Close(); return in.Close() })
		ended := make(chan error, 1)
		go func() { ended <- ServeStream(t.Context(), lines, svc, &StreamOptions{Stall: time.Minute}) }()
		say := func(format string, args ...any) {
			if _, err := fmt.Fprintf(client, format+"\n", args...); err != nil {
				t.Error(err)
			}
		}
		say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		reader := bufio.NewReader(answers)
		if _, err := reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for n := range 100 {
			say(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, n+1)
			synctest.Wait()
		}
		if n := len(svc.begun); n < maxBacklog>>20 || n > maxBacklog>>20+3 {
			t.Errorf("%d requests were begun for a client that reads nothing, want as many as fill %d MiB", n, maxBacklog>>20)
		}
		say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
		if err := <-ended; !errors.Is(err, ErrNotReading) {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(begun); took < time.Minute || took > 2*time.Minute {
			t.Errorf("ended after %v", took)
		}
		_ = client.Close()
		_ = answers.Close()
	})
}

// A client that reads slowly gets every answer.
func TestServeStreamWaitsForASlowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 30
		in, client := io.Pipe()
		answers, out := io.Pipe()
		svc := megabyteService{begun: make(chan struct{}, 1000)}
		ended := make(chan error, 1)
		go func() {
			ended <- ServeStream(t.Context(), NewLines(in, out, 0, in.Close), svc, &StreamOptions{Stall: time.Minute})
			_ = out.Close()
		}()
		go func() {
			for n := range count {
				_, _ = fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`+"\n", -n)
				_, _ = fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"x"}`+"\n", n+1)
			}
			_ = client.Close()
		}()
		reader := bufio.NewReaderSize(answers, 1<<20)
		got := 0
		for {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				break
			}
			if len(line) < 1<<20 {
				continue
			}
			if got++; got%10 == 0 {
				await.Sleep(40 * time.Second)
			}
		}
		if err := <-ended; err != nil || got != count {
			t.Errorf("%d of %d answers, %v", got, count, err)
		}
	})
}

// Requests that a client sent before it closed its input are answered as long as it reads, however slowly.
// Waiting for the client does not count against the time limit.
func TestServeStreamEndsWhenAllIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 40
		in, client := io.Pipe()
		answers, out := io.Pipe()
		svc := megabyteService{begun: make(chan struct{}, 1000)}
		ended := make(chan error, 1)
		go func() {
			ended <- ServeStream(t.Context(), NewLines(in, out, 0, in.Close), svc, &StreamOptions{Stall: time.Minute, Drain: time.Second})
			_ = out.Close()
		}()
		_, _ = fmt.Fprintln(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		reader := bufio.NewReaderSize(answers, 1<<20)
		if _, err := reader.ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
		for n := range count {
			_, _ = fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"x"}`+"\n", n+1)
			synctest.Wait() // some answers are waiting to be read, and the last requests wait for them
		}
		_ = client.Close()
		got := 0
		for {
			await.Sleep(10 * time.Second)
			line, err := reader.ReadBytes('\n')
			if err != nil {
				break
			}
			if len(line) < 1<<20 {
				t.Errorf("answered with %.200s", line)
			}
			got++
		}
		if err := <-ended; err != nil || got != count {
			t.Errorf("%d of %d answers, %v", got, count, err)
		}
	})
}
