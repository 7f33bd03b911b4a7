package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/face/mcpserver"
	"collie/internal/mcp"
	calllimit "collie/internal/pipeline/limit"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

// dialogue are messages that clients of both eras send, valid and invalid.
var dialogue = []string{
	`{"jsonrpc":"2.0","id":"early","method":"ping"}`,
	`{"jsonrpc":"2.0","id":"too early","method":"tools/list"}`,
	initializeRequest,
	initializedNotice,
	`{"jsonrpc":"2.0","id":"again","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	`{"jsonrpc":"2.0", "id" : 3 ,"method":"tools/call","params":{"name":"s__echo","arguments":{"n":12345678901234567890, "x":"<\u00e9>é"}}}`,
	`{"jsonrpc":"2.0","id":"fail","method":"tools/call","params":{"name":"s__fail"}}`,
	`{"jsonrpc":"2.0","id":-4,"method":"tools/call","params":{"name":"none"}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}`,
	`{"jsonrpc":"2.0","id":6,"method":"no/such"}`,
	`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"s://a"}}`,
	`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"none://"}}`,
	`{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"s__greet"}}`,
	`{"jsonrpc":"2.0","id":10,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"s__greet"},"argument":{"name":"a","value":"b"}}}`,
	`{"jsonrpc":"2.0","id":11,"method":"logging/setLevel","params":{"level":"loud"}}`,
	`{"jsonrpc":"2.0","id":12,"method":"subscriptions/listen","params":{"notifications":{}}}`,
	`[{"jsonrpc":"2.0","id":13,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/none"},{"jsonrpc":"2.0","id":14,"method":"tools/list"}]`,
	`{"jsonrpc":"2.0","id":15,"method":"server/discover","params":{` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":16,"method":"server/discover"}`,
	`{"jsonrpc":"2.0","id":17,"method":"tools/list","params":{` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":18,"method":"tools/call","params":{"name":"s__echo","arguments":{"n":1},` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":19,"method":"tools/call","params":{"name":"新 ","arguments":{},` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":22,"method":"no\nsuch","params":{` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":23,"method":"resources/read","params":{"uri":"s://a",` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":24,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	`{"jsonrpc":"2.0","id":25,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	`{"jsonrpc":"2.0","id":26,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`,
	`{"jsonrpc":"2.0","id":27,"method":"prompts/get","params":{"name":"s__greet",` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":28,"result":{}}`,
	`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":`,
	`[]`,
	`7`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
	"\uFEFF" + `{"jsonrpc":"2.0","id":"end","method":"tools/list"}`,
}

// A client gets the same answers, byte for byte, through the bridge as from a gateway that serves its pipes directly.
func TestSameAsAlone(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	collectAnswers := func(c *client) map[string]string {
		got := map[string]string{}
		for n, line := range dialogue {
			c.send(line)
			m, err := mcp.Parse([]byte(strings.TrimPrefix(line, "\uFEFF")))
			switch {
			case err == nil && m.IsRequest():
				got[string(m.ID)] = c.awaitLine(`"id":` + string(m.ID) + `,`)
			case line[0] == '[' && len(line) > 2:
				both := c.awaitLines(nil, `{"jsonrpc":"2.0","id":13,`, `{"jsonrpc":"2.0","id":14,`)
				slices.Sort(both)
				got["13 and 14"] = strings.Join(both, "\n")
			case err != nil:
				got[fmt.Sprint("line ", n)] = c.awaitLine(`"error"`)
			}
			if line == initializedNotice {
				await.Moment(10 * time.Millisecond) // this message gets no answer
			}
		}
		return got
	}
	alone := collectAnswers(runClient(t, func(ctx context.Context, in *io.PipeReader, out io.Writer) error {
		return g.face.ServeLines(ctx, in, out, in.Close, mcpserver.Client{Principal: "me", Origin: tool.MCPLocal})
	}))
	through := collectAnswers(new(home).startClient(t, g))
	if diff := cmp.Diff(alone, through); diff != "" {
		t.Errorf("-alone +bridge:\n%s", diff)
	}
	if len(alone) < 35 {
		t.Errorf("only %d answers", len(alone))
	}
}

// Requests do not wait for each other, and their connections are reused.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	c := new(home).startClient(t, g)
	c.openSession()
	const hanging, quick = 100, 150 // together not more than a session may have in flight
	startHanging(c, hanging)
	for n := range quick {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`, n+1)
	}
	got := map[string]bool{}
	for range quick {
		m, err := mcp.Parse([]byte(c.awaitLine(`"id":`)))
		if err != nil || got[string(m.ID)] || !strings.Contains(string(m.Result), `"who":"one"`) {
			t.Fatalf("%s: %v", m.Raw, err)
		}
		got[string(m.ID)] = true
	}
	await.Until(t, "all that hang run", func() bool { return g.running.Load() == hanging })
	cancelHanging(t, c, g, hanging)
}

// Requests beyond the limit of a session are refused: each gets exactly one answer.
func TestMoreThanMayRun(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	c := new(home).startClient(t, g)
	c.openSession()
	const hanging = calllimit.DefaultPerSession + 50
	startHanging(c, hanging)
	got := map[string]bool{}
	for range hanging - calllimit.DefaultPerSession {
		m, err := mcp.Parse([]byte(c.awaitLine(`"id":`)))
		if err != nil || got[string(m.ID)] || !strings.Contains(string(m.Raw), "calls in flight, which is the limit") {
			t.Fatalf("%s: %v", m.Raw, err)
		}
		got[string(m.ID)] = true
	}
	await.Until(t, "as many as may run do", func() bool { return g.running.Load() == calllimit.DefaultPerSession })
	cancelHanging(t, c, g, hanging)
}

// startHanging makes calls that last until they are cancelled.
func startHanging(c *client, count int) {
	c.tb.Helper()
	for n := range count {
		c.send(`{"jsonrpc":"2.0","id":"h%d","method":"tools/call","params":{"name":"s__hang","arguments":{}}}`, n)
	}
}

// cancelHanging cancels the hanging calls, which then get no answer.
func cancelHanging(tb testing.TB, c *client, g *gateway, count int) {
	tb.Helper()
	for n := range count {
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h%d"}}`, n)
	}
	await.Until(tb, "no call runs", func() bool { return g.running.Load() == 0 })
	c.expectNone(`"id":"h`)
}

// A cancelled request ends at the source and gets no answer; its id can be used again.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t, "one")
			c := new(home).startClient(t, g)
			more := ""
			if era == "legacy" {
				c.openSession()
			} else {
				more = "," + modernMeta
			}
			for _, wait := range []time.Duration{0, 100 * time.Millisecond} { // cancelled at once, and after its answer became a stream
				c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"s__hang","arguments":{}%s}}`, more)
				await.Until(t, "the call runs", func() bool { return g.running.Load() == 1 })
				await.Moment(wait)
				c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}`)
				await.Until(t, "the call has ended", func() bool { return g.running.Load() == 0 })
				c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"s__who","arguments":{}%s}}`, more)
				if line := c.awaitLine(`"id":7,`); !strings.Contains(line, `"who":"one"`) {
					t.Errorf("after the cancel: %s", line)
				}
			}
		})
	}
}

// A source asks the client and gets its answer, in both eras.
func TestAskedBack(t *testing.T) {
	t.Parallel()
	c := new(home).startClient(t, newGateway(t, "one"))
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__ask","arguments":{}}}`)
	m, err := mcp.Parse([]byte(c.awaitLine(`"elicitation/create"`)))
	if err != nil {
		t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept", "n":1.0}}`, string(m.ID))
	c.awaitLine(`"id":1,"result":{"content":[],"answer":{"action":"accept", "n":1.0}}`)

	can := strings.Replace(modernMeta, `Capabilities":{}`, `Capabilities":{"elicitation":{}}`, 1)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__ask","arguments":{},%s}}`, can)
	m, err = mcp.Parse([]byte(c.awaitLine(`"id":2,`, `"input_required"`)))
	if err != nil {
		t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"s__ask","arguments":{},"requestState":%s,"inputResponses":{%s:{"action":"decline"}},%s}}`,
		string(mcp.Get(m.Result, "requestState")), firstKey(mcp.Get(m.Result, "inputRequests")), can)
	c.awaitLine(`"id":3,`, `"answer":{"action":"decline"}`)
}

// firstKey is the first key of an object, as JSON.
func firstKey(obj []byte) string {
	text := strings.TrimLeft(string(obj), `{ `)
	return text[:strings.Index(text, ":")]
}

// Messages outside of requests arrive too: changes, updates and logs.
func TestTold(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	c := new(home).startClient(t, g)
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"s://a"}}`)
	c.awaitLine(`"id":1,"result":{}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}`)
	c.awaitLine(`"id":2,"result":{}`)
	tell := func(g *gateway) {
		g.fake.Publish(*g.fake.Offer(), tool.ToolsChanged)
		g.fake.Touch("s://a")
		g.fake.Report(tool.Change{Kind: tool.LogMessage, Method: "notifications/message", Level: "error", Params: []byte(`{"level":"error"}`)})
	}
	for range 3 {
		tell(g)
		c.awaitLine(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error"}}`)
	}
	// Connections are lost but the gateway is not: the stream continues after its last event.
	g.web.CloseClientConnections()
	tell(g)
	c.awaitLine("notifications/message")
	if n := g.handler().Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// An answer whose connection is lost on the way arrives over another one.
func TestAnswerIsResumed(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	release := make(chan struct{})
	g.fake.On("hang", func(ctx context.Context, call *tool.Call) (tool.Result, error) {
		call.Caller.Notify(ctx, "notifications/progress", []byte(`{"progressToken":"p","progress":1}`))
		<-release
		return tooltest.Text("late"), nil
	})
	c := new(home).startClient(t, g)
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__hang","arguments":{},"_meta":{"progressToken":"p"}}}`)
	c.awaitLine("notifications/progress") // makes the answer a stream, and the bridge knows the id of its last event
	g.web.CloseClientConnections()
	close(release)
	if line := c.awaitLine(`"id":1,`); !strings.Contains(line, "late") {
		t.Error(line)
	}
}

// Messages of many megabytes pass in both directions.
func TestBig(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	big := strings.Repeat("0123456789abcdef", 1<<20-64)
	g.fake.On("who", func(_ context.Context, call *tool.Call) (tool.Result, error) {
		got := mcp.GetString(call.Args, "big")
		return tool.Result{Raw: []byte(`{"content":[],"big":"` + got + got + `"}`)}, nil
	})
	c := new(home).startClient(t, g)
	c.openSession()
	for id, more := range []string{"", "," + modernMeta} {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"s__who","arguments":{"big":"%s"}%s}}`, id, big, more)
		if line := c.awaitLine(fmt.Sprintf(`"id":%d,`, id)); mcp.GetString([]byte(line), "result", "big") != big+big {
			t.Errorf("%d bytes: %.100s", len(line), line)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"s__who","arguments":{"big":"%s%s"}}}`, big, big)
	c.awaitLine(`"id":9,"error"`, "too large")
}

// What the listener refuses before a server of MCP sees it reaches the client as an error that MCP knows.
func TestRefusedByListener(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	g.maxBody = 1000
	c := new(home).startClient(t, g)
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"s__who","arguments":{"big":"%s"}}}`, strings.Repeat("x", 1000))
	line := c.awaitLine(`"id":4,`)
	var e struct{ Error mcp.Error }
	if err := json.Unmarshal([]byte(line), &e); err != nil || e.Error.Code != mcp.CodeInvalidRequest || e.Error.Message != "the request is over the limit; send less" {
		t.Errorf("%v: %s", err, line)
	}
}

// If the gateway refuses an answer of the client as too large, the server that asked gets an error in its place.
func TestAnswerTooLarge(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	g.maxBody = 1000
	asked := make(chan error, 1)
	g.fake.On("ask", func(ctx context.Context, call *tool.Call) (tool.Result, error) {
		_, err := call.Caller.Ask(ctx, "elicitation/create", []byte(`{"message":"?"}`))
		asked <- err
		return tooltest.Text("done"), nil
	})
	c := new(home).startClient(t, g)
	c.openSession()
	for id, size := range []int{1000, 4 << 20} {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"s__ask","arguments":{}}}`, id+1)
		m, err := mcp.Parse([]byte(c.awaitLine(`"elicitation/create"`)))
		if err != nil {
			t.Fatal(err)
		}
		c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","big":"%s"}}`, string(m.ID), strings.Repeat("x", size))
		c.awaitLine(fmt.Sprintf(`"id":%d,`, id+1), "done")
		if err := <-asked; err == nil || !strings.Contains(err.Error(), "larger than http.maxBody") {
			t.Errorf("an answer of %d bytes: %v", size, err)
		}
	}
}

// After the end of the input the bridge waits for answers, then ends the session.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	release := make(chan struct{})
	g.fake.On("hang", func(context.Context, *tool.Call) (tool.Result, error) {
		<-release
		return tooltest.Text("late"), nil
	})
	c := new(home).startClient(t, g)
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__hang","arguments":{}}}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},%s}}`, modernMeta)
	c.awaitLine("notifications/subscriptions/acknowledged")
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	c.awaitLine(`"id":1,`, "late")
	await.Until(t, "the session is over", func() bool { return g.handler().Sessions() == 0 })
	if n := g.countRequests("DELETE"); n != 1 {
		t.Errorf("%d DELETE", n)
	}
}

// A client that does not read its answers loses none and does not delay other clients.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	h := new(home)
	h.setFound(g, nil)
	in, write := io.Pipe()
	read, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- serveAt(t.Context(), in, out, g, h)
		_ = out.Close()
	}()
	say := func(line string) {
		if _, err := io.WriteString(write, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(initializeRequest)
	for n := range 50 {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, n+1))
	}
	await.Moment(50 * time.Millisecond) // until all answers wait for the reader
	_ = write.Close()
	text, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 51 {
		t.Errorf("%d answers, want 51", n)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
