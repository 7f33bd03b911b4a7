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
	name  string
	dice  *rand.Rand
	again func(context.Context) (session, error) // opens another session; nil for a client that keeps its session
	count int                                    // sessions that again has opened
}

// unique makes the texts and ids of all clients different.
var unique atomic.Int64

// acts are the things that clients do, with how many of a hundred each one is.
var acts = []struct {
	of  int
	run func(*client, context.Context, *server)
}{
	{66, (*client).echo},
	{8, (*client).slow},
	{6, (*client).list},
	{5, (*client).resource},
	{4, (*client).fails},
	{3, (*client).refuses},
	{3, (*client).big},
	{3, (*client).giveUp},
	{2, (*client).reconnect},
}

// live does things until ctx ends, finishes what is under way, and closes the session.
func (v *client) live(ctx context.Context) {
	calls := context.WithoutCancel(ctx)
	for pause(ctx, time.Duration((0.5+v.dice.Float64())*float64(think))) {
		n := v.dice.IntN(100)
		for _, a := range acts {
			if n -= a.of; n < 0 {
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
	v.took(what, v.name+" at "+s.name, ended.Sub(begun))
	switch kind := a.kind(); {
	case err != nil:
		v.fail("%s: %s at %s after %v: %v", v.name, what, s.name, ended.Sub(begun), err)
		return a, false
	case slices.Contains(crashKinds, kind):
		v.fault(fault{s.name, what, kind, begun, ended})
		return a, false
	case kind != "":
		v.fail("%s: %s at %s: %v", v.name, what, s.name, a)
		return a, false
	}
	return a, true
}

// call calls a tool with ask.
func (v *client) call(ctx context.Context, what string, s *server, tool, args string) (answer, bool) {
	return v.ask(ctx, what, s, "tools/call", `"name":"`+s.name+"__"+tool+`","arguments":`+args)
}

// want records an answer that differs from the expected one.
func (v *client) want(what string, s *server, a answer, right bool) {
	if !right {
		v.fail("%s: wrong answer of %s at %s: %v", v.name, what, s.name, a)
	}
}

// text returns a text that no other client sends.
func (v *client) text(size int) string {
	return fmt.Sprintf("%s %d 新闻 <&>\u2028 %s", v.name, unique.Add(1), strings.Repeat("x", size))
}

// echo calls the tool echo with a unique text.
func (v *client) echo(ctx context.Context, s *server) {
	text := v.text(v.dice.IntN(200))
	if a, ok := v.call(ctx, "echo", s, "echo", `{"text":`+strconv.Quote(text)+`}`); ok {
		v.want("echo", s, a, !a.failed() && a.text() == text)
	}
}

// big calls the tool echo with a text of 100 KiB.
func (v *client) big(ctx context.Context, s *server) {
	text := v.text(100 << 10)
	if a, ok := v.call(ctx, "big echo", s, "echo", `{"text":`+strconv.Quote(text)+`}`); ok {
		v.want("big echo", s, a, !a.failed() && a.text() == text)
	}
}

// slow makes a call that takes up to 1.5 s.
func (v *client) slow(ctx context.Context, s *server) {
	ms := v.dice.IntN(1500)
	if a, ok := v.call(ctx, "slow", s, "slow", `{"ms":`+strconv.Itoa(ms)+`}`); ok {
		v.want("slow", s, a, !a.failed() && a.text() == "done")
	}
}

// fails calls a tool that fails, and checks that its failure arrives unchanged.
func (v *client) fails(ctx context.Context, s *server) {
	text := v.text(0)
	if a, ok := v.call(ctx, "failure", s, "fail", `{"text":`+strconv.Quote(text)+`}`); ok {
		v.want("failure", s, a, a.result.Get("isError").Bool() && a.text() == text)
	}
}

// refuses calls a tool that answers with a JSON-RPC error, and checks that the error arrives unchanged.
func (v *client) refuses(ctx context.Context, s *server) {
	text, code := v.text(0), 1000+v.dice.Int64N(1000)
	args := fmt.Sprintf(`{"code":%d,"message":%s,"data":[%d]}`, code, strconv.Quote(text), code)
	if a, ok := v.call(ctx, "error", s, "rpcerror", args); ok {
		v.want("error", s, a, a.failure.Get("code").Int() == code && a.failure.Get("message").Str == text &&
			a.failure.Get("data.0").Int() == code)
	}
}

// resource reads a resource.
func (v *client) resource(ctx context.Context, s *server) {
	id := strconv.FormatInt(unique.Add(1), 10)
	uri := s.name + "://item/" + id
	if a, ok := v.ask(ctx, "resource", s, "resources/read", `"uri":`+strconv.Quote(uri)); ok {
		v.want("resource", s, a, a.result.Get("contents.0.text").Str == "Item "+id+"." && a.result.Get("contents.0.uri").Str == uri)
	}
}

// list lists the tools. No server may be missing, whatever was done to it.
func (v *client) list(ctx context.Context, s *server) {
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
			v.fail("%s: tools/list lacks %s__echo among %d tools", v.name, s.name, len(seen))
		}
	}
}

// giveUp makes a call that takes 3 s, and gives it up after 100 ms.
func (v *client) giveUp(ctx context.Context, s *server) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	a, err := v.do(ctx, "tools/call", `"name":"`+s.name+`__slow","arguments":{"ms":3000}`)
	v.took("given up", v.name+" at "+s.name, time.Since(begun))
	switch {
	case errors.Is(err, context.DeadlineExceeded): // expected
	case err == nil && slices.Contains(crashKinds, a.kind()):
		v.fault(fault{s.name, "given up", a.kind(), begun, time.Now()})
	default:
		v.fail("%s: a call given up at %s: %v %v", v.name, s.name, a, err)
	}
}

// reconnect ends the session and opens another one.
func (v *client) reconnect(ctx context.Context, _ *server) {
	if v.again == nil {
		return
	}
	v.close()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	begun := time.Now()
	s, err := v.again(ctx)
	v.took("reconnect", v.name, time.Since(begun))
	if err != nil {
		v.fail("%s: reconnect: %v", v.name, err)
		return
	}
	v.session = s
	if v.count++; v.count%3 == 0 { // some listen for a while
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
