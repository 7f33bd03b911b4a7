package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// optionalLists are the list requests whose answers are not needed to call a tool.
const optionalLists = "resources/list,resources/templates/list,prompts/list"

// tripTime is the simulated duration of a request to a remote server.
const tripTime = 200 * time.Millisecond

// firstCalls measures how long the first call of a server takes that is not running, compared with a start of the server
// without Collie. It does so for a server of both eras with clients of each, known from the cache and never seen; with
// optional lists that hang or are slow; and for a remote server.
func (b *bench) firstCalls(ctx context.Context) error {
	own, err := b.ownStarts(ctx)
	if err != nil {
		return err
	}
	boot := b.plan.boot.String()
	both := map[string]any{"command": b.lean.program, "args": []string{"--era", "both", "--delay-start", boot}}
	alone := map[string]any{"command": both["command"], "args": both["args"], "isolation": "session"}
	for _, e := range []era{legacy, modern} {
		for _, server := range []struct {
			what  string
			entry map[string]any
		}{{"", both}, {", a process a session", alone}} {
			warm, err := b.firstCallsOf(ctx, e, server.entry, true)
			if err != nil {
				return fmt.Errorf("%s%s, known: %w", e.forPeople(), server.what, err)
			}
			cold, err := b.firstCallsOf(ctx, e, server.entry, false)
			if err != nil {
				return fmt.Errorf("%s%s, never seen: %w", e.forPeople(), server.what, err)
			}
			who := fmt.Sprintf(", server of both eras, %s client%s", e.forPeople(), server.what)
			b.add("first call ÷ the server's own start"+who, ratio, combineRounds(warm.call, own, div), atMost(1.1))
			b.add("the same of a server never seen, after the list"+who, ratio, combineRounds(cold.call, own, div), atMost(1.1))
			b.add("the same of a server never seen, with the list"+who, ratio, combineRounds(cold.all, own, div), bound{})
		}
	}
	return b.firstCallsBeside(ctx)
}

// firstCallsBeside measures what optional lists add, and the round trips of a remote server.
func (b *bench) firstCallsBeside(ctx context.Context) error {
	plain := map[bool]float64{} // duration for a server without such lists, known and never seen
	for _, lists := range []struct {
		what string
		args []string
	}{{"", nil}, {"hung", []string{"--hang", optionalLists}}, {"slow", []string{"--slow", optionalLists}}} {
		for _, warm := range []bool{true, false} {
			took, err := b.firstCallsOf(ctx, legacy, map[string]any{"command": b.lean.program, "args": lists.args}, warm)
			if err != nil {
				return fmt.Errorf("lists %s: %w", lists.what, err)
			}
			of, what := took.call, "first call"
			if !warm {
				of, what = took.all, "first list and call of a server never seen"
			}
			if lists.what == "" {
				plain[warm] = nearestRank(of, 50)
				continue
			}
			added := combineRounds(of, repeat(plain[warm], len(of)), sub)
			b.add(lists.what+" optional lists add to the "+what, milliseconds, added, atMost(50))
		}
	}
	for _, e := range []era{legacy, modern} {
		n, err := b.roundTrips(ctx, e)
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("round trips of a first call in sequence, HTTP at %v a request, %s", tripTime, e.forPeople()), number, n, atMost(3))
	}
	return nil
}

// ownStarts returns the time from the server's own start to its first answer, in ms.
func (b *bench) ownStarts(ctx context.Context) (took []float64, err error) {
	for range b.plan.firsts {
		begun := time.Now()
		s, err := startStdio(ctx, b.lean.program, "--delay-start", b.plan.boot.String())
		if err != nil {
			return nil, err
		}
		s.prepare(callTool("echo", echoArgs))
		_, err = s.call()
		took = append(took, micros(time.Since(begun))/1000)
		if cerr := s.close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// firstCallTimes are the durations of first calls, alone and including the list before them, in ms.
type firstCallTimes struct{ call, all []float64 }

// firstCallsOf measures first calls of a server by clients of an era. If warm, an earlier gateway of the home knows the
// server, and a modern client has called it there; otherwise each gateway sees it for the first time.
func (b *bench) firstCallsOf(ctx context.Context, e era, entry map[string]any, warm bool) (out firstCallTimes, err error) {
	in, err := b.installOne(entry)
	if err == nil && warm {
		_, _, err = b.firstCall(ctx, in, collieReady, modern) // the last event has all figures
	}
	for range b.plan.firsts {
		if err == nil && !warm {
			in, err = b.installOne(entry)
		}
		if err != nil {
			return out, err
		}
		var call, all time.Duration
		call, all, err = b.firstCall(ctx, in, collieListens, e)
		out.call, out.all = append(out.call, micros(call)/1000), append(out.all, micros(all)/1000)
	}
	return out, err
}

// installOne sets up one server, s, with this entry.
func (b *bench) installOne(entry map[string]any) (*installation, error) {
	text, err := json.Marshal(map[string]any{
		"mcpServers": map[string]any{"s": entry}, "siyuan": map[string]any{"enabled": false},
		"cache": map[string]any{"firstListWait": "1m"}, // a busy machine may take longer than the default
	})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.dir, "first-")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "collie.json")
	return &installation{home: filepath.Join(dir, "home"), config: config, servers: 1}, os.WriteFile(config, text, 0o600)
}

// firstCall starts a gateway, requests one list, makes one call, and stops it.
func (b *bench) firstCall(ctx context.Context, in *installation, ready *regexp.Regexp, e era) (call, all time.Duration, err error) {
	d, err := b.start(ctx, in, ready)
	if err != nil {
		return 0, 0, err
	}
	defer d.stop() //nolint:errcheck // it returns nil
	c, err := dialHTTP(ctx, d.endpoint, e)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	begun := time.Now()
	c.prepare(request{method: "tools/list"})
	msg, err := c.call()
	if err == nil && !strings.Contains(string(msg), `"s__echo"`) {
		err = fmt.Errorf("the tool is not listed: %.200q", msg)
	}
	if err != nil {
		return 0, 0, err
	}
	listed := time.Now()
	c.prepare(callTool("s__echo", echoArgs))
	_, err = c.call()
	return time.Since(listed), time.Since(begun), err
}

// roundTrips returns how many consecutive requests a first call of a remote server waits for.
func (b *bench) roundTrips(ctx context.Context, e era) (n []float64, err error) {
	server, err := b.lean.serve(ctx, "--era", "both", "--lag", tripTime.String())
	if err != nil {
		return nil, err
	}
	defer server.stop() //nolint:errcheck // it returns nil
	took, err := b.firstCallsOf(ctx, e, map[string]any{"url": server.url}, true)
	for _, ms := range took.call {
		n = append(n, math.Floor(ms/(micros(tripTime)/1000)))
	}
	return n, err
}

// forPeople returns an era's name for people.
func (e era) forPeople() string {
	if e == modern {
		return "modern"
	}
	return "legacy"
}
