//go:build unix

package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// client is a client that does one random thing after the other, with pauses.
type client struct {
	*soak
	session
	name     string
	dice     *rand.Rand
	reopen   func(context.Context) (session, error) // opens another session; nil for a client that keeps its session
	reopened int                                    // sessions that again has opened
}

// unique makes the texts and ids of all clients different.
var unique atomic.Int64

// clientActs are the things that clients do; percent says how often.
var clientActs = []struct {
	percent int
	run     func(*client, context.Context, *server)
}{
	{66, (*client).echoText},
	{8, (*client).callSlowTool},
	{6, (*client).checkToolList},
	{5, (*client).readResource},
	{4, (*client).callFailingTool},
	{3, (*client).callRefusingTool},
	{3, (*client).echoBigText},
	{3, (*client).giveUp},
	{2, (*client).reconnect},
}

// actUntilEnd does things until ctx ends, finishes what is under way, and closes the session.
func (v *client) actUntilEnd(ctx context.Context) {
	calls := context.WithoutCancel(ctx)
	for pause(ctx, time.Duration((0.5+v.dice.Float64())*float64(think))) {
		n := v.dice.IntN(100)
		for _, a := range clientActs {
			if n -= a.percent; n < 0 {
				a.run(v, calls, v.servers[v.dice.IntN(len(v.servers))])
				break
			}
		}
	}
	v.close()
}

// ask sends a request about a server and returns its answer. ok is false if the request failed, which has then been
// recorded.
func (v *client) ask(ctx context.Context, what string, s *server, method, params string) (a answer, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	begun := time.Now()
	a, err := v.do(ctx, method, params)
	ended := time.Now()
	v.recordDuration(what, v.name+" at "+s.name, ended.Sub(begun))
	switch kind := a.kind(); {
	case err != nil:
		v.recordWrongf("%s: %s at %s after %v: %v", v.name, what, s.name, ended.Sub(begun), err)
		return a, false
	case slices.Contains(crashKinds, kind):
		v.fault(fault{s.name, what, kind, begun, ended})
		return a, false
	case kind != "":
		v.recordWrongf("%s: %s at %s: %v", v.name, what, s.name, a)
		return a, false
	}
	return a, true
}

// call calls a tool with ask.
func (v *client) call(ctx context.Context, what string, s *server, tool, args string) (answer, bool) {
	return v.ask(ctx, what, s, "tools/call", `"name":"`+s.name+"__"+tool+`","arguments":`+args)
}

// checkAnswer records an answer in the verdict unless it is right.
func (v *client) checkAnswer(what string, s *server, a answer, right bool) {
	if !right {
		v.recordWrongf("%s: wrong answer of %s at %s: %v", v.name, what, s.name, a)
	}
}

// uniqueText returns a text that no other client sends.
func (v *client) uniqueText(size int) string {
	return fmt.Sprintf("%s %d 新闻 <&>\u2028 %s", v.name, unique.Add(1), strings.Repeat("x", size))
}

// echoText calls the tool echo with a unique text.
func (v *client) echoText(ctx context.Context, s *server) {
	text := v.uniqueText(v.dice.IntN(200))
	if a, ok := v.call(ctx, "echo", s, "echo", `{"text":`+strconv.Quote(text)+`}`); ok {
		v.checkAnswer("echo", s, a, !a.failed() && a.text() == text)
	}
}

// echoBigText calls the tool echo with a text of 100 KiB.
func (v *client) echoBigText(ctx context.Context, s *server) {
	text := v.uniqueText(100 << 10)
	if a, ok := v.call(ctx, "big echo", s, "echo", `{"text":`+strconv.Quote(text)+`}`); ok {
		v.checkAnswer("big echo", s, a, !a.failed() && a.text() == text)
	}
}

// callSlowTool makes a call that takes up to 1.5 s.
func (v *client) callSlowTool(ctx context.Context, s *server) {
	ms := v.dice.IntN(1500)
	if a, ok := v.call(ctx, "slow", s, "slow", `{"ms":`+strconv.Itoa(ms)+`}`); ok {
		v.checkAnswer("slow", s, a, !a.failed() && a.text() == "done")
	}
}

// callFailingTool calls a tool that fails, and checks that its failure arrives unchanged.
func (v *client) callFailingTool(ctx context.Context, s *server) {
	text := v.uniqueText(0)
	if a, ok := v.call(ctx, "failure", s, "fail", `{"text":`+strconv.Quote(text)+`}`); ok {
		v.checkAnswer("failure", s, a, a.result.Get("isError").Bool() && a.text() == text)
	}
}

// callRefusingTool calls a tool that answers with a JSON-RPC error, and checks that the error arrives unchanged.
func (v *client) callRefusingTool(ctx context.Context, s *server) {
	text, code := v.uniqueText(0), 1000+v.dice.Int64N(1000)
	args := fmt.Sprintf(`{"code":%d,"message":%s,"data":[%d]}`, code, strconv.Quote(text), code)
	if a, ok := v.call(ctx, "error", s, "rpcerror", args); ok {
		v.checkAnswer("error", s, a, a.rpcError.Get("code").Int() == code && a.rpcError.Get("message").Str == text &&
			a.rpcError.Get("data.0").Int() == code)
	}
}

// readResource reads a resource.
func (v *client) readResource(ctx context.Context, s *server) {
	id := strconv.FormatInt(unique.Add(1), 10)
	uri := s.name + "://item/" + id
	if a, ok := v.ask(ctx, "resource", s, "resources/read", `"uri":`+strconv.Quote(uri)); ok {
		v.checkAnswer("resource", s, a, a.result.Get("contents.0.text").Str == "Item "+id+"." && a.result.Get("contents.0.uri").Str == uri)
	}
}

// checkToolList lists the tools. No server may be missing, whatever was done to it.
func (v *client) checkToolList(ctx context.Context, s *server) {
	a, ok := v.ask(ctx, "list", s, "tools/list", "")
	if !ok {
		return
	}
	seen := map[string]bool{}
	for _, tool := range a.result.Get("tools.#.name").Array() {
		seen[tool.Str] = true
	}
	for _, s := range v.servers {
		if !seen[s.name+"__echo"] {
			v.recordWrongf("%s: tools/list lacks %s__echo among %d tools", v.name, s.name, len(seen))
		}
	}
}

// giveUp makes a call that takes 3 s, and gives it up after 100 ms.
func (v *client) giveUp(ctx context.Context, s *server) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	a, err := v.do(ctx, "tools/call", `"name":"`+s.name+`__slow","arguments":{"ms":3000}`)
	v.recordDuration("given up", v.name+" at "+s.name, time.Since(begun))
	switch {
	case errors.Is(err, context.DeadlineExceeded): // expected
	case err == nil && slices.Contains(crashKinds, a.kind()):
		v.fault(fault{s.name, "given up", a.kind(), begun, time.Now()})
	default:
		v.recordWrongf("%s: a call given up at %s: %v %v", v.name, s.name, a, err)
	}
}

// reconnect ends the session and opens another one.
func (v *client) reconnect(ctx context.Context, _ *server) {
	if v.reopen == nil {
		return
	}
	v.close()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	begun := time.Now()
	s, err := v.reopen(ctx)
	v.recordDuration("reconnect", v.name, time.Since(begun))
	if err != nil {
		v.recordWrongf("%s: reconnect: %v", v.name, err)
		return
	}
	v.session = s
	if v.reopened++; v.reopened%3 == 0 { // some listen for a while
		go func() { // ends with the session, or after 5 s
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = s.listen(ctx, nil, func(string, gjson.Result) {}) // the session may end first
		}()
	}
}

// pause waits for d. It reports false if ctx ends before that.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
