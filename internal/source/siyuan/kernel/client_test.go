package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
	"collie/test/await"
	"collie/test/port"
)

// newClient returns a client of url with very short waits.
func newClient(t testing.TB, url string, opts kernel.Options) *kernel.Client {
	t.Helper()
	if opts.Waits == nil {
		opts.Waits = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
	}
	c := kernel.New(url, opts)
	t.Cleanup(c.Close)
	return c
}

// newClientOfHandler returns a client of a server with the handler h.
func newClientOfHandler(t testing.TB, h http.HandlerFunc) *kernel.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return newClient(t, server.URL, kernel.Options{})
}

// newClientOfAnswer returns a client of a server that always gives one answer.
func newClientOfAnswer(t testing.TB, status int, body string) *kernel.Client {
	t.Helper()
	return newClientOfHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// wantToolError returns err as a *tool.Error of that kind.
func wantToolError(t testing.TB, err error, kind tool.ErrorKind) *tool.Error {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("got %v, want an error of kind %s", err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("got kind %s (%v), want %s", e.Kind, err, kind)
	}
	return e
}

// countCalls returns how many requests to an endpoint the kernel has got.
func countCalls(k *kerneltest.Kernel, path string) (n int) {
	for _, c := range k.Calls() {
		if c.Path == path {
			n++
		}
	}
	return n
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const versionPath, renamePath = "/api/system/version", "/api/notebook/renameNotebook"

// timeoutFor returns the request timeout for a mode: a short one if requests hang, otherwise none, since the machine may
// be busy.
func timeoutFor(mode kerneltest.Mode) time.Duration {
	if mode == kerneltest.FailHang {
		return 300 * time.Millisecond
	}
	return 0
}

func TestReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range []kerneltest.Mode{kerneltest.FailServer, kerneltest.FailBusy, kerneltest.FailClose, kerneltest.FailHang} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			most := 4 // the first attempt and one after each of the three waits
			if mode == kerneltest.FailHang {
				most = 2 // a request that hangs is repeated only once
			}
			k := kerneltest.New(t)
			c := newClient(t, k.URL(), kernel.Options{ReadTimeout: timeoutFor(mode)})
			k.Fail(versionPath, most-1, mode)
			if v, err := c.Version(t.Context()); err != nil || v != kerneltest.Version {
				t.Fatalf("%q %v", v, err)
			}
			if n := countCalls(k, versionPath); n != most {
				t.Errorf("asked %d times, want %d", n, most)
			}
			k.ResetCalls()
			k.Fail(versionPath, 9, mode)
			if _, err := c.Version(t.Context()); err == nil {
				t.Error("it went well")
			}
			if n := countCalls(k, versionPath); n != most {
				t.Errorf("asked %d times before giving up, want %d", n, most)
			}
		})
	}
}

// TestReadsThatCannotDoBetter: reads that a repetition cannot help are not repeated, above all with a wrong token, or
// the kernel would lock this machine out.
func TestReadsThatCannotDoBetter(t *testing.T) {
	t.Parallel()
	for mode, kind := range map[kerneltest.Mode]tool.ErrorKind{
		kerneltest.FailAuth: tool.Unauthorized, kerneltest.FailEmpty: kernel.NotInKernel, kerneltest.FailGarbage: tool.Unavailable,
		kerneltest.FailMessage("disk is full"): kernel.API,
	} {
		k := kerneltest.New(t)
		c := newClient(t, k.URL(), kernel.Options{})
		k.Fail(versionPath, 1, mode)
		_, err := c.Version(t.Context())
		wantToolError(t, err, kind)
		if n := countCalls(k, versionPath); n != 1 {
			t.Errorf("%s: asked %d times, want once", mode, n)
		}
	}
}

// TestDefaultWaits: reads are repeated after 0.3, 0.6 and 0.9 s.
func TestDefaultWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		begin := time.Now()
		c := kernel.New("http://kernel", kernel.Options{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(begin))
			return nil, errors.New("connection reset")
		})})
		_, err := c.Version(t.Context())
		wantToolError(t, err, tool.Unavailable)
		want := fmt.Sprint([]time.Duration{0, 300 * time.Millisecond, 900 * time.Millisecond, 1800 * time.Millisecond})
		if fmt.Sprint(asked) != want {
			t.Errorf("asked after %v, want %v", asked, want)
		}
	})
}

// TestDefaultTimeouts: a read may take 10 s, a write 60 s.
func TestDefaultTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hanging := roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c := kernel.New("http://kernel", kernel.Options{Transport: hanging, Waits: []time.Duration{}})
		begin := time.Now()
		_, err := c.Version(t.Context())
		if e := wantToolError(t, err, tool.Unavailable); !strings.Contains(e.Error(), "in time") || time.Since(begin) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		begin = time.Now()
		wantToolError(t, c.RenameNotebook(t.Context(), "20240101000000-abcdefg", "x"), kernel.OutcomeUnknown)
		if time.Since(begin) != time.Minute {
			t.Errorf("a write was given %v", time.Since(begin))
		}
	})
}

// TestWritesAreNeverTriedAgain: a write is sent once, whatever happens, and one without an answer may have taken
// effect.
func TestWritesAreNeverTriedAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode    kerneltest.Mode
		kind    tool.ErrorKind
		unknown bool
		name    string // the name of the notebook afterwards
	}{
		{kerneltest.FailServer, kernel.OutcomeUnknown, true, "old"},
		{kerneltest.FailClose, kernel.OutcomeUnknown, true, "old"},
		{kerneltest.FailLost, kernel.OutcomeUnknown, true, "new"},
		{kerneltest.FailHang, kernel.OutcomeUnknown, true, "old"},
		{kerneltest.FailBusy, tool.Busy, false, "old"},
		{kerneltest.FailAuth, tool.Unauthorized, false, "old"},
		{kerneltest.FailEmpty, kernel.NotInKernel, false, "old"},
		{kerneltest.FailGarbage, tool.Unavailable, false, "old"},
		{kerneltest.FailMessage("no"), kernel.API, false, "old"},
	}
	for _, tt := range tests {
		t.Run(string(tt.mode), func(t *testing.T) {
			t.Parallel()
			k := kerneltest.New(t)
			c := newClient(t, k.URL(), kernel.Options{WriteTimeout: timeoutFor(tt.mode)})
			id := kernel.ID(k.Notebook("old"))
			k.Fail(renamePath, 1, tt.mode)
			e := wantToolError(t, c.RenameNotebook(t.Context(), id, "new"), tt.kind)
			if n := countCalls(k, renamePath); n != 1 {
				t.Errorf("sent %d times, want once", n)
			}
			if e.OutcomeUnknown != tt.unknown {
				t.Errorf("outcome unknown: %t, want %t", e.OutcomeUnknown, tt.unknown)
			}
			if tt.unknown && e.Facts["endpoint"] != renamePath {
				t.Errorf("the error does not name the endpoint: %v", e.Facts)
			}
			all, err := c.Notebooks(t.Context())
			if err != nil || len(all) != 1 || all[0].Name != tt.name {
				t.Errorf("%v %v, want the name %q", all, err, tt.name)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{Waits: []time.Duration{time.Hour}})
	id := kernel.ID(k.Notebook("old"))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err := c.Version(stopped)
	wantToolError(t, err, tool.Canceled)
	if e := wantToolError(t, c.RenameNotebook(stopped, id, "new"), tool.Canceled); e.OutcomeUnknown {
		t.Error("nothing was sent, and yet the outcome is unknown")
	}
	if n := len(k.Calls()); n != 0 {
		t.Errorf("%d requests in a context that had ended", n)
	}
	during := func(mode kerneltest.Mode, path string, do func(context.Context) error) error {
		k.ResetCalls()
		k.Fail(path, 1, mode)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- do(ctx) }()
		for countCalls(k, path) == 0 {
			if ctx.Err() != nil {
				t.Fatal("nothing was sent")
			}
		}
		cancel()
		return <-ended
	}
	read := func(ctx context.Context) error { _, err := c.Version(ctx); return err }
	wantToolError(t, during(kerneltest.FailHang, versionPath, read), tool.Canceled)
	wantToolError(t, during(kerneltest.FailServer, versionPath, read), tool.Canceled) // while it waits to try again
	write := func(ctx context.Context) error { return c.RenameNotebook(ctx, id, "new") }
	wantToolError(t, during(kerneltest.FailHang, renamePath, write), kernel.OutcomeUnknown)
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	k.Fail(versionPath, 1, kerneltest.FailHang)
	_, err = c.Version(late)
	if e := wantToolError(t, err, tool.Unavailable); !strings.Contains(e.Error(), "in time") {
		t.Errorf("%v", err)
	}
}

// TestKernelDownThenUp: a client works again once its kernel is back.
func TestKernelDownThenUp(t *testing.T) {
	t.Parallel()
	address := port.Address(t)
	c := newClient(t, "http://"+address, kernel.Options{})
	_, err := c.Version(t.Context())
	e := wantToolError(t, err, tool.Unavailable)
	if e.Code != kernel.CodeUnreachable || !strings.Contains(e.Error(), address) || !strings.Contains(e.Hint, "start SiYuan") {
		t.Errorf("%v (%s, %s)", e, e.Code, e.Hint)
	}
	// Nothing accepted the connection, so the write did not happen.
	if e := wantToolError(t, c.RenameNotebook(t.Context(), "20240101000000-abcdefg", "x"), tool.Unavailable); e.OutcomeUnknown {
		t.Error("the outcome of a write that never left is unknown")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	k := kerneltest.New(t)
	server := &http.Server{Handler: k.Handler(), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	if v, err := c.Version(t.Context()); err != nil || v != kerneltest.Version {
		t.Errorf("%q %v", v, err)
	}
	_ = server.Close()
	<-served
	_, err = c.Version(t.Context())
	wantToolError(t, err, tool.Unavailable)
}

func TestTokenAndAddress(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.SetToken(true)
	c := newClient(t, k.URL()+"///", kernel.Options{Token: kerneltest.Token})
	if _, err := c.Notebooks(t.Context()); err != nil {
		t.Error(err)
	}
	if c.Base() != k.URL() {
		t.Errorf("base %q", c.Base())
	}
	_, err := newClient(t, k.URL(), kernel.Options{Token: "wrong"}).Notebooks(t.Context())
	if e := wantToolError(t, err, tool.Unauthorized); !strings.Contains(e.Error(), "does not accept the token") || strings.Contains(e.Error(), "wrong") {
		t.Error(err)
	}
	_, err = newClient(t, k.URL(), kernel.Options{}).Notebooks(t.Context())
	if e := wantToolError(t, err, tool.Unauthorized); !strings.Contains(e.Error(), "none is configured") {
		t.Error(err)
	}
	sent := atomic.Value{}
	c = newClientOfHandler(t, func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization") + "|" + r.Header.Get("Content-Type") + "|" + r.Method)
		_, _ = io.WriteString(w, `{"code":0,"msg":"","data":"3.7.3"}`)
	})
	if _, err := c.Version(t.Context()); err != nil || sent.Load() != "|application/json|POST" {
		t.Errorf("%q %v", sent.Load(), err)
	}
}

// TestClientIsLazy: making a client needs no kernel.
func TestClientIsLazy(t *testing.T) {
	t.Parallel()
	asked := false
	c := kernel.New("http://kernel", kernel.Options{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		asked = true
		return nil, errors.New("no")
	})})
	c.Close()
	if asked {
		t.Error("a client that was not used asked for something")
	}
}

// TestRedirectsAreNotFollowed: an address that redirects is not a kernel and must not get the token.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	followed := atomic.Bool{}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(elsewhere.Close)
	c := newClientOfHandler(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) })
	_, err := c.Version(t.Context())
	wantToolError(t, err, tool.Unavailable)
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

func TestFlushOnlyAfterWrites(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.DelayIndex(true)
	c := newClient(t, k.URL(), kernel.Options{})
	nb := kernel.ID(k.Notebook("N"))
	if err := c.FlushNow(t.Context()); err != nil { // flushes the writes of the fixture
		t.Fatal(err)
	}
	k.ResetCalls()
	count := func() int {
		t.Helper()
		rows, err := kernel.SQL[struct{ ID kernel.ID }](t.Context(), c, "SELECT DISTINCT id FROM blocks WHERE content = 'D' LIMIT 10")
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	count()
	if n := countCalls(k, flushPath); n != 0 {
		t.Errorf("%d flushes before any write", n)
	}
	if _, err := c.CreateDocument(t.Context(), nb, "/D", "text", kernel.NewID()); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 1 {
		t.Errorf("%d rows right after the write, want 1", n)
	}
	count()
	if n := countCalls(k, flushPath); n != 1 {
		t.Errorf("%d flushes after one write, want 1", n)
	}
	// A flush that fails is due again, and the read says so.
	if err := c.RenameNotebook(t.Context(), nb, "M"); err != nil {
		t.Fatal(err)
	}
	k.Fail(flushPath, 4, kerneltest.FailServer)
	if _, err := kernel.SQL[struct{}](t.Context(), c, "SELECT 1 LIMIT 1"); err == nil {
		t.Error("an index that could not be flushed was read")
	}
	k.ResetCalls()
	count()
	if n := countCalls(k, flushPath); n != 1 {
		t.Errorf("%d flushes after one that failed, want 1", n)
	}
	// A write of an unknown outcome may have to be flushed too.
	k.Fail(renamePath, 1, kerneltest.FailLost)
	wantToolError(t, c.RenameNotebook(t.Context(), nb, "L"), kernel.OutcomeUnknown)
	k.ResetCalls()
	count()
	if n := countCalls(k, flushPath); n != 1 {
		t.Errorf("%d flushes after a lost answer, want 1", n)
	}
}

// TestFlushIsWaitedFor: a second reader waits for the first one's flush, and a write that ends after a flush is
// flushed again.
func TestFlushIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var order []string
		mu := make(chan struct{}, 1)
		note := func(s string) {
			mu <- struct{}{}
			order = append(order, s)
			<-mu
		}
		c := kernel.New("http://kernel", kernel.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "renameNotebook"):
				await.Sleep(5 * time.Second)
				note("written")
			case strings.HasSuffix(r.URL.Path, "flushTransaction"):
				await.Sleep(time.Second)
				note("flushed")
			default:
				note("read")
			}
			body := `{"code":0,"msg":"","data":[]}`
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})})
		sql := func() {
			if _, err := kernel.SQL[struct{}](t.Context(), c, "SELECT 1 LIMIT 1"); err != nil {
				t.Error(err)
			}
		}
		write := func() { _ = c.RenameNotebook(t.Context(), "20240101000000-abcdefg", "x") }
		write()
		go sql()
		go sql()
		go write() // still runs while the two read
		await.Sleep(time.Minute)
		sql()
		want := "written flushed read read written flushed read"
		if got := strings.Join(order, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
