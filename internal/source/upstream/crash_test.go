//go:build unix

package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
	"collie/test/await"
)

// shellEntry returns the entry of a fakemcp that a shell script starts as "$@".
func shellEntry(t *testing.T, script string, flags ...string) string {
	t.Helper()
	path, args, env := mcptest.Command(t, flags...)
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	raw, err := json.Marshal(map[string]any{
		"command": "/bin/sh", "args": append([]string{"-c", script, "sh", path}, args...), "env": vars,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A server closes its output while its process lives on. The late report of the crash must not hide that the server
// has been started again.
func TestStateWhileACrashedProcessLives(t *testing.T) {
	t.Parallel()
	s := startServer(t, shellEntry(t, `exec 3<&0; "$@" <&3 3<&- & exec >&- <&- 3<&-; wait; sleep 1`))
	var calls sync.WaitGroup
	calls.Go(func() { _, _ = s.Run(t.Context(), newToolCall("crash", "{}")) })
	for range 20 { // some of them while the old process lives
		calls.Go(func() { _, _ = s.Run(t.Context(), newToolCall("echo", "{}")) })
		await.Moment(10 * time.Millisecond)
	}
	calls.Wait() // it is known by then how the process ended
	await.Never(t, 300*time.Millisecond, "the server answers and is not ready", func() bool { return s.Status().State != tool.StateReady })
}

// A server that has closed its output is started again only when its process has ended, which may hold a lock.
func TestRestartWaitsForTheProcess(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	s := startServer(t, shellEntry(t, fmt.Sprintf(`mkdir '%s' || touch '%[1]s.twice'; exec 3<&0; "$@" <&3 3<&- & exec >&- <&- 3<&-; wait; sleep 0.4; rmdir '%[1]s'`, lock)))
	var calls sync.WaitGroup
	calls.Go(func() { _, _ = s.Run(t.Context(), newToolCall("crash", "{}")) }) // returns when the process has ended
	for range 20 {                                                             // some of them while the old process lives
		calls.Go(func() { _, _ = s.Run(t.Context(), newToolCall("echo", "{}")) })
		await.Moment(10 * time.Millisecond)
	}
	calls.Wait()
	if _, err := s.Run(t.Context(), newToolCall("echo", "{}")); err != nil {
		t.Errorf("a call after that: %v", err)
	}
	if _, err := os.Stat(lock + ".twice"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it was started while its process lived:", err)
	}
}

// legacyCaller is a client of the legacy era.
type legacyCaller struct{}

func (legacyCaller) Supports(tool.Capability) bool                   { return false }
func (legacyCaller) ID() string                                      { return "" }
func (legacyCaller) Capabilities() json.RawMessage                   { return json.RawMessage("{}") }
func (legacyCaller) Notify(context.Context, string, json.RawMessage) {}
func (legacyCaller) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, tool.NewProtocolError(-32601, "no", nil)
}

// A server that speaks both eras but cannot run twice, because of a lock or a port, serves both over its one
// connection.
func TestSecondEraThatDoesNotStart(t *testing.T) {
	t.Parallel()
	lock := filepath.Join(t.TempDir(), "lock")
	s := startServer(t, shellEntry(t, `mkdir `+lock+` || { echo "already running" >&2; exit 1; }; exec "$@"`, "--era", "both"))
	if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`)); err != nil {
		t.Fatal(err)
	}
	call := newToolCall("echo", `{"text":"a"}`)
	call.Caller, call.Origin = legacyCaller{}, tool.MCPLocal
	for range 2 {
		if _, err := s.Run(t.Context(), call); err != nil {
			t.Errorf("a legacy client: %v", err)
		}
	}
	if st := s.Status(); st.State != tool.StateReady {
		t.Errorf("the server is %s: %s %s", st.State, st.Reason, st.Detail)
	}
}

// Secrets of an entry do not appear in the log, at no level and from no package.
func TestSecretsStayOutOfTheLog(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-of-the-entry"
	var text strings.Builder
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	env := func(name string) (string, bool) { return secret, name == "KEY" }
	var specs []upstream.Spec
	for i, raw := range []string{`{"url":"http://127.0.0.1:1/mcp?key=${KEY}"}`, `{"command":"${KEY}"}`, shellEntry(t, `echo "${1#/}" ${KEY} >&2; exit 1`)} {
		e, problems := entry.Parse("s"+string(rune('0'+i)), json.RawMessage(raw), entry.Options{Dir: t.TempDir(), Env: env})
		specs = append(specs, upstream.Spec{Entry: e, Problems: problems})
	}
	set := upstream.NewSet(specs, upstream.Options{Logger: log, Environ: os.Environ()})
	set.Start(nil)
	<-set.Started()
	closeSet(t, set)
	mu.Lock()
	defer mu.Unlock()
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, secret) {
			t.Errorf("in the log: %s", line)
		}
	}
	if text.Len() == 0 {
		t.Error("nothing was logged")
	}
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
