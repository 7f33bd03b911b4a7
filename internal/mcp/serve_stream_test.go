package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
	"collie/test/await"
)

// lineClient is a client of ServeStream that writes and reads lines itself, with the service that answers it.
type lineClient struct {
	*farEnd
	service *scriptedService
	input   *io.PipeWriter
	served  chan error
}

// startLineClient starts ServeStream with a scripted service, which serves until ctx or the input ends.
func startLineClient(t *testing.T, ctx context.Context, opts *mcp.StreamOptions, maxFrame int) *lineClient {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	l := &lineClient{service: newScriptedService(), input: fromClient, served: make(chan error, 1)}
	l.farEnd = &farEnd{t: t, in: mcp.NewLines(toClient, fromClient, 0, toClient.Close), read: make(chan mcp.Message, 999)}
	go func() {
		l.served <- mcp.ServeStream(ctx, mcp.NewLines(toServer, fromServer, maxFrame, toServer.Close), l.service, opts)
		_ = fromServer.Close()
	}()
	go func() {
		defer close(l.read)
		for {
			m, err := l.in.Read()
			if err != nil {
				return
			}
			l.read <- m
		}
	}()
	t.Cleanup(func() {
		_ = fromClient.Close()
		for range l.read { // lines that no test has read, to the end
		}
	})
	return l
}

// closeInputAndWait ends the input and waits until the server has ended, which must be without an error.
func (l *lineClient) closeInputAndWait() {
	l.t.Helper()
	_ = l.input.Close()
	if err := <-l.served; err != nil {
		l.t.Errorf("served until %v", err)
	}
}

const initializeMessage = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{},"x":1.0},"clientInfo":{"name":"t","version":"1"}}}`

// initialize does the legacy handshake.
func (l *lineClient) initialize() {
	l.t.Helper()
	l.writeLine(initializeMessage)
	if m := l.next(); m.Error != nil {
		l.t.Fatalf("initialize: %s", m.Error)
	}
	l.writeLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// wantAnswer sends a message and compares the whole answer.
func (l *lineClient) wantAnswer(in, want string) {
	l.t.Helper()
	l.writeLine("%s", in)
	if got := string(l.next().Raw); got != want {
		l.t.Errorf("to %s\n got %s\nwant %s", in, got, want)
	}
}

func TestServeStreamHandshake(t *testing.T) {
	t.Parallel()
	for asked, agreed := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "nonsense": "2025-11-25",
	} {
		l := startLineClient(t, t.Context(), &mcp.StreamOptions{Key: "key"}, 0)
		l.wantAnswer(strings.Replace(initializeMessage, "2025-06-18", asked, 1), `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+agreed+
			`","capabilities":{"tools":{"listChanged":true},"x-vendor":1.0},"serverInfo":{"name":"desk","version":"1"},"instructions":"knock"}}`)
		l.writeLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		l.writeLine(`{"jsonrpc":"2.0","method":"notifications/other","params":{}}`)
		l.wantAnswer(`{"jsonrpc":"2.0","id":"e","method":"echo","params":{"n":12345678901234567890}}`,
			`{"jsonrpc":"2.0","id":"e","result":{"content":[{"type":"text","text":"{\"n\":12345678901234567890}"}]}}`)
		p := l.service.newestPeer(t)
		if p.Era != mcp.Legacy || p.Version != agreed || string(p.Info) != `{"name":"t","version":"1"}` || string(p.Capabilities) != `{"roots":{},"x":1.0}` || p.Key != "key" {
			t.Errorf("peer %v %s %s %s %v", p.Era, p.Version, p.Info, p.Capabilities, p.Key)
		}
		l.closeInputAndWait()
		if d := cmp.Diff([]string{"opened key", "notified notifications/other", "closed key"}, l.service.recordedEvents()); d != "" {
			t.Errorf("life (-want +got):\n%s", d)
		}
	}
}

// A client may write all its messages at once and read the answers afterwards, as scripts do.
func TestServeStreamPipelined(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	in := initializeMessage + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{` + modernMeta("{}") + `}}`
	d := newScriptedService()
	begun := time.Now()
	if err := mcp.ServeStream(t.Context(), mcp.NewLines(strings.NewReader(in), &out, 0, nil), d, nil); err != nil {
		t.Fatal(err)
	}
	await.Within(t, "the end of a client that only listens", time.Since(begun), 5*time.Second)
	if !strings.Contains(out.String(), `{"jsonrpc":"2.0","id":1,"result":{"content"`) {
		t.Errorf("answered\n%s", out.String())
	}
	if n := strings.Count(strings.Join(d.recordedEvents(), ","), "opened"); n != 1 {
		t.Errorf("opened %d times: %q", n, d.recordedEvents())
	}
}

func TestServeStreamRefuses(t *testing.T) {
	t.Parallel()
	l := startLineClient(t, t.Context(), nil, 2000)
	for _, tc := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"id":1,"result":{}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"id":2,"error":{"code":-32600,"message":"send initialize first`},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize"}`, `"id":3,"error":{"code":-32602,`},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":7}}`, `"id":3,"error":{"code":-32602,`},
		{initializeMessage, `"id":0,"result":{`},
		{initializeMessage, `"id":0,"error":{"code":-32600,"message":"initialize was sent twice in one session"}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"no/such"}`, `"id":4,"error":{"code":-32601,"message":"no no/such"}}`},
		{`{"jsonrpc":"2.0","id":5`, `"id":null,"error":{"code":-32700,`},
		{`hello`, `"id":null,"error":{"code":-32700,`},
		{`{"id":6,"method":"ping"}`, `"id":6,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"id":null,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":"7","method":[]}`, `"id":"7","error":{"code":-32600,`},
		{`[]`, `"id":null,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":8,"method":"echo","params":{"t":"` + strings.Repeat("x", 3000) + `"}}`, `"id":8,"error":{"code":-32600,"message":"message longer than 2000 bytes"}}`},
		{`{"jsonrpc":"2.0","id":{},"method":"echo","params":{"t":"` + strings.Repeat("x", 3000) + `"}}`, `"id":null,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":9,"method":"fail"}`, `"id":9,"error":{"code":-32603,"message":"failed"}}`},
		{`{"jsonrpc":"2.0","id":9,"method":"fail","params":{"error":{"code": 1e2,"data":[1.0],"message":"é"}}}`, `"id":9,"error":{"code": 1e2,"data":[1.0],"message":"é"}}`},
		{`{"jsonrpc":"2.0","id":10,"method":"ping"}`, `"id":10,"result":{}}`},
	} {
		l.writeLine("%s", tc.in)
		if got := string(l.next().Raw); !strings.HasPrefix(got, `{"jsonrpc":"2.0",`+tc.want) {
			t.Errorf("to %.100s\n got %s\nwant %s", tc.in, got, tc.want)
		}
	}
	l.closeInputAndWait()
}

func TestServeStreamModern(t *testing.T) {
	t.Parallel()
	l := startLineClient(t, t.Context(), nil, 0)
	l.wantAnswer(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modernMeta("{}")+`}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],`+
			`"capabilities":{"tools":{"listChanged":true},"x-vendor":1.0},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"desk","version":"1"}},`+
			`"instructions":"knock","ttlMs":0,"cacheScope":"private"}}`)
	for _, tc := range []struct{ in, want string }{
		{`"method":"echo","params":{` + modernMeta("{}") + `}`, `"result":{"resultType":"complete",`},
		{`"method":"server/discover"`, `"error":{"code":-32602,`},
		{`"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, `"error":{"code":-32602,`},
		{`"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}`, `"error":{"code":-32602,`},
		{`"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}}`, `"error":{"code":-32602,`},
		{
			`"method":"echo","params":{` + strings.Replace(modernMeta("{}"), "2026-07-28", "2030-01-01", 1) + `}`,
			`"error":{"code":-32022,"message":"unsupported protocol version","data":{"requested":"2030-01-01","supported":["2026-07-28"]}}}`,
		},
		{`"method":"ping","params":{` + modernMeta("{}") + `}`, `"error":{"code":-32601,`},
		{`"method":"logging/setLevel","params":{"level":"info",` + modernMeta("{}") + `}`, `"error":{"code":-32601,`},
		{`"method":"resources/subscribe","params":{"uri":"x",` + modernMeta("{}") + `}`, `"error":{"code":-32601,`},
	} {
		l.writeLine(`{"jsonrpc":"2.0","id":2,%s}`, tc.in)
		if got := string(l.next().Raw); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,`+tc.want) {
			t.Errorf("to %s\n got %s\nwant %s", tc.in, got, tc.want)
		}
	}
	l.closeInputAndWait()
	if d := cmp.Diff([]string{"closed <nil>"}, l.service.recordedEvents()); d != "" {
		t.Errorf("life (-want +got):\n%s", d)
	}
}

func TestServeStreamNotes(t *testing.T) {
	t.Parallel()
	l := startLineClient(t, t.Context(), nil, 0)
	l.initialize()
	l.writeLine(`{"jsonrpc":"2.0","id":1,"method":"note","params":{"n":3,"_meta":{"progressToken":"p"}}}`)
	for n := 1; n <= 3; n++ {
		want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":%d}}`, n)
		if got := string(l.next().Raw); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if m := l.next(); m.ID != "1" {
		t.Errorf("then %s", m.Raw)
	}
	l.service.newestPeer(t).Notify("notifications/tools/list_changed", nil)
	if got := string(l.next().Raw); got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("got %s", got)
	}
	l.closeInputAndWait()
}

func TestServeStreamAsks(t *testing.T) {
	t.Parallel()
	l := startLineClient(t, t.Context(), nil, 0)
	l.initialize()
	l.writeLine(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{"ask":"roots/list","params":{"n":1.0}}}`)
	m := l.next()
	if m.Method != "roots/list" || string(m.Params) != `{"n":1.0,"nr":0}` {
		t.Errorf("asked %s", m.Raw)
	}
	l.answer(`"nobody"`, `{}`)
	l.answer("4711", `{}`)
	l.answer(m.ID, `{"roots": []}`)
	if got := textOfResult(t, l.next().Result); got != `{"roots": []}` {
		t.Errorf("answered with %s", got)
	}
	l.writeLine(`{"jsonrpc":"2.0","id":2,"method":"ask","params":{"ask":"sampling/createMessage","at":3}}`)
	for range 3 {
		m := l.next()
		l.answer(m.ID, string(m.Params))
	}
	if got := textOfResult(t, l.next().Result); got != `{"nr":0};{"nr":1};{"nr":2}` {
		t.Errorf("answered with %s", got)
	}
	l.writeLine(`{"jsonrpc":"2.0","id":3,"method":"ask","params":{"ask":"elicitation/create"}}`)
	l.writeLine(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"user said no"}}`, l.next().ID)
	if got := textOfResult(t, l.next().Result); got != "user said no (code -1)" {
		t.Errorf("answered with %s", got)
	}
	// A cancelled request also cancels the question it has asked.
	l.writeLine(`{"jsonrpc":"2.0","id":4,"method":"ask","params":{"ask":"roots/list"}}`)
	m = l.next()
	l.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	if c := l.next(); c.Method != "notifications/cancelled" || string(mcp.Get(c.Params, "requestId")) != string(m.ID) {
		t.Errorf("said %s", c.Raw)
	}
	l.wantAnswer(`{"jsonrpc":"2.0","id":5,"method":"ping"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`)
	l.closeInputAndWait()
}

func TestServeStreamCancel(t *testing.T) {
	t.Parallel()
	for era, params := range map[string]string{"legacy": "{}", "modern": "{" + modernMeta("{}") + "}", "modern_may_be_asked": "{" + modernMeta(`{"roots":{}}`) + "}"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			l := startLineClient(t, t.Context(), nil, 0)
			if era == "legacy" {
				l.initialize()
			}
			l.writeLine(`{"jsonrpc":"2.0","id":"w","method":"wait","params":%s}`, params)
			<-l.service.began
			l.writeLine(`{"jsonrpc":"2.0","id":"w","method":"echo","params":%s}`, params)
			if m := l.next(); !strings.Contains(string(m.Error), "still running") {
				t.Errorf("a second request with an id in use: %s", m.Raw)
			}
			l.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
			l.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`)
			l.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w","reason":"enough"}}`)
			if err := <-l.service.ended; err == nil {
				t.Error("ended without a cause")
			}
			l.writeLine(`{"jsonrpc":"2.0","id":"e","method":"echo","params":%s}`, params)
			if m := l.next(); m.ID != `"e"` {
				t.Errorf("a request taken back was answered: %s", m.Raw)
			}
			l.closeInputAndWait()
		})
	}
}

// After the end of the input, requests may go on for a while.
func TestServeStreamEnd(t *testing.T) {
	t.Parallel()
	t.Run("finishes", func(t *testing.T) {
		t.Parallel()
		l := startLineClient(t, t.Context(), nil, 0)
		l.initialize()
		l.writeLine(`{"jsonrpc":"2.0","id":1,"method":"gate","params":{}}`)
		<-l.service.began
		_ = l.input.Close()
		l.service.gate <- struct{}{}
		if got := textOfResult(t, l.next().Result); got != "through" {
			t.Errorf("answered %s", got)
		}
		l.closeInputAndWait()
	})
	t.Run("gives_up", func(t *testing.T) {
		t.Parallel()
		l := startLineClient(t, t.Context(), &mcp.StreamOptions{Drain: time.Millisecond}, 0)
		l.initialize()
		l.writeLine(`{"jsonrpc":"2.0","id":1,"method":"wait","params":{}}`)
		<-l.service.began
		l.closeInputAndWait()
		if err := <-l.service.ended; !errors.Is(err, mcp.ErrSessionClosed) {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		l := startLineClient(t, ctx, nil, 0)
		l.writeLine(`{"jsonrpc":"2.0","id":1,"method":"wait","params":{%s}}`, modernMeta(`{"roots":{}}`))
		l.writeLine(`{"jsonrpc":"2.0","id":2,"method":"ask","params":{"ask":"roots/list",%s}}`, modernMeta(`{"roots":{}}`))
		<-l.service.began
		if got := l.next().ResultType; got != "input_required" {
			t.Errorf("asked with %q", got)
		}
		why := errors.New("stopping")
		cancel(why)
		if err := <-l.served; err != nil {
			t.Errorf("served until %v", err)
		}
		for range 2 {
			if err := <-l.service.ended; !errors.Is(err, why) && !errors.Is(err, mcp.ErrSessionClosed) {
				t.Errorf("ended with %v", err)
			}
		}
	})
}
