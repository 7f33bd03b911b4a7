package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/mcp"
	"collie/internal/mcp/mcptest"
	"collie/test/await"
)

var ourInfo = json.RawMessage(`{"name":"collie","version":"0"}`)

// linkOverPipes returns a link over two pipes. serve is the server at the other end; it must return when its input ends.
func linkOverPipes(t *testing.T, serve func(in io.ReadCloser, out io.WriteCloser)) mcp.Link {
	t.Helper()
	serverIn, clientOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	clientIn, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		serve(serverIn, serverOut)
		_ = serverOut.Close() // serve may have closed it already
		_ = serverIn.Close()
	})
	link := mcp.NewConn(mcp.NewLines(clientIn, clientOut, 0, clientIn.Close), ignoringHandler{}, nil)
	t.Cleanup(func() {
		_ = clientOut.Close()
		wg.Wait()
		_ = link.Close() // the error is that the reader has reached the end
	})
	return link
}

// dialFake returns a link to a fakemcp inside this process.
func dialFake(t *testing.T, flags ...string) mcp.Link {
	t.Helper()
	return linkOverPipes(t, func(in io.ReadCloser, out io.WriteCloser) { mcptest.Main(flags, in, out, io.Discard) })
}

// dialFakeHTTP returns a link to a fakemcp over HTTP.
func dialFakeHTTP(t *testing.T, flags ...string) mcp.Link {
	t.Helper()
	h, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return dialHTTP(t, srv.URL+"/mcp", ignoringHandler{}, nil)
}

func TestConnectEras(t *testing.T) {
	t.Parallel()
	supported := func(v string) string {
		return `--discover-error={"code":-32022,"message":"no","data":{"supported":` + v + `}}`
	}
	for _, tc := range []struct {
		name     string
		flags    string
		protocol string
		era      mcp.Era
		version  string
		err      string
	}{
		{name: "legacy", flags: "--era=legacy", era: mcp.Legacy, version: "2025-11-25"},
		{name: "modern", flags: "--era=modern", era: mcp.Modern, version: "2026-07-28"},
		{name: "both", flags: "--era=both", protocol: "auto", era: mcp.Modern, version: "2026-07-28"},
		{name: "both_forced_legacy", flags: "--era=both", protocol: "legacy", era: mcp.Legacy, version: "2025-11-25"},
		{name: "both_forced_version", flags: "--era=both", protocol: "2025-03-26", era: mcp.Legacy, version: "2025-03-26"},
		{name: "both_forced_modern", flags: "--era=both", protocol: "2026-07-28", era: mcp.Modern, version: "2026-07-28"},
		{name: "oldest", flags: "--era=legacy --versions=2024-11-05", era: mcp.Legacy, version: "2024-11-05"},
		{name: "server_prefers_older", flags: "--era=legacy --versions=2025-06-18", protocol: "2025-11-25", era: mcp.Legacy, version: "2025-06-18"},
		{name: "legacy_forced_modern", flags: "--era=legacy", protocol: "2026-07-28", err: "server/discover: "},
		{name: "modern_forced_legacy", flags: "--era=modern", protocol: "legacy", err: "2026-07-28"},
		{name: "unknown_legacy", flags: "--era=legacy --versions=2020-01-01", err: "the server speaks 2020-01-01"},
		{name: "unknown_modern", flags: "--era=modern --versions=2030-01-01", err: `the server speaks ["2030-01-01"]`},
		{name: "unknown_modern_and_legacy", flags: "--era=both --versions=2030-01-01,2025-06-18", era: mcp.Legacy, version: "2025-06-18"},
		{name: "discover_unknown_method", flags: `--era=both --discover-error={"code":-32601,"message":"?"}`, era: mcp.Legacy, version: "2025-11-25"},
		{name: "discover_internal_error", flags: `--era=legacy --discover-error={"code":-32603,"message":"?"}`, era: mcp.Legacy, version: "2025-11-25"},
		{name: "discover_not_initialized", flags: `--era=legacy --discover-error={"code":-32002,"message":"?"}`, era: mcp.Legacy, version: "2025-11-25"},
		{name: "discover_strange_error", flags: `--era=legacy --discover-error={"code":"x"}`, era: mcp.Legacy, version: "2025-11-25"},
		{name: "discover_missing_capability", flags: `--era=both --discover-error={"code":-32021,"message":"need_it"}`, err: "need_it"},
		{name: "discover_names_legacy", flags: "--era=both " + supported(`["2025-06-18","2025-03-26"]`), era: mcp.Legacy, version: "2025-06-18"},
		{name: "discover_names_nothing", flags: "--era=both " + supported(`[]`), err: "the server speaks []"},
		{name: "discover_contradicts_itself", flags: "--era=modern " + supported(`["2026-07-28"]`), err: "2026-07-28"},
		{name: "banner", flags: "--era=legacy --banner=hello", era: mcp.Legacy, version: "2025-11-25"},
	} {
		for transport, start := range map[string]func(*testing.T, ...string) mcp.Link{"stdio": dialFake, "http": dialFakeHTTP} {
			t.Run(tc.name+"_"+transport, func(t *testing.T) {
				t.Parallel()
				link := start(t, strings.Fields(tc.flags)...)
				c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo, Protocol: tc.protocol})
				if tc.err != "" {
					if err == nil || !strings.Contains(err.Error(), tc.err) {
						t.Fatalf("error %v, want one with %q", err, tc.err)
					}
					_, version := errors.AsType[*mcp.VersionError](err)
					_, shake := errors.AsType[*mcp.HandshakeError](err)
					_, carry := errors.AsType[*mcp.LinkError](err)
					if !version && !shake && !carry {
						t.Errorf("error of type %T", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if c.Era != tc.era || c.Version != tc.version {
					t.Errorf("agreed on %v %s, want %v %s", c.Era, c.Version, tc.era, tc.version)
				}
				if got := mcp.GetString(c.Info, "name"); got != "fakemcp" {
					t.Errorf("server name %q", got)
				}
				if !c.Can("tools", "listChanged") || c.Can("nothing") {
					t.Errorf("capabilities %s", c.Capabilities)
				}
				if got := callEcho(t, c, "新闻"); got != "新闻" {
					t.Errorf("echo %q", got)
				}
			})
		}
	}
}

// callEcho calls the tool echo.
func callEcho(t *testing.T, c *mcp.Client, text string) string {
	t.Helper()
	params := mcp.Edit(nil, mcp.Field{Key: "name", Value: mcp.Quote("echo")},
		mcp.Field{Key: "arguments", Value: mcp.Edit(nil, mcp.Field{Key: "text", Value: mcp.Quote(text)})})
	r, err := c.Call(t.Context(), &mcp.Request{Method: "tools/call", Params: c.Own(params), Name: "echo"})
	if err != nil || r.Error != nil {
		t.Fatalf("echo: %s, %v", r.Error, err)
	}
	var v struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(r.Result, &v); err != nil || len(v.Content) != 1 {
		t.Fatalf("echo gives %s: %v", r.Result, err)
	}
	return v.Content[0].Text
}

// A legacy server that never answers the probe is connected to soon nevertheless, because initialize is sent without the answer.
func TestConnectSilentServer(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{})
	close(heard)
	for name, opts := range map[string]mcp.ClientOptions{
		"as_is":   {Info: ourInfo, FirstOutput: heard},
		"mute":    {Info: ourInfo, ProbeMax: 100 * time.Millisecond},
		"patient": {Info: ourInfo, FirstOutput: heard, ProbeWait: time.Millisecond, ProbeMax: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			c, err := mcp.Connect(t.Context(), dialFake(t, "--era=legacy", "--silent-unknown"), opts)
			if err != nil {
				t.Fatal(err)
			}
			await.Within(t, "to connect", time.Since(begun), 20*time.Second)
			if c.Era != mcp.Legacy {
				t.Errorf("connected as %v", c.Era)
			}
			if got := callEcho(t, c, "x"); got != "x" {
				t.Errorf("echo %q", got)
			}
		})
	}
}

func TestConnectGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	why := errors.New("took too long")
	for _, most := range []time.Duration{0, time.Millisecond} { // in the probe, and in initialize
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
		defer cancel()
		_, err := mcp.Connect(ctx, dialFake(t, "--never-answer"), mcp.ClientOptions{Info: ourInfo, ProbeMax: most})
		if !errors.Is(err, why) {
			t.Errorf("probe of %v: %v, want the cause", most, err)
		}
	}
}

// A modern server that is slow to answer the probe refuses the initialize sent meanwhile. Its late answer to
// the probe then decides.
func TestConnectSlowModernServer(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	go func() {
		probe, hello := readProbeAndInitialize(f)
		f.answer(probe.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`)
		f.writeLine(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, hello.ID)
	}()
	client, err := mcp.Connect(t.Context(), c, mcp.ClientOptions{Info: ourInfo, ProbeMax: time.Millisecond})
	if err != nil || client.Era != mcp.Modern {
		t.Fatalf("%v, %v", client.Era, err)
	}
}

// A modern server that is slow to ask for a sign-in, and lets initialize pass without one to refuse it.
func TestConnectSlowSignIn(t *testing.T) {
	t.Parallel()
	refused := make(chan struct{})
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		if p.method == "server/discover" {
			<-refused
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		defer close(refused)
		http.Error(w, "Missing MCP-Protocol-Version header", http.StatusBadRequest)
	})
	_, err := mcp.Connect(t.Context(), dialHTTP(t, url, nil, nil), mcp.ClientOptions{Info: ourInfo, ProbeMax: time.Second})
	if e, ok := errors.AsType[*mcp.LinkError](err); !ok || e.Status != http.StatusUnauthorized {
		t.Errorf("got %v, want the refusal of the probe", err)
	}
}

// readProbeAndInitialize returns the probe and the initialize request. On a busy machine they may arrive in either order.
func readProbeAndInitialize(f *farEnd) (probe, hello mcp.Message) {
	probe, hello = f.next(), f.next()
	if probe.Method == "initialize" {
		return hello, probe
	}
	return probe, hello
}

// A legacy server that answers the probe only after initialize still counts as legacy.
func TestConnectLateProbeAnswer(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	go func() {
		probe, hello := readProbeAndInitialize(f)
		f.answer(hello.ID, `{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"late","version":"1"}}`)
		f.writeLine(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, probe.ID)
		f.next() // initialized
		f.answer(f.next().ID, `{}`)
	}()
	client, err := mcp.Connect(t.Context(), c, mcp.ClientOptions{Info: ourInfo, ProbeMax: time.Millisecond})
	if err != nil || client.Era != mcp.Legacy || client.Version != "2025-03-26" {
		t.Fatalf("%+v, %v", client, err)
	}
	if _, err := client.Request(t.Context(), "ping", nil); err != nil {
		t.Error(err)
	}
}

func TestConnectServerThatEnds(t *testing.T) {
	t.Parallel()
	_, err := mcp.Connect(t.Context(), dialFake(t, "--exit-code=3"), mcp.ClientOptions{Info: ourInfo})
	if _, ok := errors.AsType[*mcp.LinkError](err); !ok {
		t.Errorf("got %v, want a LinkError", err)
	}
}

func TestConnectStdioProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), mcptest.Build(t), "--era=both")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link := mcp.NewConn(mcp.NewLines(stdout, stdin, 0, stdout.Close), ignoringHandler{}, nil)
	c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo})
	if err != nil {
		t.Fatal(err)
	}
	if got := callEcho(t, c, "x"); got != "x" || c.Era != mcp.Modern {
		t.Errorf("echo %q, era %v", got, c.Era)
	}
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	<-link.Done()
	_ = link.Close() // the error is that its reader has reached the end
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The official SDK serves as an independent check of the handshake.
func TestConnectSDKServer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		versions []string
		want     string
	}{
		{nil, "2026-07-28"},
		{[]string{"2026-07-28"}, "2026-07-28"},
		{[]string{"2025-11-25", "2025-06-18"}, "2025-11-25"},
		{[]string{"2024-11-05"}, "2024-11-05"},
	} {
		t.Run(fmt.Sprint(tc.versions), func(t *testing.T) {
			t.Parallel()
			server := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"},
				&sdk.ServerOptions{SupportedProtocolVersions: tc.versions, Instructions: "be kind"})
			type in struct {
				Text string `json:"text"`
			}
			sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, a in) (*sdk.CallToolResult, any, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}, nil, nil
			})
			link := linkOverPipes(t, func(r io.ReadCloser, w io.WriteCloser) {
				_ = server.Run(context.Background(), &sdk.IOTransport{Reader: r, Writer: w}) // ends with its input
			})
			c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo})
			if err != nil {
				t.Fatal(err)
			}
			if c.Version != tc.want || c.Instructions != "be kind" || mcp.GetString(c.Info, "name") != "sdk" {
				t.Errorf("version %s, instructions %q, info %s", c.Version, c.Instructions, c.Info)
			}
			if got := callEcho(t, c, "é"); got != "é" {
				t.Errorf("echo %q", got)
			}
		})
	}
}

// A session that the server has lost is opened again, once for all requests that need it.
func TestClientReopensALostSession(t *testing.T) {
	t.Parallel()
	var reopened atomic.Int32
	told := make(chan struct{}, 99)
	c, err := mcp.Connect(t.Context(), dialFakeHTTP(t, "--era=legacy"), mcp.ClientOptions{
		Info: ourInfo, Reopened: func() { reopened.Add(1); told <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Request(t.Context(), "tools/call", json.RawMessage(`{"name":"forget"}`)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			if got := callEcho(t, c, fmt.Sprint(n)); got != fmt.Sprint(n) {
				t.Errorf("echo %q", got)
			}
		})
	}
	wg.Wait()
	<-told
	if n := reopened.Load(); n != 1 {
		t.Errorf("opened again %d times, want 1", n)
	}
}

// A request that learns of the loss only after the new session was opened does not open another one.
func TestClientReopensOnceForTheLate(t *testing.T) {
	t.Parallel()
	link := &forgetfulLink{reopened: make(chan struct{})}
	link.sent.Add(2)
	c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo, Protocol: "legacy"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, method := range []string{"late", "early"} {
		wg.Go(func() {
			if _, err := c.Request(t.Context(), method, nil); err != nil {
				t.Errorf("%s: %v", method, err)
			}
			if method == "early" {
				close(link.reopened)
			}
		})
	}
	wg.Wait()
	if n := link.opened.Load(); n != 2 {
		t.Errorf("opened %d times, want 2", n)
	}
}

// forgetfulLink is a link that loses the session of the first request of each method. It refuses the request
// "late" only after "early" has been answered in a new session.
type forgetfulLink struct {
	mcp.Link

	opened   atomic.Int32
	asked    sync.Map
	sent     sync.WaitGroup
	reopened chan struct{}
}

func (f *forgetfulLink) Agreed(string)                                         {}
func (f *forgetfulLink) Notify(context.Context, string, json.RawMessage) error { return nil }
func (f *forgetfulLink) Call(_ context.Context, r *mcp.Request) (mcp.Response, error) {
	if r.Method == "initialize" {
		f.opened.Add(1)
		return mcp.Response{Result: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"f","version":"1"}}`)}, nil
	}
	if _, again := f.asked.LoadOrStore(r.Method, true); again {
		return mcp.Response{Result: json.RawMessage(`{}`)}, nil
	}
	f.sent.Done()
	f.sent.Wait() // refuse neither before both have been sent
	if r.Method == "late" {
		<-f.reopened
	}
	return mcp.Response{}, &mcp.LinkError{Sent: true, Status: 404, Err: mcp.ErrSessionGone}
}

// One request waits for another to open a new session. If the other is cancelled, the first opens the session
// itself.
func TestClientReopensForTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		link := &stallingLink{}
		c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo, Protocol: "legacy"})
		if err != nil {
			t.Fatal(err)
		}
		link.lost.Store(true)
		first, cancel := context.WithCancel(t.Context())
		var ended [2]error
		for i, ctx := range []context.Context{first, t.Context()} {
			go func() { _, ended[i] = c.Request(ctx, "tools/call", nil) }()
			synctest.Wait() // the first one is opening a session, the second is waiting for it
		}
		cancel()
		synctest.Wait()
		if !errors.Is(ended[0], context.Canceled) || ended[1] != nil {
			t.Errorf("the request that was taken back: %v; the other one: %v", ended[0], ended[1])
		}
	})
}

// stallingLink is a link whose session can be lost. It leaves the first attempt to open a new one unanswered.
type stallingLink struct {
	mcp.Link

	lost   atomic.Bool
	stalls atomic.Int32
}

func (*stallingLink) Agreed(string)                                         {}
func (*stallingLink) Notify(context.Context, string, json.RawMessage) error { return nil }
func (s *stallingLink) Call(ctx context.Context, r *mcp.Request) (mcp.Response, error) {
	switch {
	case r.Method != "initialize" && s.lost.Load():
		return mcp.Response{}, &mcp.LinkError{Sent: true, Status: 404, Err: mcp.ErrSessionGone}
	case r.Method != "initialize":
		return mcp.Response{Result: json.RawMessage(`{}`)}, nil
	case s.lost.Load() && s.stalls.Add(1) == 1:
		<-ctx.Done()
		return mcp.Response{}, context.Cause(ctx)
	}
	s.lost.Store(false)
	return mcp.Response{Result: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)}, nil
}

// A modern-only server is recognized even if initialize is tried first: that request carries the header
// fields that such a server requires of every POST. If the following server/discover is refused for lack of
// access, that is the error reported.
func TestConnectInitializeFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int // of server/discover
		want   int // status of the error, 0 for no error
	}{
		"modern alone": {200, 0}, "signed out": {401, 401}, "forbidden": {403, 403}, "down": {503, 503}, "neither era": {404, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
				if got := p.header.Get("Mcp-Method"); got != p.method {
					t.Errorf("Mcp-Method of %s is %q", p.method, got)
				}
				switch {
				case p.method != "server/discover":
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, "no session here")
				case test.status != 200:
					w.WriteHeader(test.status)
				default:
					answerJSON(w, responseTo(p, `{"supportedVersions":["2026-07-28"],"capabilities":{}}`))
				}
			})
			c, err := mcp.Connect(t.Context(), dialHTTP(t, url, nil, nil), mcp.ClientOptions{Info: ourInfo, First: mcp.Legacy})
			status := 0
			if e, ok := errors.AsType[*mcp.LinkError](err); ok {
				status = e.Status
			}
			if status != test.want || (err == nil) != (test.want == 0) || err == nil && c.Era != mcp.Modern {
				t.Errorf("era %v, error %v, want status %d", c.Era, err, test.want)
			}
		})
	}
}
