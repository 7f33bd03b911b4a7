package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/face/web"
	"collie/internal/tool"
)

// readEvents reads events of a stream over HTTP until stop returns true for one, then hangs up. It returns their kinds and bodies,
// a line each, and the last id.
func readEvents(t *testing.T, url, after string, stop func(kind, body string) bool) (lines []string, last string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	kind := ""
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		name, value, _ := strings.Cut(in.Text(), ": ")
		switch name {
		case "id":
			last = value
		case "event":
			kind = value
		case "data":
			lines = append(lines, kind+" "+value)
			if stop(kind, value) {
				return lines, last
			}
		}
	}
	t.Fatalf("the stream ended after %q", lines)
	return nil, ""
}

// serveEvents serves the API of conversations over HTTP, for a token that sees only the tools that tools returns.
func serveEvents(t *testing.T, tools func() []tool.Tool) (*chat.Service, string) {
	t.Helper()
	service := newChatService(t)
	srv := httptest.NewServer(web.New(web.Options{
		Chat:     func(context.Context) (*chat.Service, error) { return service, nil },
		Tools:    func(string) []tool.Tool { return tools() },
		Identify: func(*http.Request) web.Identity { return web.Identity{Principal: "me", Origin: tool.MCPLocal} },
	}))
	t.Cleanup(srv.Close)
	return service, srv.URL + "/api/v1/events"
}

// A client that reconnects with its last event id gets the same events as one that stays connected. If the id is too old, from
// another run or invalid, the stream begins with a reset.
func TestEventsGoOnWhereTheyStopped(t *testing.T) {
	t.Parallel()
	s, url := serveEvents(t, func() []tool.Tool { return nil })
	_, start := readEvents(t, url, "", func(kind, _ string) bool { return kind == "reset" })
	const most = 40
	for i := range most {
		s.Publish("catalog", "", "", map[string]int{"n": i})
	}
	isLast := func(_, body string) bool { return gjson.Get(body, "n").Int() == most-1 }
	run, _, _ := strings.Cut(start, ":")
	whole, _ := readEvents(t, url, start, isLast)
	if len(whole) != most {
		t.Fatalf("%d events: %q", len(whole), whole)
	}
	var pieces []string
	for at := start; len(pieces) < most; {
		const pieceSize = 7 // so that the last piece is a shorter one
		n := 0
		var part []string
		part, at = readEvents(t, url, at, func(_, body string) bool { n++; return n == pieceSize || isLast("", body) })
		pieces = append(pieces, part...)
	}
	if got, want := strings.Join(pieces, "\n"), strings.Join(whole, "\n"); got != want {
		t.Errorf("in pieces:\n%s\nin one:\n%s", got, want)
	}
	const tooMany = 5000 // more events than are kept
	for range tooMany {
		s.Publish("catalog", "", "", nil)
	}
	for _, old := range []string{run + ":1", "another:1", "x"} {
		if lines, _ := readEvents(t, url, old, func(string, string) bool { return true }); lines[0] != "reset {}" {
			t.Errorf("after %s comes %q", old, lines)
		}
	}
}

// A token gets events only about calls and servers of the tools that its profile shows.
func TestEventsOfHiddenToolsStayHidden(t *testing.T) {
	t.Parallel()
	s, url := serveEvents(t, func() []tool.Tool {
		return []tool.Tool{
			{Name: "fs", Actions: []tool.Action{{Name: "read"}, {Name: "rm", Off: "switched off"}}},
			{Name: "off", Off: "switched off", Actions: []tool.Action{{Name: "x"}}},
		}
	})
	_, id := readEvents(t, url, "", func(kind, _ string) bool { return kind == "reset" })
	for _, about := range []string{"secret.steal", "fs.read", "fs.rm", "off.x", "off", "fs", "secret", ""} {
		s.Publish("call.started", "", about, map[string]string{"tool": about})
	}
	lines, _ := readEvents(t, url, id, func(_, body string) bool { return gjson.Get(body, "tool").String() == "" })
	if got := strings.Join(lines, ","); got != `call.started {"tool":"fs.read"},call.started {"tool":"fs"},call.started {"tool":""}` {
		t.Errorf("events: %s", got)
	}
}
