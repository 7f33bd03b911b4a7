package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"collie/internal/mcp"
)

// scriptedService is a small Service. Its tools, which are methods as well:
//
//	echo   returns the arguments
//	ask    asks the client for what ask names, with params, and returns the answer;
//	       times asks one after the other, at asks side by side
//	note   sends n progress notifications before it answers
//	wait   tells began, waits for its context's end and tells the cause to ended
//	gate   tells began and waits until the test opens the gate
//	late   answers, then asks the client when the test opens the gate, and tells the error to ended
//	march  sends n progress notifications, each when the test opens the gate
//	fail   fails with error, an error object; without it, with a Go error
type scriptedService struct {
	began chan mcp.ID
	ended chan error
	gate  chan struct{}

	mu     sync.Mutex
	events []string // calls of the other methods
	peers  []*mcp.Peer
}

func newScriptedService() *scriptedService {
	return &scriptedService{began: make(chan mcp.ID, 99), ended: make(chan error, 99), gate: make(chan struct{}, 99)}
}

func (d *scriptedService) recordEvent(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, fmt.Sprintf(format, args...))
}

func (d *scriptedService) recordedEvents() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.events...)
}

// newestPeer returns the client of the session that was opened last.
func (d *scriptedService) newestPeer(t *testing.T) *mcp.Peer {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.peers) == 0 {
		t.Fatal("no session was opened")
	}
	return d.peers[len(d.peers)-1]
}

func (d *scriptedService) Hello(context.Context, *mcp.Peer) mcp.Hello {
	return mcp.Hello{
		Info: json.RawMessage(`{"name":"desk","version":"1"}`), Instructions: "knock",
		Capabilities: json.RawMessage(`{"tools":{"listChanged":true},"x-vendor":1.0}`),
	}
}

func (d *scriptedService) Notified(_ *mcp.Peer, m mcp.Message) {
	d.recordEvent("notified %s", m.Method)
}
func (d *scriptedService) Closed(p *mcp.Peer) { d.recordEvent("closed %v", p.Key) }

func (d *scriptedService) Opened(p *mcp.Peer) {
	d.recordEvent("opened %v", p.Key)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peers = append(d.peers, p)
}

func (d *scriptedService) Handle(ctx context.Context, in *mcp.Incoming) (json.RawMessage, error) {
	what, args := in.Method, in.Params
	switch what {
	case "tools/list":
		list := `"tools":[`
		for i, name := range []string{"echo", "ask", "note", "wait", "gate", "fail"} {
			list += strings.Repeat(",", min(i, 1)) + `{"name":"` + name + `","inputSchema":{"type":"object"}}`
		}
		return d.result(in, list+`]`), nil
	case "tools/call":
		what, args = mcp.GetString(in.Params, "name"), mcp.Get(in.Params, "arguments")
	case "subscriptions/listen":
		in.Notify("notifications/subscriptions/acknowledged", json.RawMessage(`{}`))
		what = "wait"
	}
	switch what {
	case "echo":
		return d.text(in, string(args)), nil
	case "ask":
		return d.ask(ctx, in, args)
	case "note":
		n, _ := strconv.Atoi(string(mcp.Get(args, "n")))
		for i := range n {
			token := mcp.Get(in.Params, "_meta", "progressToken")
			in.Notify("notifications/progress", mcp.Edit(nil,
				mcp.Field{Key: "progressToken", Value: token}, mcp.Field{Key: "progress", Value: json.RawMessage(strconv.Itoa(i + 1))}))
		}
		return d.text(in, "noted"), nil
	case "late":
		go func() {
			<-d.gate
			_, err := in.Ask(context.WithoutCancel(ctx), "roots/list", nil)
			d.ended <- err
		}()
		return d.text(in, "later"), nil
	case "march":
		n, _ := strconv.Atoi(string(mcp.Get(args, "n")))
		d.began <- in.ID
		for i := range n {
			select {
			case <-d.gate:
			case <-ctx.Done():
				d.ended <- context.Cause(ctx)
				return nil, context.Cause(ctx)
			}
			in.Notify("notifications/progress", mcp.Edit(nil, mcp.Field{Key: "progress", Value: json.RawMessage(strconv.Itoa(i + 1))}))
		}
		return d.text(in, "there"), nil
	case "wait":
		d.began <- in.ID
		<-ctx.Done()
		d.ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	case "gate":
		d.began <- in.ID
		select {
		case <-d.gate:
			return d.text(in, "through"), nil
		case <-ctx.Done():
			d.ended <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		}
	case "fail":
		if obj := mcp.Get(args, "error"); obj != nil {
			return nil, &mcp.RPCError{Raw: obj}
		}
		return nil, errors.New("failed")
	}
	return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "no " + what}
}

// ask implements the tool ask.
func (d *scriptedService) ask(ctx context.Context, in *mcp.Incoming, args json.RawMessage) (json.RawMessage, error) {
	number := func(key string) int {
		n, err := strconv.Atoi(string(mcp.Get(args, key)))
		if err != nil {
			return 1
		}
		return n
	}
	answers := make([]string, number("times")*number("at"))
	for i := range number("times") {
		var wg sync.WaitGroup
		for k := range number("at") {
			wg.Go(func() {
				at := i*number("at") + k
				params := mcp.Edit(mcp.Get(args, "params"), mcp.Field{Key: "nr", Value: json.RawMessage(strconv.Itoa(at))})
				a, err := in.Ask(ctx, mcp.GetString(args, "ask"), params)
				if err != nil {
					answers[at] = err.Error()
					return
				}
				answers[at] = string(a)
			})
		}
		wg.Wait()
	}
	if ctx.Err() != nil {
		d.ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}
	return d.text(in, strings.Join(answers, ";")), nil
}

// text returns a tool result with one text, in the form of the request's era.
func (d *scriptedService) text(in *mcp.Incoming, text string) json.RawMessage {
	return d.result(in, `"content":[{"type":"text","text":`+string(mcp.Quote(text))+`}]`)
}

// result returns a result with these members, in the form of the request's era.
func (d *scriptedService) result(in *mcp.Incoming, fields string) json.RawMessage {
	if in.Peer.Era == mcp.Modern {
		return json.RawMessage(`{"resultType":"complete",` + fields + `,"ttlMs":0,"cacheScope":"private"}`)
	}
	return json.RawMessage(`{` + fields + `}`)
}

// textOfResult returns the text of a result of the scripted service.
func textOfResult(t *testing.T, result json.RawMessage) string {
	t.Helper()
	var v struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(result, &v); err != nil || len(v.Content) != 1 {
		t.Fatalf("result %s: %v", result, err)
	}
	return v.Content[0].Text
}

// modernMeta returns the metadata of a modern request; caps are the client's capabilities.
func modernMeta(caps string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + caps + `}`
}
