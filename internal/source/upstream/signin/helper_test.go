package signin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a Store in memory, as several processes would share it.
type memory struct {
	mu     sync.Mutex
	values map[string]string
	broken error // if not nil, every call of Set fails with it
	asked  int
}

func newMemory() *memory { return &memory{values: map[string]string{}} }

func (m *memory) Get(_ context.Context, name string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	v, ok := m.values[name]
	return v, ok, nil
}

func (m *memory) Has(_ context.Context, name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.values[name]
	return ok, nil
}

func (m *memory) Set(_ context.Context, name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	m.values[name] = value
	return nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, name)
	return nil
}

// fail makes every later write fail with err, or none if err is nil.
func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

// all returns all stored names and values.
func (m *memory) all() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values)
}

// text returns all names and values as text.
func (m *memory) text() string {
	var b strings.Builder
	for name, v := range m.all() {
		b.WriteString(name + " " + v + "\n")
	}
	return b.String()
}

// clock is a clock that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a provider, a store and a session over both.
type bench struct {
	*signintest.Provider

	t       *testing.T
	store   *memory
	clock   *clock
	lockDir string
	log     *syncBuffer
	session *signin.Session
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newBench returns a bench whose provider behaves as b says. When the test ends, its log must hold no secret.
func newBench(t *testing.T, b signintest.Behaviour) *bench {
	t.Helper()
	x := &bench{
		Provider: signintest.New(t, b), t: t, store: newMemory(), clock: &clock{now: time.Now()},
		lockDir: t.TempDir(), log: &syncBuffer{},
	}
	x.session = x.open(signin.Server{})
	t.Cleanup(func() {
		if strings.Contains(x.log.String(), "canary") {
			t.Errorf("the log holds a secret:\n%s", x.log)
		}
	})
	return x
}

// open returns another session over the same store, as in another process.
func (x *bench) open(server signin.Server) *signin.Session {
	x.t.Helper()
	if server.Name == "" {
		server.Name = "notes"
	}
	if server.URL == "" {
		server.URL = x.MCP()
	}
	s := signin.New(server, x.store, signin.Options{
		LockDir: x.lockDir, Now: x.clock.Now,
		Logger: slog.New(slog.NewTextHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	x.t.Cleanup(func() { _ = s.Close() })
	return s
}

// options returns options with a browser that agrees to everything.
func (x *bench) options() signin.LoginOptions {
	return signin.LoginOptions{OpenBrowser: x.Browser(nil)}
}

// login signs in with a browser that agrees to everything.
func (x *bench) login(s *signin.Session) {
	x.t.Helper()
	if err := s.Login(x.t.Context(), x.options()); err != nil {
		x.t.Fatalf("login: %v", err)
	}
}

// call sends one request through a session and returns the status.
func (x *bench) call(s *signin.Session) (int, error) {
	x.t.Helper()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	req, err := http.NewRequestWithContext(x.t.Context(), http.MethodPost, x.MCP(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		x.t.Fatal(err)
	}
	resp, err := s.RoundTripper(base).RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// wants fails the test unless a call has that status.
func (x *bench) wants(s *signin.Session, status int) {
	x.t.Helper()
	got, err := x.call(s)
	if err != nil || got != status {
		x.t.Fatalf("call = %d, %v, want %d", got, err, status)
	}
}

// says fails the test unless err contains all the words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error = %v, want %q in it", err, w)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("error = %v: it holds a secret", err)
	}
}

var errStore = errors.New("the store is shut")
