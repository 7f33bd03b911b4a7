package faults_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/gateway"
)

// serveAndDial serves one fakemcp named s, with these members in its entry, and dials it.
func serveAndDial(t *testing.T, more string, sections ...string) (*gateway.Gateway, *gateway.Client) {
	t.Helper()
	p := gateway.LinkPrograms(t)
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", More: more}}, sections...), "--no-auth")
	g.AwaitReady(t)
	return g, g.Dial(t, gateway.Legacy, "")
}

// mustFail calls a tool that must fail with an error of this type within the limit, and returns it.
func mustFail(t *testing.T, c *gateway.Client, name, args, kind string, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	begin := time.Now()
	text, err := c.Tool(ctx, name, args)
	took := time.Since(begin)
	if gateway.TypeOf(err) != kind {
		t.Errorf("%s %s: %q, error %v; want an error of type %s", name, args, text, err, kind)
	}
	await.Within(t, name+" to fail", took, limit)
	t.Logf("%s %s: %v after %v", name, args, err, took.Round(time.Millisecond))
	return err
}

// mustAnswer calls a tool that must answer this text.
func mustAnswer(t *testing.T, c *gateway.Client, name, args, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	if text, err := c.Tool(ctx, name, args); text != want || err != nil {
		t.Errorf("%s %s: %.200q, error %v; want %q", name, args, text, err, want)
	}
}

// recordedHangs returns how many calls of the tool hang are in the record of a server. A server that has got no request yet has
// no record.
func recordedHangs(record string) int {
	raw, _ := os.ReadFile(record)
	return strings.Count(string(raw), `"name":"hang"`)
}

// checkWorks checks that the server answers calls.
func checkWorks(t *testing.T, c *gateway.Client, server string) {
	t.Helper()
	mustAnswer(t, c, server+"__echo", `{"text":"well"}`, "well")
}

// A server that ends in mid-call fails that call at once; the next call starts it again.
func TestServerEndsInMidCall(t *testing.T) {
	t.Parallel()
	_, c := serveAndDial(t, "")
	for _, args := range []string{`{"code":3}`, `{"code":0}`, `{"kill":true}`} {
		mustFail(t, c, "s__crash", args, "server_crashed", 5*time.Second)
		checkWorks(t, c, "s")
	}
}

// When a server ends, all its running calls fail at once; none waits for its limit.
func TestAllCallsOfACrashFail(t *testing.T) {
	t.Parallel()
	p, record := gateway.LinkPrograms(t), filepath.Join(t.TempDir(), "record")
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--record", record}}}), "--no-auth")
	c := g.Dial(t, gateway.Legacy, "")
	errs := make(chan error, 20)
	for range cap(errs) {
		go func() {
			_, err := c.Tool(t.Context(), "s__hang", "{}")
			errs <- err
		}()
	}
	await.Until(t, "all calls are at the server", func() bool { return recordedHangs(record) == cap(errs) })
	begin := time.Now()
	mustFail(t, c, "s__crash", `{"kill":true}`, "server_crashed", 5*time.Second)
	for range cap(errs) {
		select {
		case err := <-errs:
			if gateway.TypeOf(err) != "server_crashed" {
				t.Errorf("a call in flight: %v", err)
			}
		case <-time.After(await.Limit):
			t.Fatal("a call in flight still waits")
		}
	}
	t.Logf("all failed within %v", time.Since(begin).Round(time.Millisecond))
}

// An unreadable answer fails its call at once, with an error that says so, and not only at the
// server's time limit.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	_, c := serveAndDial(t, `"toolTimeout":"10m"`)
	if err := mustFail(t, c, "s__badjson", "{}", "server_error", 30*time.Second); err != nil && !strings.Contains(err.Error(), "string without an end") {
		t.Errorf("what was wrong with the answer is not told: %v", err)
	}
	checkWorks(t, c, "s")
}

// A call that gets no answer ends with the limit of its server, and the server lives on.
func TestHang(t *testing.T) {
	t.Parallel()
	_, c := serveAndDial(t, `"toolTimeout":"500ms"`)
	mustFail(t, c, "s__hang", "{}", "timeout", 5500*time.Millisecond)
	mustFail(t, c, "s__late", `{"ms":800}`, "timeout", 5500*time.Millisecond)
	checkWorks(t, c, "s")
	await.Moment(500 * time.Millisecond) // the late answer arrives after its call has ended
	for i := range 5 {
		mustAnswer(t, c, "s__echo", fmt.Sprintf(`{"text":"%d"}`, i), fmt.Sprint(i))
	}
}

// Text on stdout that is not JSON-RPC, responses to unknown requests and a flood on stderr disturb no call.
func TestNoise(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--banner", "Welcome to the server!"}}}), "--no-auth")
	g.AwaitReady(t)
	c := g.Dial(t, gateway.Legacy, "")
	for range 3 {
		mustAnswer(t, c, "s__noise", "{}", "quiet")
		mustAnswer(t, c, "s__garbage", "{}", "right")
		mustAnswer(t, c, "s__garbage", `{"textId":true}`, "right")
		checkWorks(t, c, "s")
	}
	const calls = 100
	for range calls {
		mustAnswer(t, c, "s__stderr", fmt.Sprintf(`{"bytes":%d}`, floodBytes/calls), "flooded")
	}
	checkWorks(t, c, "s")
}

// An answer over the limit of a frame fails its call and no other.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	_, c := serveAndDial(t, `"toolTimeout":"10m"`, `"mcp":{"limits":{"maxFrame":"256KiB"}}`)
	mustAnswer(t, c, "s__big", `{"bytes":1000}`, strings.Repeat("a", 1000))
	mustFail(t, c, "s__toolarge", `{"bytes":1000000}`, "output_too_large", 5*time.Second)
	mustFail(t, c, "s__toolarge", `{"bytes":1000000,"idLast":true}`, "output_too_large", 5*time.Second) // its end names the call
	checkWorks(t, c, "s")
}

// A server that is missing, silent, faulty or gone neither delays nor hides the others.
func TestBadServersAmongGoodOnes(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	begin := time.Now()
	g := p.Serve(t, p.Settings(t, []gateway.Server{
		{Name: "silent", Flags: []string{"--never-answer"}, More: `"startTimeout":"4s"`},
		{Name: "missing", Entry: `{"command":"no-such-command-of-collie"}`},
		{Name: "good"},
		{Name: "dead", Flags: []string{"--exit-code", "3"}},
		{Name: "wordy", Flags: []string{"--print-stderr", "cannot connect to the flux capacitor"}},
		{Name: "wrong", Entry: `{"command":17}`},
		{Name: "away", Entry: `{"url":"http://127.0.0.1:1/mcp"}`},
		{Name: "better"},
	}), "--no-auth")
	c := g.Dial(t, gateway.Legacy, "")
	checkWorks(t, c, "better")
	checkWorks(t, c, "good")
	await.Within(t, "good servers", time.Since(begin), 5*time.Second)
	listed, err := c.Do(t.Context(), "tools/list", "{}")
	await.Within(t, "the list", time.Since(begin), 8*time.Second)
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"good__echo", "better__echo"} {
		if !strings.Contains(string(listed), `"name":"`+name+`"`) {
			t.Errorf("%s is not listed", name)
		}
	}
	line := g.AwaitReady(t)
	const again = " (starting again)" // instead of the reason, while the server is being restarted
	for _, want := range []string{
		"of 2 servers", "silent (handshake_timeout)", "missing (command_not_found)", "dead (exited_early)",
		"wordy (exited_early)", "wrong (config_invalid)", "away (connection_refused)",
	} {
		name, _, _ := strings.Cut(want, " ")
		if !strings.Contains(line, want) && !strings.Contains(line, name+again) {
			t.Errorf("the line of start-up lacks %q: %s", want, line)
		}
	}
	if log := g.Stderr(); !strings.Contains(log, "cannot connect to the flux capacitor") {
		t.Errorf("what a server said before it ended is not told: %s", log)
	}
	mustFail(t, c, "missing__x", "{}", "not_found", 5*time.Second)
	checkWorks(t, c, "good")
}

// A missing command fails within two seconds, and the error says what to do.
func TestMissingCommand(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	begin := time.Now()
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "missing", Entry: `{"command":"no-such-command-of-collie"}`}}), "--no-auth")
	if line := g.AwaitReady(t); !strings.Contains(line, "missing (command_not_found)") {
		t.Errorf("start-up: %s", line)
	}
	await.Within(t, "a missing command", time.Since(begin), 5*2*time.Second)
}

// A client that goes away in mid-call ends the call at the server.
func TestClientGivesUp(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	heard := filepath.Join(t.TempDir(), "heard")
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--record", heard}}}), "--no-auth")
	c := g.Dial(t, gateway.Legacy, "")
	for n := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.Tool(ctx, "s__hang", "{}")
			ended <- err
		}()
		await.Until(t, "the call is at the server", func() bool { return recordedHangs(heard) == n+1 })
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("hang: %v", err)
		}
	}
	await.Until(t, "all calls are on record as cancelled", func() bool {
		n := 0
		for _, r := range gateway.Records(t, g.Home) {
			if r.Kind == "call.result" && r.Outcome == "cancelled" {
				n++
			}
		}
		return n == 3
	})
	checkWorks(t, c, "s")
}
