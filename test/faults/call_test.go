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

	"collie/test/gateway"
)

// client serves one fakemcp named s, with these members in its entry, and dials it.
func client(t *testing.T, more string, sections ...string) (*gateway.Gateway, *gateway.Client) {
	t.Helper()
	p := gateway.Place(t)
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", More: more}}, sections...), "--no-auth")
	g.Started(t)
	return g, g.Dial(t, gateway.Legacy, "")
}

// fails calls a tool that must fail with an error of this type within the limit, and returns it.
func fails(t *testing.T, c *gateway.Client, name, args, kind string, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	begin := time.Now()
	text, err := c.Tool(ctx, name, args)
	took := time.Since(begin)
	if gateway.TypeOf(err) != kind {
		t.Errorf("%s %s: %q, error %v; want an error of type %s", name, args, text, err, kind)
	}
	if took > limit {
		t.Errorf("%s %s failed after %v, want at most %v", name, args, took, limit)
	}
	t.Logf("%s %s: %v after %v", name, args, err, took.Round(time.Millisecond))
	return err
}

// answers calls a tool that must answer this text.
func answers(t *testing.T, c *gateway.Client, name, args, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if text, err := c.Tool(ctx, name, args); text != want || err != nil {
		t.Errorf("%s %s: %.200q, error %v; want %q", name, args, text, err, want)
	}
}

// works shows that the server is well.
func works(t *testing.T, c *gateway.Client, server string) {
	t.Helper()
	answers(t, c, server+"__echo", `{"text":"well"}`, "well")
}

// A server that ends in mid-call fails that call at once; the next call starts it again.
func TestServerEndsInMidCall(t *testing.T) {
	t.Parallel()
	_, c := client(t, "")
	for _, args := range []string{`{"code":3}`, `{"code":0}`, `{"kill":true}`} {
		fails(t, c, "s__crash", args, "server_crashed", 5*time.Second)
		works(t, c, "s")
	}
}

// All calls that a server was busy with fail when it ends, none waits for its limit.
func TestAllCallsOfACrashFail(t *testing.T) {
	t.Parallel()
	_, c := client(t, "")
	errs := make(chan error, 20)
	for range cap(errs) {
		go func() {
			_, err := c.Tool(t.Context(), "s__hang", "{}")
			errs <- err
		}()
	}
	time.Sleep(300 * time.Millisecond) // what is not there by then is sent again, and hangs
	begin := time.Now()
	fails(t, c, "s__crash", `{"kill":true}`, "server_crashed", 5*time.Second)
	for range cap(errs) {
		select {
		case err := <-errs:
			if gateway.TypeOf(err) != "server_crashed" {
				t.Errorf("a call in flight: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a call in flight still waits")
		}
	}
	t.Logf("all failed within %v", time.Since(begin).Round(time.Millisecond))
}

// An answer that cannot be read fails its call at once, which says so and does not wait for the
// limit of its server.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	_, c := client(t, `"toolTimeout":"10m"`)
	if err := fails(t, c, "s__badjson", "{}", "server_error", 30*time.Second); err != nil && !strings.Contains(err.Error(), "string without an end") {
		t.Errorf("what was wrong with the answer is not told: %v", err)
	}
	works(t, c, "s")
}

// A call that gets no answer ends with the limit of its server, and the server lives on.
func TestHang(t *testing.T) {
	t.Parallel()
	_, c := client(t, `"toolTimeout":"500ms"`)
	fails(t, c, "s__hang", "{}", "timeout", 5500*time.Millisecond)
	fails(t, c, "s__late", `{"ms":800}`, "timeout", 5500*time.Millisecond)
	works(t, c, "s")
	time.Sleep(500 * time.Millisecond) // the late answer comes, to nobody
	for i := range 5 {
		answers(t, c, "s__echo", fmt.Sprintf(`{"text":"%d"}`, i), fmt.Sprint(i))
	}
}

// Noise on stdout, answers to nobody and a flood on stderr disturb no call.
func TestNoise(t *testing.T) {
	t.Parallel()
	p := gateway.Place(t)
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--banner", "Welcome to the server!"}}}), "--no-auth")
	g.Started(t)
	c := g.Dial(t, gateway.Legacy, "")
	for range 3 {
		answers(t, c, "s__noise", "{}", "quiet")
		answers(t, c, "s__garbage", "{}", "right")
		answers(t, c, "s__garbage", `{"textId":true}`, "right")
		works(t, c, "s")
	}
	const calls = 100
	for range calls {
		answers(t, c, "s__stderr", fmt.Sprintf(`{"bytes":%d}`, floodBytes/calls), "flooded")
	}
	works(t, c, "s")
}

// An answer over the limit of a frame fails its call and no other.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	_, c := client(t, `"toolTimeout":"10m"`, `"mcp":{"limits":{"maxFrame":"256KiB"}}`)
	answers(t, c, "s__big", `{"bytes":1000}`, strings.Repeat("a", 1000))
	fails(t, c, "s__toolarge", `{"bytes":1000000}`, "output_too_large", 5*time.Second)
	fails(t, c, "s__toolarge", `{"bytes":1000000,"idLast":true}`, "output_too_large", 5*time.Second) // its end names the call
	works(t, c, "s")
}

// One server that is missing, silent, wrong or gone neither delays nor hides another.
func TestBadServersAmongGoodOnes(t *testing.T) {
	t.Parallel()
	p := gateway.Place(t)
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
	works(t, c, "better")
	works(t, c, "good")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("good servers were callable after %v", took)
	}
	listed, err := c.Do(t.Context(), "tools/list", "{}")
	if took := time.Since(begin); err != nil || took > 8*time.Second {
		t.Errorf("list after %v: %v", took, err)
	}
	for _, name := range []string{"good__echo", "better__echo"} {
		if !strings.Contains(string(listed), `"name":"`+name+`"`) {
			t.Errorf("%s is not listed", name)
		}
	}
	line := g.Started(t)
	const again = " (starting again)" // where it is tried at this very moment
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
	fails(t, c, "missing__x", "{}", "not_found", 5*time.Second)
	works(t, c, "good")
}

// A command that is not there fails within two seconds, and says what to do.
func TestMissingCommand(t *testing.T) {
	t.Parallel()
	p := gateway.Place(t)
	begin := time.Now()
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "missing", Entry: `{"command":"no-such-command-of-collie"}`}}), "--no-auth")
	if line := g.Started(t); !strings.Contains(line, "missing (command_not_found)") {
		t.Errorf("start-up: %s", line)
	}
	if took := time.Since(begin); took > 5*2*time.Second {
		t.Errorf("a missing command was told after %v", took)
	}
}

// A client that goes away in mid-call ends the call at the server.
func TestClientGivesUp(t *testing.T) {
	t.Parallel()
	p := gateway.Place(t)
	heard := filepath.Join(t.TempDir(), "heard")
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--record", heard}}}), "--no-auth")
	c := g.Dial(t, gateway.Legacy, "")
	until := func(n int, what string, count func() int) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); count() != n; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d calls are %s", count(), n, what)
			}
		}
	}
	for n := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.Tool(ctx, "s__hang", "{}")
			ended <- err
		}()
		until(n+1, "at the server", func() int {
			raw, _ := os.ReadFile(heard) // it comes with the first request
			return strings.Count(string(raw), `"name":"hang"`)
		})
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("hang: %v", err)
		}
	}
	until(3, "on record as cancelled", func() (n int) {
		for _, r := range gateway.Records(t, g.Home) {
			if r.Kind == "call.result" && r.Outcome == "cancelled" {
				n++
			}
		}
		return n
	})
	works(t, c, "s")
}
