package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/source/upstream/signin/signintest"
	"collie/test/await"
)

// testHome runs command lines in one home.
type testHome struct {
	t    *testing.T
	home string
}

// newTestHome makes a home that keeps secrets in a file and has two servers: notes at url, and local.
func newTestHome(t *testing.T, url string) testHome {
	t.Helper()
	home := t.TempDir()
	text := `{"secrets":{"store":"file"},"mcpServers":{"notes":{"url":"` + url + `"},"local":{"command":"x"}}}`
	if err := os.WriteFile(filepath.Join(home, "collie.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return testHome{t, home}
}

// run runs a command line and returns the program's exit code and stdout.
func (y testHome) run(stderr io.Writer, stdin string, args ...string) (code int, stdout string) {
	y.t.Helper()
	var out bytes.Buffer
	p := program{&root.Program{Version: "t", In: strings.NewReader(stdin), Output: output.Output{Out: &out, Err: stderr, Env: config.EnvOf("HOME=" + y.home)}}}
	root := p.tree()
	root.SetArgs(append([]string{"--home", y.home, "--log-level", "debug"}, args...))
	root.SetOut(&out)
	root.SetErr(stderr)
	if err := root.ExecuteContext(y.t.Context()); err != nil {
		code = p.Report(err)
	}
	return code, out.String()
}

// lockedBuffer is a buffer that can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *lockedBuffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *lockedBuffer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// shownURL matches a URL that stands alone on an indented line.
var shownURL = regexp.MustCompile(`(?m)^  (http\S+)$`)

// awaitAddress waits for the sign-in address that the command shows.
func (w *lockedBuffer) awaitAddress(t *testing.T) string {
	t.Helper()
	var m []string
	await.Until(t, "an address is shown", func() bool {
		m = shownURL.FindStringSubmatch(w.String())
		return m != nil
	}, w.String)
	return m[1]
}

// A person signs in at a server through a browser on this machine, and out again. The tokens never show.
func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	provider := signintest.New(t, signintest.Behaviour{AnnounceIss: true})
	y := newTestHome(t, provider.MCP())
	var log lockedBuffer
	type end struct {
		code int
		out  string
	}
	ended := make(chan end, 1)
	go func() {
		code, out := y.run(&log, "", "mcp", "auth", "notes", "--scope", "read")
		ended <- end{code, out}
	}()
	callback, err := provider.Visit(t.Context(), log.awaitAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	if page, err := provider.Follow(t.Context(), callback); err != nil || !strings.Contains(page, "Signed in") {
		t.Errorf("the callback shows %q, %v", page, err)
	}
	if e := <-ended; e.code != 0 || e.out != "signed in to notes\n" {
		t.Errorf("auth = %+v\n%s", e, &log)
	}
	if got := provider.Seen().Authorize.Get("scope"); got != "read" {
		t.Errorf("scope = %q, want read", got)
	}
	if code, out := y.run(&log, "", "secret", "list", "--json"); code != 0 || !strings.Contains(out, `"secrets":[]`) {
		t.Errorf("secret list = %d, %s: tokens are not secrets of a person", code, out)
	}
	if code, out := y.run(&log, "", "mcp", "logout", "notes", "--json"); code != 0 || !strings.Contains(out, `"revoked":true`) {
		t.Errorf("logout = %d, %s\n%s", code, out, &log)
	}
	if len(provider.Seen().Revoked) != 2 {
		t.Errorf("revoked %q", provider.Seen().Revoked)
	}
	if code, _ := y.run(&log, "", "mcp", "logout", "notes"); code != root.ExitFailed {
		t.Errorf("a second logout = %d", code)
	}
	y.failIfReadable("canary", log.String())
}

// The browser runs on another machine: a second run is given the address at which it ended.
func TestSignInWithCode(t *testing.T) {
	t.Parallel()
	provider := signintest.New(t, signintest.Behaviour{})
	y := newTestHome(t, provider.MCP())
	var log lockedBuffer
	ended := make(chan int, 1)
	go func() {
		code, _ := y.run(&log, "", "mcp", "auth", "notes", "--no-browser")
		ended <- code
	}()
	callback, err := provider.Visit(t.Context(), log.awaitAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	if code, out := y.run(&log, "", "mcp", "auth", "notes", "--code", callback, "--json"); code != 0 || !strings.Contains(out, `"signedIn":true`) {
		t.Errorf("auth --code = %d, %s\n%s", code, out, &log)
	}
	if code := <-ended; code != 0 {
		t.Errorf("the run that waited = %d\n%s", code, &log)
	}
	y.failIfReadable("canary", log.String())
}

// The value of a secret is neither on stderr nor readable in any file, and values that cannot be right are refused.
func TestSecretNeverShows(t *testing.T) {
	t.Parallel()
	y := newTestHome(t, "http://127.0.0.1:1/mcp")
	var log lockedBuffer
	for _, stdin := range []string{"canary-value\n", "canary-value\r\n", "canary-value"} {
		if code, out := y.run(&log, stdin, "secret", "set", "KEY"); code != 0 || !strings.Contains(out, "stored KEY in the file") {
			t.Fatalf("set = %d, %s\n%s", code, out, &log)
		}
	}
	for stdin, want := range map[string]string{"": "empty", "\n": "empty", "a\x00b": "zero byte", strings.Repeat("x", 1<<20+1): "more than"} {
		var said lockedBuffer
		if code, _ := y.run(&said, stdin, "secret", "set", "KEY"); code != root.ExitUsage || !strings.Contains(said.String(), want) {
			t.Errorf("set with %.10q = %d, %s", stdin, code, &said)
		}
	}
	if code, out := y.run(&log, "", "secret", "remove", "KEY"); code != 0 || out != "removed KEY\n" {
		t.Errorf("remove = %d, %s", code, out)
	}
	y.failIfReadable("canary", log.String())
}

// failIfReadable fails the test if word occurs in said or in any file of the home.
func (y testHome) failIfReadable(word, said string) {
	y.t.Helper()
	if strings.Contains(said, word) {
		y.t.Errorf("stderr holds a secret:\n%s", said)
	}
	err := filepath.WalkDir(y.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && bytes.Contains(raw, []byte(word)) {
			y.t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil {
		y.t.Error(err)
	}
}
