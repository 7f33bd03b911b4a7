//go:build unix

package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/await"
	"collie/test/gateway"
)

const (
	// answerLimit bounds the time of a call after its server was killed: five times two seconds.
	answerLimit = 10 * time.Second
	// failLimit bounds the time until a running call fails after its server was killed: five times a second.
	failLimit = 5 * time.Second
	// refuseLimit bounds the time of a call to a server that has failed too often: five times 50 ms.
	refuseLimit = 250 * time.Millisecond
	// kills is how often a server is killed in a row.
	kills = 100
)

// pairs are servers over stdio and the clients that call them.
var pairs = []struct{ name, server, client string }{
	{"legacy", "legacy", gateway.Legacy},
	{"modern", "modern", gateway.Modern},
	{"legacy server, modern client", "legacy", gateway.Modern},
	{"modern server, legacy client", "modern", gateway.Legacy},
	{"both, legacy client", "both", gateway.Legacy},
	{"both, modern client", "both", gateway.Modern},
}

// TestRecovery kills servers: the next call starts the server again, and a call that was running fails at once.
func TestRecovery(t *testing.T) {
	t.Parallel()
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			t.Parallel()
			p := gateway.LinkPrograms(t)
			record := filepath.Join(t.TempDir(), "record")
			g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--era", pair.server, "--record", record}}}), "--no-auth")
			g.AwaitReady(t)
			c := g.Dial(t, pair.client, "")
			checkWorks(t, c, "s")

			await.Moment(500 * time.Millisecond) // nobody uses it
			killed := killServer(t, c)
			t.Logf("killed while idle: the next call took %v", callAfterKill(t, c, killed))

			await.Moment(time.Second) // it comes back by itself, or waits to be called: either is fine
			killed = killServer(t, c)
			await.Moment(1500 * time.Millisecond)
			t.Logf("called a moment after the end: that took %v", callAfterKill(t, c, killed))

			failed := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
				defer cancel()
				_, err := c.Tool(ctx, "s__hang", "{}")
				failed <- err
			}()
			await.Until(t, "the call is at the server", func() bool { return recordedHangs(record) == 1 })
			killed = killServer(t, c)
			begun := time.Now()
			select {
			case err := <-failed:
				if gateway.TypeOf(err) != "server_crashed" {
					t.Errorf("the call under way: %v", err)
				}
				await.Within(t, "a call whose server was killed, to fail", time.Since(begun), failLimit)
			case <-time.After(await.Limit):
				t.Error("the call under way waits after its server was killed")
			}
			t.Logf("killed in mid-call: the next call took %v", callAfterKill(t, c, killed))
		})
	}
}

// killServer ends the server process that c calls and waits until it is gone, because a dying process may still read a call.
func killServer(t *testing.T, c *gateway.Client) (pid int) {
	t.Helper()
	pid, err := strconv.Atoi(mustText(t, c, "s__pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "somebody waits for the process that was killed", func() bool { return syscall.Kill(pid, 0) != nil })
	return pid
}

// callAfterKill makes the next call, which a new process must answer, and returns how long it took.
func callAfterKill(t *testing.T, c *gateway.Client, killed int) time.Duration {
	t.Helper()
	begun := time.Now()
	checkWorks(t, c, "s")
	took := time.Since(begun)
	await.Within(t, "the call after a kill", took, answerLimit)
	if now := mustText(t, c, "s__pid"); now == strconv.Itoa(killed) {
		t.Errorf("process %s answers, which was killed", now)
	}
	return took.Round(100 * time.Microsecond)
}

// A server that is killed repeatedly is back for each next call, and nothing leaks: no process, no descriptor, no
// goroutine.
func TestKillsInARow(t *testing.T) {
	t.Parallel()
	for _, pair := range pairs[:2] {
		t.Run(pair.name, func(t *testing.T) {
			t.Parallel()
			p := gateway.LinkPrograms(t)
			settings := p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--era", pair.server}}, {Name: "other"}}, `"http":{"metrics":true}`)
			g := p.Serve(t, settings, "--no-auth")
			g.AwaitReady(t)
			c := g.Dial(t, pair.client, "")
			callAfterKill(t, c, killServer(t, c)) // so that everything has run once
			checkWorks(t, c, "other")
			other := mustText(t, c, "other__pid")
			before := countUse(t, g)
			worst, begun := time.Duration(0), time.Now()
			for range kills {
				worst = max(worst, callAfterKill(t, c, killServer(t, c)))
			}
			t.Logf("%d kills in %v, the slowest answer after one took %v", kills, time.Since(begun).Round(time.Millisecond), worst)
			if now := mustText(t, c, "other__pid"); now != other || !g.Alive() {
				t.Errorf("the other server is process %s, %s before; the gateway runs: %t", now, other, g.Alive())
			}
			after := before
			await.Until(t, fmt.Sprintf("%d kills leave nothing but %+v", kills, before), func() bool {
				after = countUse(t, g)
				return after.processes <= before.processes && after.descriptors <= before.descriptors+2 && after.goroutines <= before.goroutines+5
			}, func() string { return fmt.Sprintf("%+v", after) })
		})
	}
}

// A server that ends in every call is not started again after the fifth. Further calls fail at once
// and say when a retry makes sense. Other servers are not affected.
func TestBreaker(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	g := p.Serve(t, p.Settings(t, []gateway.Server{{Name: "s", Flags: []string{"--crash-after", "0"}}, {Name: "other"}}), "--no-auth")
	g.AwaitReady(t)
	c := g.Dial(t, gateway.Legacy, "")
	for range 5 {
		mustFail(t, c, "s__echo", "{}", "server_crashed", answerLimit)
	}
	for range 3 {
		mustFail(t, c, "s__echo", "{}", "server_unavailable", refuseLimit)
		checkWorks(t, c, "other")
	}
	_, err := c.Tool(t.Context(), "s__echo", "{}")
	if f, ok := errors.AsType[*gateway.Failure](err); !ok || !gjson.Get(f.Text, "error.retryAfterSeconds").Exists() {
		t.Errorf("the refusal does not say when to try again: %v", err)
	}
}

// use counts what a gateway uses. A count is 0 if the system does not tell.
type use struct{ processes, descriptors, goroutines int }

// countUse counts the processes of a gateway and its servers, and the descriptors and goroutines of the gateway itself.
func countUse(t *testing.T, g *gateway.Gateway) use {
	t.Helper()
	w := use{processes: len(g.Running(t)), goroutines: readGoroutines(t, g.URL)}
	if list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.PID())); err == nil {
		w.descriptors = len(list)
	}
	return w
}

// readGoroutines asks the gateway, without leaving a connection.
func readGoroutines(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("/metrics does not tell go_goroutines")
	return 0
}

// mustText calls a tool without arguments, which must answer, and returns the text.
func mustText(t *testing.T, c *gateway.Client, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	text, err := c.Tool(ctx, name, "{}")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}
