package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/listing"
	"collie/internal/tool"
	"collie/test/await"
)

// fakeServer is an MCP server connected by pipes in memory, so that tests control its time.
type fakeServer struct {
	starts        atomic.Int64
	refuse        atomic.Bool  // starts fail
	ignoresPings  atomic.Bool  // pings are not answered
	ignoresCalls  atomic.Bool  // calls are not answered
	fatalCalls    atomic.Int64 // the server dies at each of its next so many calls
	calls         atomic.Int64
	missing       atomic.Bool   // starts fail because the program does not exist
	subscriptions atomic.Int64  // requests of resources/subscribe
	lists         atomic.Int64  // requests of tools/list
	hold          chan struct{} // if not nil, starts wait until it is closed

	mu           sync.Mutex
	kill         func()
	tool         string
	brokenMethod string // this method fails
}

// open connects c to the server by pipes. It replaces Options.open.
func (m *fakeServer) open(ctx context.Context, c *conn, opts mcp.ClientOptions) error {
	m.starts.Add(1)
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if m.refuse.Load() {
		return errors.New("no luck")
	}
	if m.missing.Load() {
		return &process.StartError{Reason: "command_not_found", Name: "m"}
	}
	fromUs, toServer := io.Pipe()
	fromServer, toUs := io.Pipe()
	kill := func() {
		_ = toUs.Close()
		_ = fromUs.Close()
	}
	m.mu.Lock()
	m.kill = kill
	m.mu.Unlock()
	go m.serve(fromUs, toUs, kill) // ends with the pipes
	lines := mcp.NewLines(fromServer, toServer, 0, func() error {
		_ = toServer.Close()
		return fromServer.Close()
	})
	var err error
	c.Client, err = mcp.Connect(ctx, mcp.NewConn(lines, c, nil), opts)
	return err
}

// serve answers requests until in ends. It calls die where a request is to end the server.
func (m *fakeServer) serve(in io.Reader, out io.Writer, die func()) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var req struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		result := `{}`
		m.mu.Lock()
		broken := m.brokenMethod == req.Method
		m.mu.Unlock()
		if broken {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"broken"}}`+"\n", req.ID)
			continue
		}
		switch req.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"m","version":"1"}}`
		case "tools/list":
			m.lists.Add(1)
			m.mu.Lock()
			result = `{"tools":[{"name":"` + m.tool + `","inputSchema":{"type":"object"}}]}`
			m.mu.Unlock()
		case "ping":
			if m.ignoresPings.Load() {
				continue
			}
		case "resources/subscribe":
			m.subscriptions.Add(1)
		case "tools/call":
			m.calls.Add(1)
			if m.fatalCalls.Add(-1) >= 0 {
				die()
				return
			}
			if m.ignoresCalls.Load() {
				continue
			}
			result = `{"content":[]}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result)
	}
}

// crash ends the server as if its process had died.
func (m *fakeServer) crash() {
	m.mu.Lock()
	kill := m.kill
	m.mu.Unlock()
	if kill != nil {
		kill()
	}
}

// newPlayedServer returns a server with the given entry, played by m. The test must call done before its bubble ends.
func newPlayedServer(t testing.TB, m *fakeServer, raw string) (s *Server, done func()) {
	t.Helper()
	set := newPlayedSet(t, m, Options{}, newSpec(t, "m", raw))
	return set.servers[0], func() { set.Close(context.Background()) }
}

// newPlayedSet returns a set of servers, all played by m.
func newPlayedSet(t testing.TB, m *fakeServer, o Options, specs ...Spec) *Set {
	t.Helper()
	if m.tool == "" {
		m.tool = "echo"
	}
	o.open = m.open
	return NewSet(specs, o)
}

// newSpec returns the spec of entry raw under name.
func newSpec(t testing.TB, name, raw string) Spec {
	t.Helper()
	e, problems := entry.Parse(name, json.RawMessage(raw), entry.Options{Dir: "/", Cache: &entry.Cache{
		Enabled: true, MaxAge: 24 * time.Hour, MaxStale: 30 * 24 * time.Hour,
	}})
	for _, p := range problems {
		if p.Severity == entry.SeverityError {
			t.Fatal(p.Message)
		}
	}
	return Spec{Entry: e, Problems: problems}
}

// callEchoTool makes a call that belongs to no session.
func callEchoTool(s *Server) error { return callEchoIn(s, "") }

// callEchoIn makes a call for a session.
func callEchoIn(s *Server, session string) error {
	_, err := s.Run(context.Background(), &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Session: session},
		Target:  "echo", Args: json.RawMessage(`{}`), Action: &tool.Action{Name: "echo"},
	})
	return err
}

// plain is the entry of a server, with %s for further members, each after a comma.
const plain = `{"command":"true","protocol":"legacy"%s}`

// A server that is unused for idleTimeout stops, keeps its tools listed, and starts again when it is called.
func TestIdleStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"idleTimeout":"10m"`))
		defer done()
		if err := callEchoTool(s); err != nil {
			t.Fatal(err)
		}
		await.Sleep(9 * time.Minute)
		if err := callEchoTool(s); err != nil {
			t.Fatal(err)
		}
		await.Sleep(9 * time.Minute)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateReady {
			t.Fatalf("9 minutes after a call it is %s", st.State)
		}
		await.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateIdle || st.Reason != "idle_stop" || st.Tools != 1 {
			t.Fatalf("10 minutes after a call it is %s (%s) with %d tools, want idle (idle_stop) with 1", st.State, st.Reason, st.Tools)
		}
		if err := callEchoTool(s); err != nil || m.starts.Load() != 2 {
			t.Errorf("a call of an idle server: %v, %d starts", err, m.starts.Load())
		}
	})
}

// A server does not stop when idle if it is keepalive or eager, or if its idleTimeout is 0.
func TestNoIdleStop(t *testing.T) {
	t.Parallel()
	for name, setting := range map[string]string{
		"keepalive": `,"lifecycle":"keepalive"`, "eager": `,"lifecycle":"eager"`, "never": `,"idleTimeout":"0"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				s, done := newPlayedServer(t, m, fmt.Sprintf(plain, setting))
				defer done()
				if err := callEchoTool(s); err != nil {
					t.Fatal(err)
				}
				await.Sleep(24 * time.Hour)
				synctest.Wait()
				if st := s.Status(); st.State != tool.StateReady || m.starts.Load() != 1 {
					t.Errorf("after a day it is %s (%s), started %d times", st.State, st.Reason, m.starts.Load())
				}
			})
		})
	}
}

// A server that dies is restarted after a second, and at once if somebody calls it.
func TestRestartAfterACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, ""))
		defer done()
		if err := callEchoTool(s); err != nil {
			t.Fatal(err)
		}
		m.crash()
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateBackoff || st.Reason != "crashed" || st.NextRetry == nil || st.Tools != 1 {
			t.Fatalf("after a crash: %+v", st)
		}
		await.Sleep(time.Second)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateReady || st.Restarts != 1 {
			t.Fatalf("a second after a crash it is %s, restarted %d times", st.State, st.Restarts)
		}
		m.crash()
		synctest.Wait()
		if err := callEchoTool(s); err != nil {
			t.Errorf("a call right after a crash: %v", err)
		}
	})
}

// Once the breaker is open, calls of a failing server are refused at once. A person's request, or the end of the
// delay, allows one more try.
func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		m.refuse.Store(true)
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"lazy"`))
		defer done()
		s.listing.Publish(&listing.Lists{}, tool.FreshHit, "") // its tools are known: nothing starts it but calls
		for range 5 {
			if err := callEchoTool(s); tool.KindOf(err) != tool.Unavailable {
				t.Fatalf("a start that fails: %v", err)
			}
		}
		st := s.Status()
		if st.State != tool.StateOpen || st.Attempt != 5 {
			t.Fatalf("after 5 failures it is %s, attempt %d", st.State, st.Attempt)
		}
		before := time.Now()
		err := callEchoTool(s)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.Unavailable || e.RetryAfter <= 0 || time.Since(before) > 0 || m.starts.Load() != 5 {
			t.Fatalf("an open breaker: %v after %v, %d starts", err, time.Since(before), m.starts.Load())
		}
		m.refuse.Store(false)
		if err := s.Start(t.Context()); err != nil {
			t.Errorf("started by a person: %v", err)
		}
		if err := callEchoTool(s); err != nil {
			t.Error(err)
		}
	})
}

// After its delay an open breaker lets exactly one call try.
func TestHalfOpenTriesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		m.refuse.Store(true)
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"lazy"`))
		defer done()
		s.listing.Publish(&listing.Lists{}, tool.FreshHit, "")
		for range 5 {
			_ = callEchoTool(s)
		}
		await.Sleep(time.Until(*s.Status().NextRetry))
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() { _ = callEchoTool(s) })
		}
		calls.Wait()
		if n := m.starts.Load(); n != 6 {
			t.Errorf("100 calls after the delay caused %d starts, want 1", n-5)
		}
	})
}

// A server whose tools are unknown is started again after a failed start, without any call.
func TestUnknownToolsAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		m.refuse.Store(true)
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, ""))
		defer done()
		s.startFirst(nil)
		await.Sleep(3 * time.Second)
		synctest.Wait()
		if n := m.starts.Load(); n < 2 || n > 4 {
			t.Errorf("3 seconds after a failed start it was started %d times", n)
		}
		m.refuse.Store(false)
		await.Sleep(10 * time.Minute)
		synctest.Wait()
		if st := s.Status(); st.Tools != 1 {
			t.Errorf("10 minutes later it is %s (%s) with %d tools", st.State, st.Reason, st.Tools)
		}
	})
}

// A hundred simultaneous first calls start one process.
func TestFirstCallsShareAStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, ""))
		defer done()
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				if err := callEchoTool(s); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if n := m.starts.Load(); n != 1 {
			t.Errorf("%d starts", n)
		}
	})
}

// Unanswered pings first make a server degraded, then reconnect it.
func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"keepalive","health":{"ping":"30s","failures":3}`))
		defer done()
		if err := callEchoTool(s); err != nil {
			t.Fatal(err)
		}
		await.Sleep(10 * time.Minute)
		m.ignoresPings.Store(true)
		await.Sleep(3*35*time.Second + 31*time.Second)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateDegraded {
			t.Fatalf("after three missed pings it is %s", st.State)
		}
		m.ignoresPings.Store(false)
		await.Sleep(time.Minute)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateReady || m.starts.Load() != 1 {
			t.Fatalf("when it answers again it is %s, %d starts", st.State, m.starts.Load())
		}
		m.ignoresPings.Store(true)
		await.Sleep(7 * 35 * time.Second)
		m.ignoresPings.Store(false)
		await.Sleep(time.Minute)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateReady || m.starts.Load() < 2 {
			t.Errorf("after six missed pings it is %s, %d starts", st.State, m.starts.Load())
		}
	})
}

// A call of a listed tool of a server that does not run fetches the current definition, or says that the tool is
// gone.
func TestCurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, ""))
		defer done()
		old := &tool.Action{Name: "echo", InputSchema: json.RawMessage(`{"type":"array"}`)}
		call := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Name: "m__echo"}, Target: "echo", Action: old}
		a, err := s.Current(t.Context(), call)
		if err != nil || string(a.InputSchema) != `{"type":"object"}` {
			t.Fatalf("got %v, %v", a, err)
		}
		call.Action = a
		if again, err := s.Current(t.Context(), call); again != a || err != nil {
			t.Errorf("of a running server: %p, %v, want %p", again, err, a)
		}
		s.Stop(t.Context())
		m.mu.Lock()
		m.tool = "other"
		m.mu.Unlock()
		if _, err := s.Current(t.Context(), call); tool.KindOf(err) != tool.Removed {
			t.Errorf("a tool that is gone: %v", err)
		}
	})
}

// After random events in random order the server's state is consistent, its tools stay known, and it can be used
// again.
func TestStateMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"call", "crash", "refuse", "allow", "wait", "idle", "restart", "stop", "deaf", "calls", "hear", "refresh",
		}), 1, 30).Draw(rt, "steps")
		lifecycle := rapid.SampledFrom([]string{"auto", "lazy", "eager", "keepalive"}).Draw(rt, "lifecycle")
		synctest.Test(t, func(t *testing.T) {
			m := &fakeServer{}
			s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"`+lifecycle+`"`))
			defer done()
			if err := callEchoTool(s); err != nil {
				t.Fatal(err)
			}
			for i, step := range steps {
				switch step {
				case "call":
					_ = callEchoTool(s)
				case "calls":
					var calls sync.WaitGroup
					for range 10 {
						calls.Go(func() { _ = callEchoTool(s) })
					}
					m.crash()
					calls.Wait()
				case "crash":
					m.crash()
				case "refuse", "allow":
					m.refuse.Store(step == "refuse")
				case "wait":
					await.Sleep(2 * time.Second)
				case "idle":
					await.Sleep(11 * time.Minute)
				case "restart":
					_ = s.Restart(t.Context())
				case "refresh":
					_ = s.Refresh(t.Context())
				case "stop":
					s.Stop(t.Context())
				case "deaf", "hear":
					m.ignoresPings.Store(step == "deaf")
				}
				synctest.Wait()
				checkState(t, s, steps[:i+1])
			}
			m.refuse.Store(false)
			m.ignoresPings.Store(false)
			if err := s.Restart(t.Context()); err != nil {
				t.Fatalf("%v: cannot be started: %v", steps, err)
			}
			if err := callEchoTool(s); err != nil {
				t.Fatalf("%v: cannot be called: %v", steps, err)
			}
		})
	})
}

// checkState checks that the state of s fits its connection. steps, which led to it, are for the message.
func checkState(t *testing.T, s *Server, steps []string) {
	t.Helper()
	st := s.Status()
	p := s.pool.lock()
	connected := p.primary != nil && p.primary.Alive()
	s.pool.unlock()
	fits := false
	switch st.State {
	case tool.StateReady, tool.StateDegraded:
		fits = connected && st.NextRetry == nil
	case tool.StateBackoff, tool.StateOpen:
		fits = !connected && st.NextRetry != nil && st.Reason != ""
	case tool.StateIdle:
		fits = !connected
	case tool.StateDisabled, tool.StateConfigError, tool.StateStarting, tool.StateNeedsAuth, tool.StateFailed,
		tool.StateStopping, tool.StateStopped:
	}
	if !fits || st.Tools != 1 || st.Since.IsZero() {
		t.Fatalf("%v: connected %v and %+v", steps, connected, st)
	}
}

// problem returns an error in an entry.
func problem(message string) entry.Problem {
	return entry.Problem{Severity: entry.SeverityError, Message: message}
}
