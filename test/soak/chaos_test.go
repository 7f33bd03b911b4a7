//go:build unix

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"time"
)

// chaos does to servers what may happen to them in real life, one thing after the other, and each time waits until
// all is well again.
type chaos struct {
	*soak
	dice *rand.Rand
	eras map[string]*client // its own sessions, one of each era
	api  *api
	file *settings
	deck []func(*chaos, context.Context) // the steps to come, shuffled
}

// steps are the things that chaos does, with how often each one occurs in a deck.
var steps = map[string]struct {
	times int
	do    func(*chaos, context.Context)
}{
	"kill":    {5, (*chaos).kill},
	"crash":   {2, (*chaos).crash},
	"restart": {2, (*chaos).restart},
	"change":  {3, (*chaos).change},
	"touch":   {3, (*chaos).touch},
	"outage":  {2, (*chaos).outage},
	"edit":    {3, (*chaos).edit},
	"spoil":   {1, (*chaos).spoil},
}

// reign makes chaos until ctx ends.
func (c *chaos) reign(ctx context.Context) {
	calls := context.WithoutCancel(ctx)
	for pause(ctx, time.Duration((0.5+c.dice.Float64())*float64(calm))) {
		if len(c.deck) == 0 {
			for _, name := range []string{"kill", "crash", "restart", "change", "touch", "outage", "edit", "spoil"} {
				for range steps[name].times {
					c.deck = append(c.deck, steps[name].do)
				}
			}
			c.dice.Shuffle(len(c.deck), func(i, j int) { c.deck[i], c.deck[j] = c.deck[j], c.deck[i] })
		}
		c.deck[0](c, calls)
		c.deck = c.deck[1:]
	}
	for _, v := range c.eras {
		v.close()
	}
}

// era returns one of the eras that a server speaks.
func (c *chaos) era(s *server) string {
	if s.era == "legacy" || s.era == "both" && c.dice.IntN(2) == 0 {
		return legacy
	}
	return modern
}

// child returns a random server that the gateway runs as a child process.
func (c *chaos) child() *server { return c.servers[c.dice.IntN(24)] }

// pid asks a server for the id of the process that serves an era.
func (c *chaos) pid(ctx context.Context, s *server, era string) int {
	a, ok := c.eras[era].call(ctx, "pid", s, "pid", "{}")
	if !ok {
		return 0
	}
	pid, err := strconv.Atoi(a.text())
	if err != nil {
		c.fail("pid of %s: %v", s.name, a)
	}
	return pid
}

// recovers waits until a server answers again, and ends the disturbance by calling over.
func (c *chaos) recovers(ctx context.Context, s *server, era string, over func()) {
	defer over()
	begun := time.Now()
	for {
		text := c.eras[era].text(0)
		a, ok := c.eras[era].call(ctx, "echo after it", s, "echo", `{"text":`+strconv.Quote(text)+`}`)
		if ok {
			c.eras[era].want("echo after it", s, a, a.text() == text)
			break
		}
		if time.Since(begun) > callLimit {
			c.fail("%s does not come back", s.name)
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	c.back(time.Since(begun))
}

// kill kills the process of a server. It takes the process id from the state that the gateway reports, or asks the
// server.
func (c *chaos) kill(ctx context.Context) {
	s := c.child()
	era := c.era(s)
	var pid int
	if c.dice.IntN(2) == 0 {
		pid = c.api.status(ctx, s.name).PID
	} else {
		pid = c.pid(ctx, s, era)
	}
	if pid == 0 {
		c.fail("%s has no process to kill", s.name)
		return
	}
	over := c.disturb(s.name, "kill")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.fail("kill %s: %v", s.name, err)
	}
	for syscall.Kill(pid, 0) == nil {
		pause(ctx, time.Millisecond)
	}
	c.recovers(ctx, s, era, over)
}

// crash makes a server exit during a call.
func (c *chaos) crash(ctx context.Context) {
	s := c.child()
	era := c.era(s)
	over := c.disturb(s.name, "crash")
	if a, ok := c.eras[era].call(ctx, "crash", s, "crash", `{"code":3}`); ok {
		c.fail("a crash of %s was answered: %v", s.name, a)
	}
	c.recovers(ctx, s, era, over)
}

// restart restarts a server through the API.
func (c *chaos) restart(ctx context.Context) {
	s := c.child()
	before := c.api.status(ctx, s.name)
	over := c.disturb(s.name, "restart")
	begun := time.Now()
	after := c.api.act(ctx, s.name, "restart")
	c.took("restart", s.name, time.Since(begun))
	if after.State != "ready" || after.PID == before.PID {
		c.fail("restart of %s: %+v, before %+v", s.name, after, before)
	}
	c.recovers(ctx, s, c.era(s), over)
}

// change makes a server add the tool extra to its list, or remove it. Every listener must hear of that, and the list
// must change.
func (c *chaos) change(ctx context.Context) {
	s := c.child()
	for s.era == "both" { // such a server has a process for each era, with a list of its own
		s = c.child()
	}
	era := c.era(s)
	pid := c.pid(ctx, s, era)
	c.step("change")
	c.allHear(ctx, "a change of the list of "+s.name, (*listener).heardLists, func() {
		if a, ok := c.eras[era].call(ctx, "change", s, "change", `{"kind":"tools"}`); !ok || a.text() != "changed" {
			c.fail("change %s: %v", s.name, a)
		}
		s.extra[pid] = !s.extra[pid]
	})
	c.listed(ctx, s.name+"__extra", s.extra[pid])
}

// listed waits until a tool is listed or, with want false, is not.
func (c *chaos) listed(ctx context.Context, tool string, want bool) {
	begun := time.Now()
	for {
		a, err := c.eras[modern].do(ctx, "tools/list", "")
		if err != nil {
			c.fail("tools/list: %v", err)
			return
		}
		if a.result.Get(`tools.#(name=="`+tool+`")`).Exists() == want {
			c.took("list that has changed", tool, time.Since(begun))
			return
		}
		if time.Since(begun) > 2*backWithin {
			c.fail("%s listed: %t, want %t, after %v", tool, !want, want, time.Since(begun))
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// touch changes a resource that listeners subscribe to. They must hear of it even if its server was killed since they
// subscribed.
func (c *chaos) touch(ctx context.Context) {
	s := c.servers[c.dice.IntN(subscribedServers)]
	c.step("touch")
	c.allHear(ctx, "a change of "+s.uri(), func(l *listener) int { return l.heardOf(s.uri()) }, func() {
		era := c.era(s)
		if a, ok := c.eras[era].call(ctx, "touch", s, "touch", `{"uri":"`+s.uri()+`"}`); !ok || a.text() != "touched" {
			c.fail("touch %s: %v", s.name, a)
		}
	})
}

// outage makes a remote server unreachable for a moment.
func (c *chaos) outage(ctx context.Context) {
	s := c.servers[24+c.dice.IntN(6)]
	over := c.disturb(s.name, "outage")
	s.http.kill()
	pause(ctx, 300*time.Millisecond)
	if err := s.http.start(); err != nil {
		c.fail("%v", err)
	}
	c.recovers(ctx, s, c.era(s), over)
}

// edit adds the guest to the settings, changes it, or removes it. The other servers must not be affected.
func (c *chaos) edit(ctx context.Context) {
	before := c.api.servers(ctx)
	c.step("edit")
	begun := time.Now()
	turn := c.file.turns % 3
	c.file.edit()
	switch turn {
	case 0, 1: // the guest was added or changed
		c.listed(ctx, "guest__echo", true)
		want := fmt.Sprintf("guest 1.0.%d", c.file.turns)
		for c.api.status(ctx, "guest").Server != want {
			if time.Since(begun) > 2*backWithin {
				c.fail("the guest is %q after %v, want %q", c.api.status(ctx, "guest").Server, time.Since(begun), want)
				break
			}
			pause(ctx, 100*time.Millisecond)
		}
		if a, err := c.eras[modern].do(ctx, "tools/call", `"name":"guest__echo","arguments":{"text":"welcome"}`); err != nil || a.text() != "welcome" {
			c.fail("the guest: %v %v", a, err)
		}
	case 2: // the guest was removed
		c.listed(ctx, "guest__echo", false)
		if a, err := c.eras[modern].do(ctx, "tools/call", `"name":"guest__echo","arguments":{"text":"bye"}`); err != nil || !a.failure.Exists() {
			c.fail("a guest that has gone: %v %v", a, err)
		}
	}
	c.took("edit", "guest", time.Since(begun))
	after := c.api.servers(ctx)
	for _, s := range c.servers {
		// For a server of both eras the state names one of its processes, not always the same.
		if now, was := after[s.name], before[s.name]; s.era != "both" && (now.PID != was.PID || now.Starts != was.Starts) {
			c.fail("an edit of the guest restarted %s: %+v, before %+v", s.name, now, was)
		}
	}
}

// spoil makes the settings unreadable for a while, which the gateway must report and otherwise ignore.
func (c *chaos) spoil(ctx context.Context) {
	c.step("spoil")
	for _, spoilt := range []bool{true, false} {
		begun := time.Now()
		c.file.write(spoilt)
		for c.api.spoilt(ctx) != spoilt {
			if time.Since(begun) > 2*backWithin {
				c.fail("settings that are wrong (%t) are not told after %v", spoilt, time.Since(begun))
				break
			}
			pause(ctx, 100*time.Millisecond)
		}
	}
}
