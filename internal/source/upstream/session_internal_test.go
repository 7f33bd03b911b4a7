package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
	"collie/internal/source/upstream/listing"
	"collie/internal/tool"
	"collie/test/await"
)

// countConnections returns the number of open connections.
func (s *Server) countConnections() int {
	p := s.pool.lock()
	defer s.pool.unlock()
	return len(p.conns())
}

// With "isolation": "session" each session has a connection of its own. Since the end of a session is not announced, the
// connection is closed once the session has been idle for idleTimeout, whatever other sessions and the lifecycle do.
func TestIdleSessionConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	for _, lifecycle := range []string{"auto", "keepalive"} {
		t.Run(lifecycle, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","idleTimeout":"10m","lifecycle":"`+lifecycle+`"`))
				defer done()
				if lifecycle == "keepalive" {
					s.startFirst(nil)
				}
				for i := range 5 {
					if err := callEchoIn(s, fmt.Sprint(i)); err != nil {
						t.Fatal(err)
					}
				}
				for range 6 { // one session stays in use
					await.Sleep(5 * time.Minute)
					if err := callEchoIn(s, "0"); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				want := 1
				if lifecycle == "keepalive" {
					want = 2 // and the primary connection, which keepalive keeps
				}
				if n := s.countConnections(); n != want || s.Status().State != tool.StateReady {
					t.Errorf("half an hour later there are %d connections, want %d, and it is %s", n, want, s.Status().State)
				}
			})
		})
	}
}

// The calls of a session that begin while its process starts all wait for that one, even if another process that nobody
// uses is ready before it.
func TestSessionWaitsForItsOwnProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := &fakeServer{hold: hold}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","lifecycle":"keepalive"`))
		defer done()
		var calls sync.WaitGroup
		call := func() {
			if err := callEchoIn(s, "a"); err != nil {
				t.Error(err)
			}
		}
		calls.Go(call)
		synctest.Wait()
		m.hold = nil
		s.startFirst(nil)
		calls.Go(call)
		synctest.Wait()
		close(hold)
		calls.Wait()
		synctest.Wait()
		if starts, n := m.starts.Load(), s.countConnections(); starts != 2 || n != 2 {
			t.Errorf("%d processes were started, and %d are known; want the session's and one for the next", starts, n)
		}
	})
}

// A server with a connection for each session reports a true state though it has no primary connection.
func TestStateWithSessionConnectionsOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","lifecycle":"lazy"`))
		defer done()
		if err := callEchoIn(s, "a"); err != nil {
			t.Fatal(err)
		}
		if st := s.Status(); st.State != tool.StateReady || st.Starts != 1 || st.Tools != 1 {
			t.Errorf("with a session it is %s, %d starts, %d tools", st.State, st.Starts, st.Tools)
		}
		m.crash()
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateBackoff || st.Reason != "crashed" {
			t.Errorf("after the crash of the only one it is %s (%s)", st.State, st.Reason)
		}
		if err := callEchoIn(s, "a"); err != nil {
			t.Errorf("called again: %v", err)
		}
		await.Sleep(time.Hour)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateIdle || st.Reason != "idle_stop" || s.countConnections() != 0 {
			t.Errorf("an hour later it is %s (%s) with %d connections", st.State, st.Reason, s.countConnections())
		}
	})
}

// A server that does not start is not started over and over by its sessions.
func TestBreakerCountsStartsOfAllSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		m.refuse.Store(true)
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","lifecycle":"lazy"`))
		defer done()
		s.listing.Publish(&listing.Lists{}, tool.FreshHit, "")
		for i := range 50 {
			_ = callEchoIn(s, fmt.Sprint(i))
		}
		if n := m.starts.Load(); n != 5 || s.Status().State != tool.StateOpen {
			t.Errorf("50 calls caused %d starts, want 5, and it is %s", n, s.Status().State)
		}
	})
}

// A start in progress when the server could stop does not keep it running for ever.
func TestIdleStopAfterStartInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","idleTimeout":"10m"`))
		defer done()
		if err := callEchoIn(s, "a"); err != nil {
			t.Fatal(err)
		}
		await.Sleep(9 * time.Minute)
		m.hold = make(chan struct{})
		var call sync.WaitGroup
		call.Go(func() { _ = callEchoIn(s, "b") })
		await.Sleep(2 * time.Minute)
		m.refuse.Store(true) // so that only the idle check can stop the server
		close(m.hold)
		call.Wait()
		await.Sleep(30 * time.Minute)
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateIdle {
			t.Errorf("half an hour later it is %s with %d connections", st.State, s.countConnections())
		}
	})
}

// A caller that has a connection gets no progress about a start.
func TestProgressOnlyForRealStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","lifecycle":"lazy"`))
		defer done()
		var who notified
		call := &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Session: "a", Caller: &who, Params: json.RawMessage(`{"_meta":{"progressToken":7}}`)},
			Target:  "echo", Action: &tool.Action{Name: "echo"},
		}
		for i, want := range []int{1, 1} {
			if _, err := s.Current(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			if who.n != want {
				t.Errorf("after call %d it has heard of %d starts, want %d", i+1, who.n, want)
			}
		}
	})
}

// notified counts the notifications to a caller.
type notified struct {
	nobody

	n int
}

func (c *notified) Notify(_ context.Context, _ string, _ json.RawMessage) { c.n++ }

// Messages from a session's own process go to that session alone: while it starts beside another one, while it runs,
// and while it is stopped.
func TestSessionProcessMessagesReachTheirSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","lifecycle":"lazy"`))
		defer done()
		if err := callEchoIn(s, "first"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		told := map[string]int{}
		defer s.Watch(func(ch tool.Change) {
			mu.Lock()
			defer mu.Unlock()
			told[ch.Session+" "+string(ch.Params)]++
		})()
		say := func(c *conn, text string) {
			for _, method := range []string{"notifications/message", "notifications/vendor/x"} {
				c.Notification(mcp.Message{Method: method, Params: json.RawMessage(`"` + text + `"`)}, nil)
			}
		}
		s.set.opts.open = func(ctx context.Context, c *conn, opts mcp.ClientOptions) error {
			await.Sleep(time.Second) // until both are being started
			say(c, "start")
			return m.open(ctx, c, opts)
		}
		var wg sync.WaitGroup
		for _, session := range []string{"a", "b"} {
			wg.Go(func() {
				if err := callEchoIn(s, session); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		p := s.pool.lock()
		a := p.extra[slot{session: "a"}]
		s.pool.unlock()
		say(a, "call")
		s.Stop(t.Context())
		say(a, "end")
		want := map[string]int{`a "start"`: 2, `b "start"`: 2, `a "call"`: 2, `a "end"`: 2}
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("who was told what (-want +got):\n%s", diff)
		}
	})
}

// When the connection that the lists came from is closed, another one takes over: its changes are published.
func TestListsFollowAnotherSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"isolation":"session","idleTimeout":"10m"`))
		defer done()
		for _, session := range []string{"first", "second"} {
			if err := callEchoIn(s, session); err != nil {
				t.Fatal(err)
			}
		}
		for range 6 {
			await.Sleep(5 * time.Minute)
			if err := callEchoIn(s, "second"); err != nil {
				t.Fatal(err)
			}
		}
		p := s.pool.lock()
		c, n := p.extra[slot{session: "second"}], len(p.conns())
		s.pool.unlock()
		if c == nil || n != 1 || !s.isLive() {
			t.Fatalf("half an hour later there are %d connections, of the second session: %t, live: %t", n, c != nil, s.isLive())
		}
		m.mu.Lock()
		m.tool = "other"
		m.mu.Unlock()
		c.Notification(mcp.Message{Method: "notifications/tools/list_changed"}, nil)
		await.Sleep(time.Second)
		synctest.Wait()
		if got := s.Offer().Tools[0].Actions[0].Name; got != "other" {
			t.Errorf("after a change the list has %s, want other", got)
		}
	})
}
