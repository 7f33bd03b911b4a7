package pressure_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/gateway"
)

// limit is how long a client waits for everything that it expects.
const limit = await.Limit

// pace says how fast a client reads.
type pace struct {
	name  string
	rate  int           // bytes per second; 0 means no limit
	pause time.Duration // one pause after the first bytes of the first answer
}

// slowReader reads at a pace.
type slowReader struct {
	r     io.Reader
	p     pace
	begun time.Time
	read  int
}

// Read waits until the bytes that it returns are due.
func (s *slowReader) Read(b []byte) (int, error) {
	const step = 64 << 10
	n, err := s.r.Read(b[:min(len(b), step)])
	if s.begun.IsZero() {
		s.begun = time.Now()
	}
	s.read += n
	if s.p.pause > 0 && s.read > 4*step {
		await.Moment(s.p.pause)
		s.p.pause = 0
		s.begun, s.read = time.Now(), 0
	}
	if s.p.rate > 0 {
		await.Moment(time.Until(s.begun.Add(time.Duration(float64(s.read) / float64(s.p.rate) * float64(time.Second)))))
	}
	return n, err
}

// received is what a client has received.
type received struct {
	results  map[int64]int // length of each result by request id
	errors   []string
	logs     int
	omission string // what Collie says if it has left out log messages
}

// read records one message.
func (h *received) read(line []byte) {
	m := gjson.ParseBytes(line)
	switch {
	case m.Get("method").String() == "notifications/message":
		if m.Get("params.logger").String() == "collie" {
			h.omission = m.Get("params.data").String()
			return
		}
		h.logs++
	case m.Get("result.isError").Bool(), m.Get("error").Exists():
		h.errors = append(h.errors, fmt.Sprintf("%.200s", line))
	case m.Get("result").Exists():
		h.results[m.Get("id").Int()] = len(m.Get("result").Raw)
	}
}

// initializeRequest is the initialize request of a client.
const initializeRequest = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"slow","version":"1"}}}`

// callRequest returns a request that calls a tool of the server f.
func callRequest(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"f__%s","arguments":%s}}`, id, tool, args)
}

// exchangeOverPipes sends all requests at once over the pipes of `collie stdio`, with servers of its own (local) or as a
// bridge. It reads at a pace until all are answered and the given number of log messages has come, and returns what
// it received.
func exchangeOverPipes(t *testing.T, p gateway.Programs, home, settings string, local bool, at pace, logs int, requests ...string) *received {
	t.Helper()
	open := p.StartStdio
	if local {
		open = p.StartLocalStdio
	}
	run := open(t, home, settings)
	late := time.AfterFunc(limit, func() { _ = run.Stdout.Close() })
	defer late.Stop()
	h := &received{results: map[int64]int{}}
	lines := bufio.NewReaderSize(run.Stdout, 64<<10)
	write := func(texts ...string) {
		if _, err := io.WriteString(run.Stdin, strings.Join(texts, "\n")+"\n"); err != nil {
			t.Errorf("write: %v\n%s", err, run.Stderr())
		}
	}
	next := func(r *bufio.Reader) {
		line, err := r.ReadBytes('\n')
		if err != nil {
			t.Fatalf("after %d answers, %d errors and %d log messages: %v\n%s", len(h.results), len(h.errors), h.logs, err, run.Stderr())
		}
		h.read(line)
	}
	write(initializeRequest)
	for len(h.results) == 0 {
		next(lines)
	}
	write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":-1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	for len(h.results) < 2 {
		next(lines)
	}
	slow := bufio.NewReaderSize(&slowReader{r: lines, p: at}, 64<<10)
	written := make(chan struct{})
	go func() { // ends when all is written, or the program has ended
		defer close(written)
		write(requests...)
	}()
	for len(h.results)+len(h.errors) < len(requests)+2 || h.logs < logs && h.omission == "" {
		next(slow)
	}
	<-written
	delete(h.results, 0)
	delete(h.results, -1)
	return h
}

// webSession is a legacy session over HTTP.
type webSession struct {
	t     *testing.T
	url   string
	token string
	id    string
	http  *http.Client
}

// openWebSession opens a session whose server sends log messages of every level.
func openWebSession(t *testing.T, g *gateway.Gateway) *webSession {
	t.Helper()
	token, _, _ := g.Keys(t)
	s := &webSession{t: t, url: g.URL + "/mcp", token: token, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 300}}}
	t.Cleanup(s.http.CloseIdleConnections)
	resp, err := s.send(t.Context(), http.MethodPost, initializeRequest)
	if err != nil {
		t.Fatal(err)
	}
	s.id = resp.Header.Get("Mcp-Session-Id")
	if err := s.drain(resp); err != nil || s.id == "" {
		t.Fatalf("no session: status %d, %v", resp.StatusCode, err)
	}
	for _, text := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":-1,"method":"logging/setLevel","params":{"level":"debug"}}`,
	} {
		resp, err := s.send(t.Context(), http.MethodPost, text)
		if err == nil {
			err = s.drain(resp)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// drain reads an answer to its end.
func (s *webSession) drain(resp *http.Response) error {
	_, err := io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return err
}

// send sends a request in the session.
func (s *webSession) send(ctx context.Context, method, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if s.id != "" {
		req.Header.Set("Mcp-Session-Id", s.id)
	}
	return s.http.Do(req)
}

// read reads an answer at a pace until it ends or take returns true.
func (s *webSession) read(resp *http.Response, at pace, take func(message []byte) (stop bool)) error {
	defer resp.Body.Close()
	r := bufio.NewReaderSize(&slowReader{r: resp.Body, p: at}, 64<<10)
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(r)
		if err == nil {
			take(raw)
		}
		return err
	}
	for {
		line, err := r.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && len(bytes.TrimSpace(data)) > 0 && take(data) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
