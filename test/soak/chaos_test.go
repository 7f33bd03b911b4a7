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
	times int // in a deck
	do    func(*chaos, context.Context)
}{
	"kill":    {5, (*chaos).killServer},
	"crash":   {2, (*chaos).crashServer},
	"restart": {2, (*chaos).restartServer},
	"change":  {3, (*chaos).changeToolList},
	"touch":   {3, (*chaos).changeResource},
	"outage":  {2, (*chaos).interruptRemote},
	"edit":    {3, (*chaos).editSettings},
	"spoil":   {1, (*chaos).spoilSettings},
}

// runUntilEnd takes one step after the other, with pauses, until ctx ends. Whenever the deck is empty, it shuffles a new one.
func (c *chaos) runUntilEnd(ctx context.Context) {
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

// pickEra returns one of the eras that a server speaks.
func (c *chaos) pickEra(s *server) string {
	if s.era == "legacy" || s.era == "both" && c.dice.IntN(2) == 0 {
		return legacy
	}
	return modern
}

// randomChild returns a random server that the gateway runs as a child process.
func (c *chaos) randomChild() *server { return c.servers[c.dice.IntN(childServers)] }

// pid asks a server for the id of the process that serves an era.
func (c *chaos) pid(ctx context.Context, s *server, era string) int {
	a, ok := c.eras[era].call(ctx, "pid", s, "pid", "{}")
	if !ok {
		return 0
	}
	pid, err := strconv.Atoi(a.text())
	if err != nil {
		c.recordWrongf("pid of %s: %v", s.name, a)
	}
	return pid
}

// awaitRecovery waits until a server answers again, and ends the disturbance by calling over.
func (c *chaos) awaitRecovery(ctx context.Context, s *server, era string, over func()) {
	defer over()
	begun := time.Now()
	for {
		text := c.eras[era].uniqueText(0)
		a, ok := c.eras[era].call(ctx, "echo after it", s, "echo", `{"text":`+strconv.Quote(text)+`}`)
		if ok {
			c.eras[era].checkAnswer("echo after it", s, a, a.text() == text)
			break
		}
		if time.Since(begun) > callLimit {
			c.recordWrongf("%s does not come back", s.name)
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	c.recordRecovery(time.Since(begun))
}

// killServer kills the process of a server. It takes the process id from the state that the gateway reports, or asks the
// server.
func (c *chaos) killServer(ctx context.Context) {
	s := c.randomChild()
	era := c.pickEra(s)
	var pid int
	if c.dice.IntN(2) == 0 {
		pid = c.api.status(ctx, s.name).PID
	} else {
		pid = c.pid(ctx, s, era)
	}
	if pid == 0 {
		c.recordWrongf("%s has no process to kill", s.name)
		return
	}
	over := c.beginDisturbance(s.name, "kill")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.recordWrongf("kill %s: %v", s.name, err)
	}
	for syscall.Kill(pid, 0) == nil {
		pause(ctx, time.Millisecond)
	}
	c.awaitRecovery(ctx, s, era, over)
}

// crashServer makes a server exit during a call.
func (c *chaos) crashServer(ctx context.Context) {
	s := c.randomChild()
	era := c.pickEra(s)
	over := c.beginDisturbance(s.name, "crash")
	if a, ok := c.eras[era].call(ctx, "crash", s, "crash", `{"code":3}`); ok {
		c.recordWrongf("a crash of %s was answered: %v", s.name, a)
	}
	c.awaitRecovery(ctx, s, era, over)
}

// restartServer restarts a server through the API.
func (c *chaos) restartServer(ctx context.Context) {
	s := c.randomChild()
	before := c.api.status(ctx, s.name)
	over := c.beginDisturbance(s.name, "restart")
	begun := time.Now()
	after := c.api.actOnServer(ctx, s.name, "restart")
	c.recordDuration("restart", s.name, time.Since(begun))
	if after.State != "ready" || after.PID == before.PID {
		c.recordWrongf("restart of %s: %+v, before %+v", s.name, after, before)
	}
	c.awaitRecovery(ctx, s, c.pickEra(s), over)
}

// changeToolList makes a server add the tool extra to its list, or remove it. Every listener must hear of that, and the list
// must change.
func (c *chaos) changeToolList(ctx context.Context) {
	s := c.randomChild()
	for s.era == "both" { // such a server has a process for each era, with a list of its own
		s = c.randomChild()
	}
	era := c.pickEra(s)
	pid := c.pid(ctx, s, era)
	c.countStep("change")
	c.awaitAllHear(ctx, "a change of the list of "+s.name, (*listener).listChanges, func() {
		if a, ok := c.eras[era].call(ctx, "change", s, "change", `{"kind":"tools"}`); !ok || a.text() != "changed" {
			c.recordWrongf("change %s: %v", s.name, a)
		}
		s.extra[pid] = !s.extra[pid]
	})
	c.awaitListed(ctx, s.name+"__extra", s.extra[pid])
}

// awaitListed waits until a tool is listed or, with want false, is not.
func (c *chaos) awaitListed(ctx context.Context, tool string, want bool) {
	begun := time.Now()
	for {
		a, err := c.eras[modern].do(ctx, "tools/list", "")
		if err != nil {
			c.recordWrongf("tools/list: %v", err)
			return
		}
		if a.result.Get(`tools.#(name=="`+tool+`")`).Exists() == want {
			c.recordDuration("list that has changed", tool, time.Since(begun))
			return
		}
		if time.Since(begun) > 2*backWithin {
			c.recordWrongf("%s listed: %t, want %t, after %v", tool, !want, want, time.Since(begun))
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// changeResource changes a resource that listeners subscribe to. They must hear of it even if its server was killed since they
// subscribed.
func (c *chaos) changeResource(ctx context.Context) {
	s := c.servers[c.dice.IntN(subscribedServers)]
	c.countStep("touch")
	c.awaitAllHear(ctx, "a change of "+s.uri(), func(l *listener) int { return l.resourceChanges(s.uri()) }, func() {
		era := c.pickEra(s)
		if a, ok := c.eras[era].call(ctx, "touch", s, "touch", `{"uri":"`+s.uri()+`"}`); !ok || a.text() != "touched" {
			c.recordWrongf("touch %s: %v", s.name, a)
		}
	})
}

// interruptRemote makes a remote server unreachable for a moment.
func (c *chaos) interruptRemote(ctx context.Context) {
	s := c.servers[childServers+c.dice.IntN(remoteServers)]
	over := c.beginDisturbance(s.name, "outage")
	s.http.kill()
	pause(ctx, 300*time.Millisecond)
	if err := s.http.start(); err != nil {
		c.recordWrongf("%v", err)
	}
	c.awaitRecovery(ctx, s, c.pickEra(s), over)
}

// editSettings adds the guest to the settings, changes it, or removes it. The other servers must not be affected.
func (c *chaos) editSettings(ctx context.Context) {
	before := c.api.servers(ctx)
	c.countStep("edit")
	begun := time.Now()
	turn := c.file.turns % settingsVersions
	c.file.edit()
	switch turn {
	case 0, 1: // the guest was added or changed
		c.awaitListed(ctx, "guest__echo", true)
		want := fmt.Sprintf("guest 1.0.%d", c.file.turns)
		for c.api.status(ctx, "guest").Server != want {
			if time.Since(begun) > 2*backWithin {
				c.recordWrongf("the guest is %q after %v, want %q", c.api.status(ctx, "guest").Server, time.Since(begun), want)
				break
			}
			pause(ctx, 100*time.Millisecond)
		}
		if a, err := c.eras[modern].do(ctx, "tools/call", `"name":"guest__echo","arguments":{"text":"welcome"}`); err != nil || a.text() != "welcome" {
			c.recordWrongf("the guest: %v %v", a, err)
		}
	case 2: // the guest was removed
		c.awaitListed(ctx, "guest__echo", false)
		if a, err := c.eras[modern].do(ctx, "tools/call", `"name":"guest__echo","arguments":{"text":"bye"}`); err != nil || !a.rpcError.Exists() {
			c.recordWrongf("a guest that has gone: %v %v", a, err)
		}
	}
	c.recordDuration("edit", "guest", time.Since(begun))
	after := c.api.servers(ctx)
	for _, s := range c.servers {
		// For a server of both eras the state names one of its processes, not always the same.
		if now, was := after[s.name], before[s.name]; s.era != "both" && (now.PID != was.PID || now.Starts != was.Starts) {
			c.recordWrongf("an edit of the guest restarted %s: %+v, before %+v", s.name, now, was)
		}
	}
}

// spoilSettings makes the settings unreadable for a while, which the gateway must report and otherwise ignore.
func (c *chaos) spoilSettings(ctx context.Context) {
	c.countStep("spoil")
	for _, spoilt := range []bool{true, false} {
		begun := time.Now()
		c.file.write(spoilt)
		for c.api.rejectsSettings(ctx) != spoilt {
			if time.Since(begun) > 2*backWithin {
				c.recordWrongf("settings that are wrong (%t) are not told after %v", spoilt, time.Since(begun))
				break
			}
			pause(ctx, 100*time.Millisecond)
		}
	}
}
