package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/pipeline/gate/notify"
	"collie/internal/tool"
	"collie/test/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var note = notify.Note{Tool: "fs.mv", Client: "编辑器 1.0", Risk: tool.RiskHigh, Answer: "collie confirm K7RM4T"}

// noteServer is an HTTP server that receives notifications.
type noteServer struct {
	*httptest.Server
	got chan *http.Request // each request, with its body in the header field Body
}

func newNoteServer(t *testing.T, answer http.HandlerFunc) *noteServer {
	t.Helper()
	r := &noteServer{got: make(chan *http.Request, 64)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		req.Header.Set("Body", string(raw))
		r.got <- req
		if answer != nil {
			answer(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func newNotifier(t *testing.T, s notify.Settings, log io.Writer) *notify.Notifier {
	t.Helper()
	n := notify.New(notify.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	t.Cleanup(n.Close)
	n.Use(s)
	return n
}

// tryNote sends a trial note to the only destination and returns the error.
func tryNote(t *testing.T, n *notify.Notifier) error {
	t.Helper()
	out := n.Try(t.Context(), note)
	if len(out) != 1 {
		t.Fatalf("%+v", out)
	}
	return out[0].Err
}

func TestForms(t *testing.T) {
	t.Parallel()
	const message = "fs.mv, for 编辑器 1.0, risk high. Answer: collie confirm K7RM4T"
	r := newNoteServer(t, nil)
	secret := func(_ context.Context, written string) (string, error) {
		return strings.ReplaceAll(written, "${secret:ntfy}", "hunter2"), nil
	}
	n := newNotifier(t, notify.Settings{
		URL: r.URL + "/${secret:ntfy}", Headers: map[string]string{"Authorization": "Bearer ${secret:ntfy}"}, Format: notify.Text, Secret: secret,
	}, t.Output())
	if err := tryNote(t, n); err != nil {
		t.Fatal(err)
	}
	got := <-r.got
	if got.Method != http.MethodPost || got.URL.Path != "/hunter2" || got.Header.Get("Authorization") != "Bearer hunter2" ||
		got.Header.Get("Title") != "Collie asks you" || got.Header.Get("Body") != message {
		t.Errorf("%s %s %v", got.Method, got.URL, got.Header)
	}
	n.Use(notify.Settings{URL: r.URL})
	if err := tryNote(t, n); err != nil {
		t.Fatal(err)
	}
	got = <-r.got
	var body map[string]string
	if err := json.Unmarshal([]byte(got.Header.Get("Body")), &body); err != nil || got.Header.Get("Content-Type") != "application/json" {
		t.Fatal(err, got.Header)
	}
	for name, want := range map[string]string{
		"title": "Collie asks you", "message": message, "text": message, "content": message,
		"tool": "fs.mv", "client": "编辑器 1.0", "risk": "high", "answer": "collie confirm K7RM4T",
	} {
		if body[name] != want {
			t.Errorf("%s is %q", name, body[name])
		}
		delete(body, name)
	}
	if len(body) > 0 {
		t.Errorf("it says more: %v", body)
	}
}

// Names of tools and clients are foreign text. They cannot add lines or header fields, and are cut to a bounded length.
func TestNamesAreHarmless(t *testing.T) {
	t.Parallel()
	r := newNoteServer(t, nil)
	n := newNotifier(t, notify.Settings{URL: r.URL, Format: notify.Text}, t.Output())
	n.Try(t.Context(), notify.Note{Tool: "a\r\nX-Evil: 1\x1b[2J\u202eb" + strings.Repeat("长", 500), Client: "\xff", Answer: "here"})
	got := <-r.got
	if body := got.Header.Get("Body"); strings.ContainsAny(body, "\r\n\x1b\u202e") || len([]rune(body)) > 300 || got.Header.Get("X-Evil") != "" {
		t.Errorf("%q", body)
	}
}

func TestWhatGoesWrong(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	inside := newNoteServer(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
		}, "not followed"},
		"refusal": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no\nsuch topic", http.StatusForbidden) }, "it answers 403: no such topic"},
		"hang up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		r := newNoteServer(t, tt.answer)
		n := newNotifier(t, notify.Settings{URL: r.URL + "/hunter2"}, t.Output())
		if err := tryNote(t, n); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if reached.Load() > 0 {
		t.Error("a redirect into a private network was followed")
	}
	r := newNoteServer(t, nil)
	for name, s := range map[string]notify.Settings{
		"no secret":      {URL: r.URL, Headers: map[string]string{"X": "${secret:gone}"}, Secret: func(context.Context, string) (string, error) { return "", errors.New("no secret is called gone") }},
		"header":         {URL: r.URL, Headers: map[string]string{"X": "a\nb"}},
		"nobody listens": {URL: "http://127.0.0.1:1"},
		"no URL":         {URL: "http://%zz"},
	} {
		if err := tryNote(t, newNotifier(t, s, t.Output())); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	n := notify.New(notify.Options{Check: func(string) error { return errors.New("not there") }})
	defer n.Close()
	n.Use(notify.Settings{URL: r.URL})
	if err := tryNote(t, n); err == nil || err.Error() != "not there" || len(r.got) > 0 {
		t.Errorf("an address that is not taken: %v, %d requests", err, len(r.got))
	}
}

// A receiver that does not answer blocks nobody: notes beyond the size of the queue are dropped with a line in the log, and Close
// does not wait for an answer.
func TestASlowReceiver(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	r := newNoteServer(t, func(http.ResponseWriter, *http.Request) { <-hold })
	defer close(hold)
	var said safeBuffer
	n := newNotifier(t, notify.Settings{URL: r.URL}, &said)
	begun := time.Now()
	for range 100 {
		n.Send(note)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("sending took %v", took)
	}
	<-r.got
	await.Until(t, "a line about what was dropped", func() bool { return strings.Contains(said.String(), "dropped") })
	n.Close()
	if took := time.Since(begun); took > 9*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// Without settings nothing is sent.
func TestOff(t *testing.T) {
	t.Parallel()
	n := newNotifier(t, notify.Settings{}, t.Output())
	n.Send(note)
	if out := n.Try(t.Context(), note); out != nil {
		t.Error(fmt.Sprint(out))
	}
}

// safeBuffer is a log that is read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
