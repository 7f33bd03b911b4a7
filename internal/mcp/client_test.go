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

// pipes returns a link over two pipes. serve is the server at the other end; it must return when its input ends.
func pipes(t *testing.T, serve func(in io.ReadCloser, out io.WriteCloser)) mcp.Link {
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
	link := mcp.NewConn(mcp.NewLines(clientIn, clientOut, 0, clientIn.Close), nothing{}, nil)
	t.Cleanup(func() {
		_ = clientOut.Close()
		wg.Wait()
		_ = link.Close() // the error is that the reader has reached the end
	})
	return link
}

// fake returns a link to a fakemcp inside this process.
func fake(t *testing.T, flags ...string) mcp.Link {
	t.Helper()
	return pipes(t, func(in io.ReadCloser, out io.WriteCloser) { mcptest.Main(flags, in, out, io.Discard) })
}

// fakeHTTP returns a link to a fakemcp over HTTP.
func fakeHTTP(t *testing.T, flags ...string) mcp.Link {
	t.Helper()
	h, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return dial(t, srv.URL+"/mcp", nothing{}, nil)
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
		{"legacy", "--era=legacy", "", mcp.Legacy, "2025-11-25", ""},
		{"modern", "--era=modern", "", mcp.Modern, "2026-07-28", ""},
		{"both", "--era=both", "auto", mcp.Modern, "2026-07-28", ""},
		{"both_forced_legacy", "--era=both", "legacy", mcp.Legacy, "2025-11-25", ""},
		{"both_forced_version", "--era=both", "2025-03-26", mcp.Legacy, "2025-03-26", ""},
		{"both_forced_modern", "--era=both", "2026-07-28", mcp.Modern, "2026-07-28", ""},
		{"oldest", "--era=legacy --versions=2024-11-05", "", mcp.Legacy, "2024-11-05", ""},
		{"server_prefers_older", "--era=legacy --versions=2025-06-18", "2025-11-25", mcp.Legacy, "2025-06-18", ""},
		{"legacy_forced_modern", "--era=legacy", "2026-07-28", 0, "", "server/discover: "},
		{"modern_forced_legacy", "--era=modern", "legacy", 0, "", "2026-07-28"},
		{"unknown_legacy", "--era=legacy --versions=2020-01-01", "", 0, "", "the server speaks 2020-01-01"},
		{"unknown_modern", "--era=modern --versions=2030-01-01", "", 0, "", `the server speaks ["2030-01-01"]`},
		{"unknown_modern_and_legacy", "--era=both --versions=2030-01-01,2025-06-18", "", mcp.Legacy, "2025-06-18", ""},
		{"discover_unknown_method", `--era=both --discover-error={"code":-32601,"message":"?"}`, "", mcp.Legacy, "2025-11-25", ""},
		{"discover_internal_error", `--era=legacy --discover-error={"code":-32603,"message":"?"}`, "", mcp.Legacy, "2025-11-25", ""},
		{"discover_not_initialized", `--era=legacy --discover-error={"code":-32002,"message":"?"}`, "", mcp.Legacy, "2025-11-25", ""},
		{"discover_strange_error", `--era=legacy --discover-error={"code":"x"}`, "", mcp.Legacy, "2025-11-25", ""},
		{"discover_missing_capability", `--era=both --discover-error={"code":-32021,"message":"need_it"}`, "", 0, "", "need_it"},
		{"discover_names_legacy", "--era=both " + supported(`["2025-06-18","2025-03-26"]`), "", mcp.Legacy, "2025-06-18", ""},
		{"discover_names_nothing", "--era=both " + supported(`[]`), "", 0, "", "the server speaks []"},
		{"discover_contradicts_itself", "--era=modern " + supported(`["2026-07-28"]`), "", 0, "", "2026-07-28"},
		{"banner", "--era=legacy --banner=hello", "", mcp.Legacy, "2025-11-25", ""},
	} {
		for transport, start := range map[string]func(*testing.T, ...string) mcp.Link{"stdio": fake, "http": fakeHTTP} {
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
				if got := echo(t, c, "新闻"); got != "新闻" {
					t.Errorf("echo %q", got)
				}
			})
		}
	}
}

// echo calls the tool echo.
func echo(t *testing.T, c *mcp.Client, text string) string {
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
			c, err := mcp.Connect(t.Context(), fake(t, "--era=legacy", "--silent-unknown"), opts)
			if err != nil {
				t.Fatal(err)
			}
			await.Within(t, "to connect", time.Since(begun), 20*time.Second)
			if c.Era != mcp.Legacy {
				t.Errorf("connected as %v", c.Era)
			}
			if got := echo(t, c, "x"); got != "x" {
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
		_, err := mcp.Connect(ctx, fake(t, "--never-answer"), mcp.ClientOptions{Info: ourInfo, ProbeMax: most})
		if !errors.Is(err, why) {
			t.Errorf("probe of %v: %v, want the cause", most, err)
		}
	}
}

// A modern server that is slow to answer the probe refuses the initialize sent meanwhile. Its late answer to
// the probe then decides.
func TestConnectSlowModernServer(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, nothing{}, nil, 0)
	go func() {
		probe, hello := bothOf(f)
		f.answer(probe.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`)
		f.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, hello.ID)
	}()
	client, err := mcp.Connect(t.Context(), c, mcp.ClientOptions{Info: ourInfo, ProbeMax: time.Millisecond})
	if err != nil || client.Era != mcp.Modern {
		t.Fatalf("%v, %v", client.Era, err)
	}
}

// bothOf returns the probe and the initialize request. On a busy machine they may arrive in either order.
func bothOf(f *far) (probe, hello mcp.Message) {
	probe, hello = f.next(), f.next()
	if probe.Method == "initialize" {
		return hello, probe
	}
	return probe, hello
}

// A legacy server that answers the probe only after initialize still counts as legacy.
func TestConnectLateProbeAnswer(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, nothing{}, nil, 0)
	go func() {
		probe, hello := bothOf(f)
		f.answer(hello.ID, `{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"late","version":"1"}}`)
		f.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, probe.ID)
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
	_, err := mcp.Connect(t.Context(), fake(t, "--exit-code=3"), mcp.ClientOptions{Info: ourInfo})
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
	link := mcp.NewConn(mcp.NewLines(stdout, stdin, 0, stdout.Close), nothing{}, nil)
	c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo})
	if err != nil {
		t.Fatal(err)
	}
	if got := echo(t, c, "x"); got != "x" || c.Era != mcp.Modern {
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
			link := pipes(t, func(r io.ReadCloser, w io.WriteCloser) {
				_ = server.Run(context.Background(), &sdk.IOTransport{Reader: r, Writer: w}) // ends with its input
			})
			c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: ourInfo})
			if err != nil {
				t.Fatal(err)
			}
			if c.Version != tc.want || c.Instructions != "be kind" || mcp.GetString(c.Info, "name") != "sdk" {
				t.Errorf("version %s, instructions %q, info %s", c.Version, c.Instructions, c.Info)
			}
			if got := echo(t, c, "é"); got != "é" {
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
	c, err := mcp.Connect(t.Context(), fakeHTTP(t, "--era=legacy"), mcp.ClientOptions{
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
			if got := echo(t, c, fmt.Sprint(n)); got != fmt.Sprint(n) {
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
	link := &forgetful{reopened: make(chan struct{})}
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

// forgetful is a link that loses the session of the first request of each method. It refuses the request
// "late" only after "early" has been answered in a new session.
type forgetful struct {
	mcp.Link

	opened   atomic.Int32
	asked    sync.Map
	sent     sync.WaitGroup
	reopened chan struct{}
}

func (f *forgetful) Agreed(string)                                         {}
func (f *forgetful) Notify(context.Context, string, json.RawMessage) error { return nil }
func (f *forgetful) Call(_ context.Context, r *mcp.Request) (mcp.Response, error) {
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
		link := &stalling{}
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

// stalling is a link whose session can be lost. It leaves the first attempt to open a new one unanswered.
type stalling struct {
	mcp.Link

	lost   atomic.Bool
	stalls atomic.Int32
}

func (*stalling) Agreed(string)                                         {}
func (*stalling) Notify(context.Context, string, json.RawMessage) error { return nil }
func (s *stalling) Call(ctx context.Context, r *mcp.Request) (mcp.Response, error) {
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
			url := serveFunc(t, func(w http.ResponseWriter, _ *http.Request, p post) {
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
					answerJSON(w, result(p, `{"supportedVersions":["2026-07-28"],"capabilities":{}}`))
				}
			})
			c, err := mcp.Connect(t.Context(), dial(t, url, nil, nil), mcp.ClientOptions{Info: ourInfo, First: mcp.Legacy})
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
