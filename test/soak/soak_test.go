//go:build unix

package soak_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/test/gateway"
)

const (
	clients = 196 // beside the listeners
	bridged = 6   // so many of the clients, and two of the listeners, come through collie stdio
	// think is how long a client pauses on average, and calm how long chaos does. With these, two cores are busy for a
	// fifth of the time at most, because other tests need them too.
	think = 3 * time.Second
	calm  = time.Second
	// subscribedServers is how many servers, from the first one on, have a resource that the listeners subscribe to.
	subscribedServers = 6
)

// soak is a gateway with its servers and listeners.
type soak struct {
	*verdict
	servers   []*server
	listeners []*listener

	programs            gateway.Programs
	gateway             *gateway.Gateway
	url, token, control string
	settings            string
}

// TestSoak: servers die, change and come back. No other server and no client is affected, and the gateway does not
// grow.
func TestSoak(t *testing.T) {
	t.Parallel()
	t.Logf("for %v, seed %d", *span, *seed)
	r := start(t)
	clientsCtx, stopClients := context.WithCancel(t.Context())
	defer stopClients()
	connected, stdio := r.connectAll(clientsCtx, t)
	samplerCtx, stopSampler := context.WithCancel(t.Context())
	defer stopSampler()
	samples := &sampler{g: r.gateway, token: r.token}
	var sampling sync.WaitGroup
	sampling.Go(func() { samples.takeSamples(samplerCtx, t) })

	chaosCtx, stopChaos := context.WithTimeout(t.Context(), *span)
	defer stopChaos()
	r.newChaos(t).runUntilEnd(chaosCtx)

	stopSampler()
	sampling.Wait()
	stopClients()
	connected.Wait()
	samples.checkGrowth(t)
	r.report(t)
	r.stop(t, stdio)
}

// start starts the servers and the gateway.
func start(t *testing.T) *soak {
	t.Helper()
	r := &soak{verdict: newVerdict(), programs: gateway.LinkPrograms(t)}
	r.servers = servers(t, r.programs)
	entries := make([]gateway.Server, len(r.servers))
	for i, s := range r.servers {
		entries[i] = s.entry()
	}
	r.settings = r.programs.Settings(t, entries, `"http":{"metrics":true}`)
	r.gateway = r.programs.Serve(t, r.settings)
	r.gateway.AwaitReady(t)
	r.url = r.gateway.URL + "/mcp"
	r.token, r.control, _ = r.gateway.Keys(t)
	return r
}

// connectAll connects all listeners and clients. They disconnect when ctx ends, and connected waits for that.
func (r *soak) connectAll(ctx context.Context, t *testing.T) (connected *sync.WaitGroup, stdio []*stdioSession) {
	t.Helper()
	connected = new(sync.WaitGroup)
	pipe := func(era string) session {
		s := startStdio(t, r.programs, r.gateway.Home, r.settings, era)
		stdio = append(stdio, s)
		return s
	}
	for _, era := range []string{legacy, modern} {
		r.listeners = append(r.listeners,
			&listener{name: "http " + era, session: r.dial(t, era)}, &listener{name: "stdio " + era, session: pipe(era)})
	}
	var uris []string
	for _, s := range r.servers[:subscribedServers] {
		uris = append(uris, s.uri())
	}
	for _, l := range r.listeners {
		l.open, l.uris = make(chan struct{}), map[string]int{}
		connected.Go(func() { r.runListener(ctx, l, uris) })
		select {
		case <-l.open:
		case <-time.After(callLimit):
			t.Fatalf("the listener %s does not hear", l.name)
		}
	}
	for i := range clients {
		era := []string{legacy, modern, legacy}[i%3]
		v := &client{soak: r, name: "v" + strconv.Itoa(i), dice: rand.New(rand.NewPCG(*seed, uint64(i)))}
		if i < bridged {
			v.session = pipe(era)
		} else {
			v.session = r.dial(t, era)
			v.reopen = func(ctx context.Context) (session, error) { return dial(ctx, r.url, r.token, era) }
		}
		connected.Go(func() { v.actUntilEnd(ctx) })
	}
	return connected, stdio
}

// dial opens a session over HTTP.
func (r *soak) dial(t *testing.T, era string) session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	s, err := dial(ctx, r.url, r.token, era)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newChaos returns the chaos of this run, with sessions of its own.
func (r *soak) newChaos(t *testing.T) *chaos {
	t.Helper()
	file, err := readSettings(r.verdict, r.settings, r.programs.Fake)
	if err != nil {
		t.Fatal(err)
	}
	c := &chaos{
		soak: r, dice: rand.New(rand.NewPCG(*seed, clients)), eras: map[string]*client{},
		api: newAPI(r.gateway, r.verdict, r.control), file: file,
	}
	for _, era := range []string{legacy, modern} {
		c.eras[era] = &client{soak: r, session: r.dial(t, era), name: "chaos " + era}
	}
	return c
}

// stop ends the gateway, and checks that no process is left and its files are intact.
func (r *soak) stop(t *testing.T, stdio []*stdioSession) {
	t.Helper()
	for _, s := range stdio {
		if !s.run.AwaitExit(callLimit) || s.run.ExitCode() != 0 {
			t.Errorf("collie stdio did not end well: %s", s.run.Stderr())
		}
	}
	for _, s := range r.servers {
		if s.http != nil {
			s.http.kill()
		}
	}
	r.gateway.Signal(syscall.SIGTERM)
	t.Logf("nothing left after %v", r.programs.AwaitNone(t, callLimit).Round(time.Millisecond))
	if code := r.gateway.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.gateway.Stderr())
	}
	if stdout, stderr, code := r.programs.Run(t, r.gateway.Home, "audit", "verify", "--config", r.settings); code != 0 {
		t.Errorf("collie audit verify: exit code %d\n%s%s", code, stdout, stderr)
	}
	r.startAgain(t)
}

// startAgain checks that the cache holds every server, and that the next gateway lists them all without starting any.
func (r *soak) startAgain(t *testing.T) {
	t.Helper()
	var files []string
	for _, place := range []string{filepath.Join(filepath.Dir(r.settings), "collie.cache.json"), filepath.Join(r.gateway.Home, "cache", "*.json")} {
		found, err := filepath.Glob(place)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) != 1 {
		t.Fatalf("want one cache file, got %v", files)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if report := toolcache.Verify(raw); !report.OK() {
		t.Errorf("the cache file is not valid: %+v", report.Findings)
	}
	r.gateway = r.programs.ServeIn(t, r.gateway.Home, r.settings)
	r.url = r.gateway.URL + "/mcp"
	last := &client{soak: r, session: r.dial(t, legacy), name: "the last one"}
	last.verdict = newVerdict()
	last.checkToolList(t.Context(), r.servers[0])
	last.close()
	for _, w := range last.wrong {
		t.Error(w)
	}
	if running := r.programs.Running(t); len(running) != 1 {
		t.Errorf("a start with everything in the cache started something: %v", running)
	}
}
