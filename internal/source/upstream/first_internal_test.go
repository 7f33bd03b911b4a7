package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/mcp"
	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream/session"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
	"collie/test/await"
)

// callerOfEra is a client of an era that answers no questions.
type callerOfEra struct {
	nobody

	era mcp.Era
}

func (c callerOfEra) Supports(what tool.Capability) bool {
	return what == tool.TakesInputRequired && c.era == mcp.Modern
}

// scripted is a fakemcp within the test's process. A test can slow down its answers and see what it was asked. Its
// time is the time of the synctest bubble.
type scripted struct {
	flags []string
	boot  time.Duration
	http  bool
	stays time.Duration            // how long closing it takes
	slow  map[string]time.Duration // delay of each method; over HTTP the key "" delays every request
	hung  map[string]bool          // methods that are never answered
	list  map[string]string        // results of methods, in place of the fakemcp's own

	mu    sync.Mutex
	procs [][]string // the methods each start was asked for, in their order
	begun []time.Time
}

// recordMethod notes that a start was asked for a method.
func (s *scripted) recordMethod(start int, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.procs[start] = append(s.procs[start], method)
}

// methodsByStart returns, for each start, the methods it was asked.
func (s *scripted) methodsByStart() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([][]string, len(s.procs))
	for i := range s.procs {
		out[i] = slices.Clone(s.procs[i])
	}
	return out
}

// open connects c to the fakemcp, over HTTP or over pipes in memory. It replaces Options.open.
func (s *scripted) open(ctx context.Context, c *conn, opts mcp.ClientOptions) (err error) {
	s.mu.Lock()
	start := len(s.procs)
	s.procs, s.begun = append(s.procs, nil), append(s.begun, time.Now())
	s.mu.Unlock()
	if s.http {
		h, err := mcptest.Handler(s.flags...)
		if err != nil {
			return err
		}
		c.Transport = s.transport(h, start)
		link := mcp.DialHTTP("http://server/mcp", c, &mcp.HTTPOptions{Transport: c.Transport})
		c.Client, err = mcp.Connect(ctx, link, opts)
		if err != nil {
			return errors.Join(err, link.Close())
		}
		return nil
	}
	fromUs, toServer := io.Pipe()
	fromServer, toUs := io.Pipe()
	filtered, toFake := io.Pipe()
	go s.filter(start, fromUs, toFake, toUs) // ends with its pipe
	go func() {                              // ends with its input
		await.Sleep(s.boot)
		_ = mcptest.Serve(s.flags, filtered, toUs)
		_ = toUs.Close()
	}()
	kill := func() {
		_ = toUs.Close()
		_ = fromUs.Close()
		_ = toFake.Close()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.server.settings().StartTimeout, session.ErrTimeout)
	defer cancel()
	lines := mcp.NewLines(fromServer, toServer, 0, func() error {
		await.Sleep(s.stays)
		kill()
		_ = toServer.Close()
		return fromServer.Close()
	})
	c.Client, err = mcp.Connect(ctx, mcp.NewConn(lines, c, nil), opts)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// filter forwards the messages that the fakemcp is to answer itself.
func (s *scripted) filter(start int, from io.Reader, to io.WriteCloser, out io.Writer) {
	defer to.Close()
	buf := make([]byte, 0, 1<<20)
	chunk := make([]byte, 1<<16)
	for {
		n, err := from.Read(chunk)
		buf = append(buf, chunk[:n]...)
		for {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 {
				break
			}
			line := bytes.Clone(buf[:i+1])
			buf = buf[i+1:]
			method := mcp.GetString(json.RawMessage(line), "method")
			s.recordMethod(start, method)
			result, own := s.list[method]
			switch {
			case s.hung[method]:
			case own:
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", mcp.Get(line, "id"), result)
			case s.slow[method] > 0:
				time.AfterFunc(s.slow[method], func() { _, _ = to.Write(line) })
			default:
				_, _ = to.Write(line)
			}
		}
		if err != nil {
			return
		}
	}
}

// transport reaches h over connections in memory.
func (s *scripted) transport(h http.Handler, start int) *http.Transport {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			method := mcp.GetString(body, "method")
			if r.Method == http.MethodPost {
				s.recordMethod(start, method)
				await.Sleep(max(s.slow[""], s.slow[method]))
			}
			if s.hung[method] {
				<-r.Context().Done()
				return
			}
			h.ServeHTTP(w, r)
		})}
		go server.Serve(&once{conn: theirs}) //nolint:errcheck // it ends with the connection
		return ours, nil
	}}
}

// once is a listener that accepts one connection.
type once struct {
	conn net.Conn
	done bool
}

func (o *once) Accept() (net.Conn, error) {
	if o.done {
		return nil, net.ErrClosed
	}
	o.done = true
	return o.conn, nil
}

func (o *once) Close() error   { return nil }
func (o *once) Addr() net.Addr { return o.conn.LocalAddr() }

// newScriptedServer returns a server played by s, with its set and its cache.
func newScriptedServer(t *testing.T, s *scripted, more string, o Options) (srv *Server, set *Set, done func()) {
	t.Helper()
	o.open, o.Key = s.open, make([]byte, 32)
	if o.Cache == nil {
		o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
		t.Cleanup(func() { _ = o.Cache.Close() })
	}
	entry := `{"command":"true"` + more + `}`
	if s.http {
		entry = `{"url":"http://server/mcp"` + more + `}`
	}
	set = NewSet([]Spec{newSpec(t, "m", entry)}, o)
	return set.servers[0], set, func() { set.Close(context.Background()) }
}

// timeFirstCall makes a call as the pipeline does and returns how long it took.
func timeFirstCall(t *testing.T, s *Server, era mcp.Era, session string) time.Duration {
	t.Helper()
	begun := time.Now()
	call := &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Caller: callerOfEra{era: era}, Origin: tool.MCPLocal, Session: session},
		Target:  "echo", Args: json.RawMessage(`{"text":"a"}`), Action: &tool.Action{Name: "echo"},
	}
	a, err := s.Current(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	call.Action = a
	if _, err := s.Run(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	return time.Since(begun)
}

// Slow or hanging lists of resources and prompts delay neither a call nor the list of tools.
func TestOptionalListsDelayNothing(t *testing.T) {
	t.Parallel()
	optional := []string{"resources/list", "resources/templates/list", "prompts/list"}
	for name, s := range map[string]*scripted{
		"hung": {hung: map[string]bool{"resources/list": true, "resources/templates/list": true, "prompts/list": true}},
		"slow": {slow: map[string]time.Duration{optional[0]: 2 * time.Second, optional[1]: 2 * time.Second, optional[2]: 2 * time.Second}},
	} {
		for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
			t.Run(name+"_"+era.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &scripted{flags: []string{"--era", era.String()}, boot: time.Second, slow: s.slow, hung: s.hung}
					srv, set, done := newScriptedServer(t, s, "", Options{})
					defer done()
					begun := time.Now()
					set.Start(nil)
					<-srv.Started()
					if took := time.Since(begun); took > s.boot || srv.Status().Tools == 0 || srv.Status().State != tool.StateReady {
						t.Errorf("cold: %d tools after %v, it is %s", srv.Status().Tools, took, srv.Status().State)
					}
					srv.Stop(t.Context())
					if took := timeFirstCall(t, srv, era, ""); took > s.boot {
						t.Errorf("the first call took %v of a server that starts in %v", took, s.boot)
					}
					begun = time.Now()
					<-srv.Ready(tool.ListResources)
					if took := time.Since(begun); took > 15*time.Second {
						t.Errorf("the other lists are waited for for %v", took)
					}
				})
			})
		}
	}
}

// The reason of a failed start is reported at once. Only the next start waits until the remains of the failed one
// have ended.
func TestAFailedStartIsToldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{hung: map[string]bool{"initialize": true}, stays: 6 * time.Second}
		srv, set, done := newScriptedServer(t, s, `,"startTimeout":"3s"`, Options{})
		defer done()
		begun := time.Now()
		set.Start(nil)
		<-srv.Started()
		if st := srv.Status(); time.Since(begun) != 3*time.Second || st.State != tool.StateBackoff || st.Reason != "handshake_timeout" {
			t.Errorf("after %v it is %s (%s)", time.Since(begun), st.State, st.Reason)
		}
		if err := srv.Start(t.Context()); err == nil {
			t.Error("it has started")
		}
		if next := s.begun[1].Sub(begun); next < 9*time.Second {
			t.Errorf("it was started again after %v, while the first process was ending", next)
		}
	})
}

// If fetching a list hangs, its known content stays, in memory and in the cache file.
func TestAHungListKeepsWhatWasKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{hung: map[string]bool{}}
		srv, set, done := newScriptedServer(t, s, "", Options{})
		defer done()
		if err := srv.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := srv.Status()
		srv.Stop(t.Context())
		s.hung["prompts/list"] = true
		if err := srv.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := srv.Status()
		e, v, _ := set.cache().Lookup(*srv.listing.Want())
		if before.Prompts == 0 || before.Resources == 0 || now.Prompts != before.Prompts || now.Resources != before.Resources ||
			v != toolcache.Hit || len(e.Prompts) != before.Prompts || len(e.Resources) != before.Resources {
			t.Errorf("before %d prompts, %d resources; now %d and %d; kept (%v) %d and %d", before.Prompts, before.Resources,
				now.Prompts, now.Resources, v, len(e.Prompts), len(e.Resources))
		}
		if now.State != tool.StateReady {
			t.Errorf("it is %s", now.State)
		}
	})
}

// A cache entry never states that a server has no prompts just because the fetch was not awaited.
func TestNoHalfEntryOfAnUnknownServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{hung: map[string]bool{"prompts/list": true}}
		srv, set, done := newScriptedServer(t, s, "", Options{})
		if err := srv.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := srv.listing.Want()
		done()
		if e, _, _ := set.cache().Lookup(*w); e != nil && len(e.Tools) > 0 {
			t.Errorf("kept before its lists had come: %d tools, %d prompts", len(e.Tools), len(e.Prompts))
		}
	})
}

// A change announced while lists are being fetched is not missed, and a list that hangs does not keep another from
// being fetched again.
func TestChangesWhileLearning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{hung: map[string]bool{"resources/list": true}}
		srv, _, done := newScriptedServer(t, s, "", Options{})
		defer done()
		if err := srv.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := srv.Status().Tools
		_, err := srv.Run(t.Context(), &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Name: "m__change"},
			Target:  "change", Args: json.RawMessage(`{"list":"tools"}`), Action: &tool.Action{Name: "change"},
		})
		if err != nil {
			t.Fatal(err)
		}
		await.Sleep(time.Second)
		if now := srv.Status().Tools; now == n {
			t.Errorf("still %d tools after the list has changed", now)
		}
	})
}

// A server of both eras is started once, in the era of the caller, whatever is known of it.
func TestTheCallDecidesTheEra(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"", `,"isolation":"session"`} {
		for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
			t.Run(era.String()+isolation, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &scripted{flags: []string{"--era", "both"}, boot: time.Second}
					// A client of the other era has shown that the server speaks both.
					srv, set, done := newScriptedServer(t, s, isolation, Options{})
					timeFirstCall(t, srv, mcp.Modern, "x")
					<-srv.Ready(tool.ListResources)
					synctest.Wait()
					e, _, _ := set.cache().Lookup(*srv.listing.Want())
					done()
					if e == nil || e.Eras != "both" {
						t.Fatalf("kept: %+v", e)
					}
					again := &scripted{flags: s.flags, boot: s.boot}
					srv, set, done = newScriptedServer(t, again, isolation, Options{Cache: set.cache()})
					defer done()
					set.Start(nil)
					if took := timeFirstCall(t, srv, era, "a"); took > s.boot {
						t.Errorf("the first call took %v", took)
					}
					synctest.Wait()
					starts := again.methodsByStart()
					first := map[mcp.Era]string{mcp.Legacy: "initialize", mcp.Modern: "server/discover"}[era]
					if len(starts) != 1 || starts[0][0] != first || srv.Status().Era != era.String() {
						t.Errorf("a caller of the %s era caused %d starts, which began with %v; it speaks %s", era, len(starts), starts, srv.Status().Era)
					}
				})
			})
		}
	}
}

// If nothing is known, a call tries its own era first and falls back to the other one in the same process; the result
// is remembered. A start without a call uses the era of the last caller. If nobody has called yet, HTTP starts with
// the modern era.
func TestUnknownEras(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		server string
		caller mcp.Era // 0: nobody calls
		begins []string
		eras   string
		http   bool
	}{
		{"legacy", mcp.Legacy, []string{"initialize"}, "", false},
		{"legacy", mcp.Modern, []string{"server/discover", "initialize"}, "legacy", false},
		{"modern", mcp.Legacy, []string{"initialize", "server/discover"}, "modern", false},
		{"modern", mcp.Modern, []string{"server/discover"}, "modern", false},
		{"both", mcp.Legacy, []string{"initialize"}, "", false},
		{"both", mcp.Modern, []string{"server/discover"}, "both", false},
		{"both", 0, []string{"initialize"}, "", false},
		{"modern", 0, []string{"initialize", "server/discover"}, "modern", false},
		{"modern", 0, []string{"server/discover"}, "modern", true},
		{"legacy", 0, []string{"server/discover", "initialize"}, "legacy", true},
		{"both", mcp.Legacy, []string{"initialize"}, "", true},
	} {
		t.Run(fmt.Sprintf("%s_%s_http_%v", test.server, test.caller, test.http), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{http: test.http, flags: []string{"--era", test.server}}
				srv, set, done := newScriptedServer(t, s, "", Options{})
				defer done()
				if test.caller == 0 {
					set.Start(nil)
				} else {
					timeFirstCall(t, srv, test.caller, "")
				}
				<-srv.Ready(tool.ListResources)
				synctest.Wait()
				starts := s.methodsByStart()
				if len(starts) != 1 || len(starts[0]) < len(test.begins) || !slices.Equal(starts[0][:len(test.begins)], test.begins) {
					t.Errorf("asked for %v, want one start that begins with %v", starts, test.begins)
				}
				if e, _, _ := set.cache().Lookup(*srv.listing.Want()); e == nil || e.Eras != test.eras {
					t.Errorf("kept %+v, want that it speaks %q", e, test.eras)
				}
			})
		})
	}
}

// A server was learnt in the legacy era. A modern client gets a modern connection if the server speaks it; if not,
// that is found out once.
func TestAModernCallerAfterALegacyStart(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{"both": "modern", "legacy": "legacy"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{flags: []string{"--era", server}}
				srv, set, done := newScriptedServer(t, s, "", Options{})
				defer done()
				set.Start(nil)
				<-srv.Ready(tool.ListResources)
				for range 3 {
					timeFirstCall(t, srv, mcp.Modern, "")
				}
				synctest.Wait()
				e, _, _ := set.cache().Lookup(*srv.listing.Want())
				c, err := srv.connectionFor(t.Context(), slot{era: mcp.Modern}, false)
				if n := len(s.methodsByStart()); err != nil || n != 2 || c.Client.Era.String() != want || e.Eras != server {
					t.Errorf("%d starts, he is spoken to in the era %s and it is kept as %q: %v", n, c.Client.Era, e.Eras, err)
				}
				srv.Stop(t.Context())
				timeFirstCall(t, srv, mcp.Modern, "")
				if n := len(s.methodsByStart()); n != 3 {
					t.Errorf("%d starts after a stop", n-2)
				}
			})
		})
	}
}

// With "isolation": "session" the first session gets the process that delivered the lists, whether it is running or
// still starting, and no session's process is asked for lists that are known.
func TestTheFirstSessionGetsTheFirstProcess(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} {
		t.Run(fmt.Sprint("early_", early), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{boot: time.Second}
				srv, set, done := newScriptedServer(t, s, `,"isolation":"session"`, Options{})
				defer done()
				set.Start(nil)
				if !early {
					<-srv.Ready(tool.ListResources)
				}
				timeFirstCall(t, srv, mcp.Legacy, "a")
				if n := len(s.methodsByStart()); n != 1 || srv.countConnections() != 1 {
					t.Errorf("the first session caused %d starts, %d connections", n, srv.countConnections())
				}
				<-srv.Ready(tool.ListResources)
				if took := timeFirstCall(t, srv, mcp.Legacy, "b"); took > s.boot {
					t.Errorf("the second session's first call took %v", took)
				}
				synctest.Wait()
				starts := s.methodsByStart()
				if len(starts) != 2 || slices.Contains(starts[1], "tools/list") {
					t.Errorf("the second session's process was asked for %v", starts[1:])
				}
				timeFirstCall(t, srv, mcp.Legacy, "a")
				if n := len(s.methodsByStart()); n != 2 || srv.countConnections() != 2 {
					t.Errorf("%d starts and %d connections of two sessions", n, srv.countConnections())
				}
				if _, err := srv.Current(t.Context(), &tool.Call{Request: tool.Request{Session: "a"}, Action: &tool.Action{Name: "echo"}}); err != nil || !srv.listing.Live() {
					t.Errorf("its lists are live: %v (%v)", srv.listing.Live(), err)
				}
			})
		})
	}
}

// The first call of a remote server waits for three round trips, whatever else the start requests.
func TestRoundTripsOfAFirstCall(t *testing.T) {
	t.Parallel()
	const trip = 200 * time.Millisecond
	for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
		for _, server := range []string{era.String(), "both"} {
			t.Run(era.String()+"_at_"+server, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &scripted{http: true, flags: []string{"--era", server}, slow: map[string]time.Duration{"": trip}}
					srv, _, done := newScriptedServer(t, s, "", Options{})
					defer done()
					// The start also waits a moment for the listening stream, which is not a round trip.
					if took := timeFirstCall(t, srv, era, "") - 20*time.Millisecond; took > 3*trip {
						t.Errorf("it took %v, %.1f round trips: %v", took, float64(took)/float64(trip), s.methodsByStart())
					}
				})
			})
		}
	}
}

// A modern call carries the headers that its tool requires, in whichever era the list was fetched.
func TestHeadersAfterALegacyList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{http: true, flags: []string{"--era", "both"}}
		srv, _, done := newScriptedServer(t, s, "", Options{})
		defer done()
		timeFirstCall(t, srv, mcp.Legacy, "") // the start for this call fetches the list
		r, err := srv.Run(t.Context(), &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Name: "m__header", Caller: callerOfEra{era: mcp.Modern}, Origin: tool.MCPLocal},
			Target:  "header", Args: json.RawMessage(`{"region":"eu"}`), Action: &tool.Action{Name: "header"},
		})
		if era := srv.Status().Era; err != nil || r.IsError || era != mcp.Legacy.String() {
			t.Errorf("got %s, %v; the list is %s", r.Raw, err, era)
		}
	})
}

// A server of both eras that keeps no session cannot ask back in the legacy era. Once that is known, it is used in
// the modern era by all clients, and no call is lost by the change.
func TestAServerWithoutSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{http: true, slow: map[string]time.Duration{"tools/call": time.Second}}
		plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			body, _ := io.ReadAll(r.Body)
			result := map[string]string{
				"initialize":      `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}`,
				"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}}}`,
				"tools/list":      `{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
				"tools/call":      `{"resultType":"complete","content":[]}`,
			}[mcp.GetString(body, "method")]
			if result == "" {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, mcp.Get(body, "id"), result)
		})
		open := func(ctx context.Context, c *conn, opts mcp.ClientOptions) (err error) {
			s.mu.Lock()
			s.procs = append(s.procs, nil)
			start := len(s.procs) - 1
			s.mu.Unlock()
			c.Transport = s.transport(plain, start)
			c.Client, err = mcp.Connect(ctx, mcp.DialHTTP("http://server/mcp", c, &mcp.HTTPOptions{Transport: c.Transport}), opts)
			return err
		}
		set := NewSet([]Spec{newSpec(t, "m", `{"url":"http://server/mcp"}`)}, Options{open: open, Drain: time.Minute})
		defer set.Close(context.Background())
		srv := set.servers[0]
		timeFirstCall(t, srv, mcp.Legacy, "a") // it is under way when the other connection comes
		synctest.Wait()
		timeFirstCall(t, srv, mcp.Legacy, "a")
		if st := srv.Status(); st.Era != "modern" || srv.countConnections() != 1 || srv.pool.slots.eras.spoken != speaksModern || len(s.methodsByStart()) != 2 {
			t.Errorf("it speaks %s (%s), %d connections after %d starts", st.Era, srv.pool.slots.eras.spoken, srv.countConnections(), len(s.methodsByStart()))
		}
	})
}

// A server that refuses requests until its handshake is complete is asked again after it.
func TestAServerThatWaitsForInitialized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{http: true, slow: map[string]time.Duration{"notifications/initialized": time.Second}}
		strict := &strictHandshake{scripted: s}
		o := Options{open: strict.open}
		set := NewSet([]Spec{newSpec(t, "m", `{"url":"http://server/mcp"}`)}, o)
		defer set.Close(context.Background())
		if took := timeFirstCall(t, set.servers[0], mcp.Legacy, ""); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// strictHandshake refuses requests that come before notifications/initialized has been answered.
type strictHandshake struct {
	*scripted

	mu    sync.Mutex
	ready bool
}

// open connects c to the server. It replaces Options.open.
func (s *strictHandshake) open(ctx context.Context, c *conn, opts mcp.ClientOptions) error {
	s.procs = append(s.procs, nil)
	h, err := mcptest.Handler()
	if err != nil {
		return err
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		method := mcp.GetString(body, "method")
		s.ready = s.ready || method == "notifications/initialized"
		refuse := !s.ready && method == "tools/list"
		s.mu.Unlock()
		if refuse {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid request parameters"}}`, mcp.Get(body, "id"))
			return
		}
		h.ServeHTTP(w, r)
	})
	c.Transport = s.transport(guarded, 0)
	link := mcp.DialHTTP("http://server/mcp", c, &mcp.HTTPOptions{Transport: c.Transport})
	c.Client, err = mcp.Connect(ctx, link, opts)
	return err
}

// The lists of a server whose listening stream opens only at a later request are fetched again then: it could not
// report what changed before.
func TestListsAfterALateStream(t *testing.T) {
	t.Parallel()
	for fails, want := range map[int]int{0: 1, 1: 2, 2: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := &scripted{http: true}
			var gets atomic.Int32
			plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodGet:
					if int(gets.Add(1)) <= fails {
						w.WriteHeader(http.StatusServiceUnavailable)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					return
				case http.MethodDelete:
					return
				}
				body, _ := io.ReadAll(r.Body)
				result := map[string]string{
					"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true}},` +
						`"serverInfo":{"name":"m","version":"1"}}`,
					"tools/list":   `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
					"prompts/list": `{"prompts":[]}`,
				}[mcp.GetString(body, "method")]
				if result == "" {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, mcp.Get(body, "id"), result)
			})
			open := func(ctx context.Context, c *conn, opts mcp.ClientOptions) (err error) {
				s.mu.Lock()
				s.procs = append(s.procs, nil)
				s.mu.Unlock()
				c.Transport = s.transport(plain, 0)
				c.Client, err = mcp.Connect(ctx, mcp.DialHTTP("http://server/mcp", c, &mcp.HTTPOptions{Transport: c.Transport}), opts)
				return err
			}
			set := NewSet([]Spec{newSpec(t, "m", `{"url":"http://server/mcp","protocol":"legacy"}`)}, Options{open: open})
			defer set.Close(context.Background())
			if err := set.servers[0].Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			await.Sleep(20 * time.Second)
			asked := map[string]int{}
			for _, method := range s.methodsByStart()[0] {
				asked[method]++
			}
			if asked["tools/list"] != want || asked["prompts/list"] != want || asked["resources/list"] != 0 {
				t.Errorf("after %d refusals it was asked %v, want each list %d times", fails, asked, want)
			}
		})
	}
}
