//go:build unix

package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/gateway"
)

// limit bounds the wait for an answer, including the time that a client waits for a gateway that does not come back.
const limit = await.Limit

// clients are three programs that each start `collie stdio`, of both eras.
type clients struct {
	t    *testing.T
	list []*gateway.Client
	runs []*gateway.Process
}

func startClients(t *testing.T, p gateway.Programs, home, settings string) *clients {
	t.Helper()
	c := &clients{t: t}
	for _, era := range []string{gateway.Legacy, gateway.Modern, gateway.Legacy} {
		run, client := p.DialStdio(t, era, home, settings)
		c.list, c.runs = append(c.list, client), append(c.runs, run)
	}
	return c
}

// serverPIDs returns the ids of the server processes that answer the clients.
func (c *clients) serverPIDs() map[string]bool {
	c.t.Helper()
	seen := map[string]bool{}
	for n, client := range c.list {
		ctx, cancel := context.WithTimeout(c.t.Context(), limit)
		pid, err := client.Tool(ctx, "f__pid", `{}`)
		cancel()
		if err != nil {
			c.t.Fatalf("client %d: %v\n%s", n, err, c.runs[n].Stderr())
		}
		seen[pid] = true
	}
	return seen
}

// countServers counts the server processes.
func countServers(t *testing.T, p gateway.Programs) (n int) {
	t.Helper()
	for _, line := range p.Running(t) {
		if strings.Contains(line, "fakemcp") {
			n++
		}
	}
	return n
}

// TestShared checks that three clients beside a gateway start no server processes of their own.
func TestShared(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{{Name: "f"}, {Name: "g"}})
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	c := startClients(t, p, g.Home, settings)
	if got := c.serverPIDs(); len(got) != 1 {
		t.Errorf("the clients speak to the processes %v, want one", got)
	}
	if n := countServers(t, p); n != 2 {
		t.Errorf("%d server processes for two servers: %v", n, p.Running(t))
	}
	for n, run := range c.runs {
		_ = run.Stdin.Close()
		if !run.AwaitExit(limit) || run.ExitCode() != 0 {
			t.Errorf("client %d did not end well: %s", n, run.Stderr())
		}
		if said := run.Stderr(); said != "" {
			t.Errorf("client %d said: %s", n, said)
		}
	}
	if n := countServers(t, p); n != 2 {
		t.Errorf("%d server processes once the clients had gone", n)
	}
}

// After a gateway has restarted, its clients are connected again, whether it crashed or was
// stopped. Messages sent meanwhile wait.
func TestComesBack(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(fmt.Sprint(sig), func(t *testing.T) {
			t.Parallel()
			p := gateway.LinkPrograms(t)
			settings := p.Settings(t, []gateway.Server{{Name: "f"}})
			g := p.Serve(t, settings)
			g.AwaitReady(t)
			c := startClients(t, p, g.Home, settings)
			before := c.serverPIDs()
			g.Signal(sig)
			if !g.AwaitExit(limit) {
				t.Fatal("the gateway does not end")
			}
			begun := time.Now()
			p.ServeIn(t, g.Home, settings).AwaitReady(t)
			after := c.serverPIDs()
			t.Logf("served again after %v", time.Since(begun))
			for pid := range after {
				if before[pid] || len(after) != 1 {
					t.Errorf("the clients speak to the processes %v, before to %v", after, before)
				}
			}
			if n := countServers(t, p); n != 1 {
				t.Errorf("%d server processes: %v", n, p.Running(t))
			}
		})
	}
}

// TestGoesOnAlone kills a gateway for good: its clients go on with servers of their own, and leave no process behind.
func TestGoesOnAlone(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{{Name: "f"}})
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	c := startClients(t, p, g.Home, settings)
	c.serverPIDs()
	g.Signal(syscall.SIGKILL)
	if !g.AwaitExit(limit) {
		t.Fatal("the gateway does not end")
	}
	begun := time.Now()
	if got := c.serverPIDs(); len(got) != len(c.list) {
		t.Errorf("the clients speak to the processes %v, want one each", got)
	}
	t.Logf("served again after %v", time.Since(begun))
	for n, run := range c.runs {
		if n == 0 {
			run.Signal(syscall.SIGTERM)
		} else {
			_ = run.Stdin.Close()
		}
		if !run.AwaitExit(limit) || run.ExitCode() != 0 {
			t.Errorf("client %d did not end well: %s", n, run.Stderr())
		}
	}
	p.AwaitNone(t, limit)
}
