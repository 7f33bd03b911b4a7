//go:build unix

package docs_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/upstream/registry/registrytest"
	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

func TestMain(m *testing.M) { os.Exit(gateway.BuildAndRun(m)) }

// TestPlayed runs every command in the code blocks of README.md and the guides, in order and in both languages. Each
// document has its own home, with a fake server, a fake model and a fake SiYuan kernel. A command must succeed or, where
// the document shows an error, fail with that kind of error. The map plays says what to prepare, and which commands
// cannot run here.
func TestPlayed(t *testing.T) {
	t.Parallel()
	files := []string{"README.md", "README.zh-CN.md"}
	guides, err := filepath.Glob(root + "docs/guide/*.md")
	if err != nil || len(guides) < 20 {
		t.Fatalf("%d guides: %v", len(guides), err)
	}
	for _, g := range guides {
		files = append(files, strings.TrimPrefix(g, root))
	}
	var used, played sync.Map // acts, and names of documents: -run may choose some
	t.Run("documents", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
				t.Parallel()
				raw, err := os.ReadFile(root + file)
				if err != nil {
					t.Fatal(err)
				}
				name, _, _ := strings.Cut(filepath.Base(file), ".")
				played.Store(file, true)
				s := newSession(t, strings.Contains(file, ".zh-CN."), plays[name])
				if plays[name].gateway {
					s.serve("collie serve")
				}
				acts := plays[name].acts
				next := make(map[string]int, len(acts)) // by line, where its next act is looked for
				for _, c := range commandsIn(string(raw)) {
					a := act{}
					for i := next[c.line]; i < len(acts); i++ {
						if acts[i].line == c.line {
							a, next[c.line] = acts[i], i+1
							used.Store(fmt.Sprint(name, i), true)
							break
						}
					}
					s.runAct(c, a)
				}
			})
		}
	})
	for _, file := range files {
		if _, is := played.Load(file); !is {
			return
		}
	}
	for name, p := range plays {
		for i, a := range p.acts {
			if _, is := used.Load(fmt.Sprint(name, i)); !is {
				t.Errorf("plays[%q] tells how to type %q, which the document does not show", name, a.line)
			}
		}
	}
}

// A command is a line that a document tells people to type.
type command struct {
	line  string // without its comment
	fails string // the error that the document shows: "[kind]", or "✗" without a kind; "" for none
}

var (
	fence   = regexp.MustCompile("^ *```(.*)$")
	comment = regexp.MustCompile(`\s+# .*$`)
	wrong   = regexp.MustCompile(`✗(?: (\[[a-z_]+\]))?`)
)

// commandsIn returns the commands in a document's code blocks: the lines after "$ " in console blocks, and all lines in sh
// blocks.
func commandsIn(text string) []command {
	var out []command
	kind, inside, joined := "", false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := fence.FindStringSubmatch(line); m != nil {
			inside, kind = !inside, m[1]
			continue
		}
		typed, isTyped := strings.CutPrefix(line, "$ ")
		switch {
		case !inside || kind != "console" && kind != "sh" || strings.TrimSpace(line) == "":
			continue
		case kind == "console" && !isTyped:
			if m := wrong.FindStringSubmatch(line); m != nil && len(out) > 0 && out[len(out)-1].fails == "" {
				out[len(out)-1].fails = m[1]
				if m[1] == "" {
					out[len(out)-1].fails = "✗"
				}
			}
			continue
		}
		if goesOn, is := strings.CutSuffix(typed, `\`); is {
			joined += goesOn
			continue
		}
		out = append(out, command{line: strings.TrimSpace(comment.ReplaceAllString(joined+typed, ""))})
		joined = ""
	}
	return out
}

// A session is a home in which a document is played.
type session struct {
	*testing.T
	home string
	env  []string
	put  *strings.Replacer // addresses and paths of the documents, as they are here
	last string            // the output of the last command
}

// newSession makes a home: settings with a server, a model and a registry, all fakes, and scripts in place of other people's
// programs.
func newSession(t *testing.T, chinese bool, as play) *session {
	t.Helper()
	p := gateway.LinkPrograms(t)
	s := &session{T: t, home: t.TempDir()}
	fake, err := provider.New(provider.Script{Conversations: []provider.Conversation{{Turns: []provider.Turn{{Say: "Tea."}, {Say: "Green tea."}, {Say: "Tea."}, {Say: "Tea."}, {Say: "Tea."}, {Say: "Tea."}}}}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(fake)
	t.Cleanup(func() {
		model.CloseClientConnections()
		model.Close()
	})
	registry := registrytest.Serve(t, `{"server":{"name":"io.github.example/weather","description":"Weather of today and tomorrow","version":"1.2.3","packages":[{"registryType":"npm","identifier":"@example/weather","version":"1.2.3","transport":{"type":"stdio"}}]}}`)
	programs := filepath.Join(s.home, "programs")
	definitions := filepath.Join(programs, "definitions.json")
	server := fmt.Sprintf("#!/bin/sh\necho started >&2\nexec %s --definitions %s\n", p.Fake, definitions)
	servers := map[string]any{"files": map[string]any{"command": "files-server"}}
	if as.web {
		closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		}))
		t.Cleanup(closed.Close)
		servers["web"] = map[string]any{"url": closed.URL + "/mcp"}
	}
	for name, text := range map[string]string{
		"programs/definitions.json": `{"tools":[{"name":"read_text_file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},{"name":"search","inputSchema":{"type":"object"}}]}`,
		"programs/quits-server":     "#!/bin/sh\necho cannot reach the database >&2\nexit 3\n",
		"programs/npx":              server, "programs/files-server": server,
		"programs/pass": "#!/bin/sh\necho geheim\n",
		".config/collie/collie.json": settings(t, map[string]any{
			"mcpServers": servers,
			"http":       map[string]any{"addr": "127.0.0.1:0"},
			"secrets":    map[string]any{"store": "file"},
			"mcp":        map[string]any{"registry": registry},
			"agent":      map[string]any{"model": "openai/fake-1"},
			"providers":  map[string]any{"openai": map[string]any{"kind": "openai", "baseURL": model.URL + "/v1", "keys": []any{map[string]any{"label": "main", "secret": "x"}}}},
			"profiles":   map[string]any{"work": map[string]any{"tools": []string{"fs", "files"}}},
		}),
	} {
		s.writeFile(name, text)
	}
	replace := []string{
		"/mnt/", s.home + "/mnt/", "https://llm.example.org", model.URL, "/srv/", s.home + "/srv/",
		"127.0.0.1:7420", "$ADDRESS", "127.0.0.1:7421", "127.0.0.1:0", "127.0.0.1:7422", "127.0.0.1:0", "0.0.0.0:7420", "127.0.0.1:0",
	}
	if as.notes {
		k := kerneltest.New(t)
		replace = append(replace, "https://notes.example.com", k.URL())
		s.fillKernel(k, chinese)
	}
	s.writeCertificate()
	s.put = strings.NewReplacer(replace...)
	language := "en_US.UTF-8"
	if chinese {
		language = "zh_CN.UTF-8"
	}
	s.env = []string{"HOME=" + s.home, "LANG=" + language, "PATH=" + programs + ":" + filepath.Dir(p.Collie) + ":" + os.Getenv("PATH"), "TERM=dumb", "TMPDIR=" + t.TempDir()}
	return s
}

func settings(t *testing.T, sections map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(sections)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// writeFile writes a file into the home.
func (s *session) writeFile(name, text string) {
	s.Helper()
	at := filepath.Join(s.home, name)
	err := os.MkdirAll(filepath.Dir(at), 0o700)
	if err == nil {
		err = os.WriteFile(at, []byte(text), 0o700)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// fillKernel fills a kernel with the notes of the guide, and writes its address and its token into files of the home.
func (s *session) fillKernel(k *kerneltest.Kernel, chinese bool) {
	s.Helper()
	private, work := k.Notebook(map[bool]string{false: "Private", true: "私人"}[chinese]), k.Notebook(map[bool]string{false: "Work", true: "工作"}[chinese])
	k.Doc(private, map[bool]string{false: "/Diary", true: "/日记"}[chinese], "Today.")
	k.Doc(work, map[bool]string{false: "/Plan", true: "/计划"}[chinese], map[bool]string{false: "It is due on May 12.", true: "5 月 12 日交付。"}[chinese])
	s.writeFile("kernel", k.URL())
	s.writeFile("token.txt", kerneltest.Token)
}

// writeCertificate writes a certificate for 127.0.0.1 and its key into the home.
func (s *session) writeCertificate() {
	s.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		s.Fatal(err)
	}
	s.writeFile("fullchain.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.TLS.Certificates[0].Certificate[0]})))
	s.writeFile("privkey.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
}

// runAct runs a command as the act says, and checks how it ends. If the act says why the command cannot run here, it only
// checks that the command and its flags exist.
func (s *session) runAct(c command, a act) {
	s.Helper()
	if a.why != "" {
		for _, m := range inCode.FindAllStringSubmatch(c.line, -1) {
			if wrong := problemWith(words(m[1])); wrong != "" {
				s.Errorf("%s: %s", c.line, wrong)
			}
		}
		return
	}
	if a.before != "" {
		if out, code := s.run("set -e; "+a.before, ""); code != 0 {
			s.Errorf("before %s: exit code %d\n%s", c.line, code, out)
		}
	}
	line := c.line
	for i := 0; i+1 < len(a.as); i += 2 {
		if !strings.Contains(line, a.as[i]) {
			s.Errorf("%s: there is no %q in it", c.line, a.as[i])
		}
		line = strings.ReplaceAll(line, a.as[i], s.value(a.as[i+1]))
	}
	line = s.put.Replace(line)
	if lasts, is := strings.CutSuffix(line, " &"); is || a.stays {
		s.serve(lasts)
		return
	}
	if a.until != "" {
		s.runUntil(line, a.until)
		return
	}
	out, code := s.run(line, a.stdin)
	s.last = out
	switch {
	case a.code != 0:
		if code != a.code {
			s.Errorf("%s: exit code %d, want %d\n%s", c.line, code, a.code, out)
		}
	case (c.fails == "" || a.fine) && code != 0:
		s.Errorf("%s: exit code %d; what it needs before it, or why it cannot run here, goes into plays in plays_test.go\n%s", c.line, code, out)
	case c.fails != "" && !a.fine && (code == 0 || !strings.Contains(out, c.fails)):
		s.Errorf("%s: the document shows that it fails with %s; exit code %d\n%s", c.line, c.fails, code, out)
	}
}

// value returns a text of an act. A text that begins with / is an expression; its group selects a part of the
// last command's output.
func (s *session) value(text string) string {
	pattern, found := strings.CutPrefix(text, "/")
	if !found {
		return text
	}
	m := regexp.MustCompile(pattern).FindStringSubmatch(s.last)
	if m == nil {
		s.Errorf("no %s in:\n%s", pattern, s.last)
		return text
	}
	return m[1]
}

const mostTime = 60 * time.Second // of one command, on a machine with much to do

// command returns a shell command of the session, in a process group of its own, which ends with ctx.
func (s *session) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = s.home, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = mostTime
	return cmd
}

// run runs a command line in a shell and returns its output and its exit code.
func (s *session) run(line, stdin string) (out string, code int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), mostTime)
	defer cancel()
	cmd := s.command(ctx, line)
	cmd.Stdin = strings.NewReader(stdin)
	raw, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Errorf("%s: %v", line, err)
	}
	return string(raw), cmd.ProcessState.ExitCode()
}

// runUntil runs a command that would not end by itself, and interrupts it once its output matches want.
func (s *session) runUntil(line, want string) {
	s.Helper()
	out, end := s.startUntil(line, want)
	if code := end(); code != 0 && code != 130 {
		s.Errorf("%s: interrupted, it ends with exit code %d\n%s", line, code, out())
	}
}

// serve runs a gateway until the session ends.
func (s *session) serve(line string) {
	s.Helper()
	out, end := s.startUntil(line, `ready: .*http`)
	s.Cleanup(func() {
		if code := end(); code != 0 {
			s.Errorf("%s: exit code %d\n%s", line, code, out())
		}
	})
	address := regexp.MustCompile(`ready: .* https?://(127\.0\.0\.1:\d+)/mcp`).FindStringSubmatch(out())
	if address != nil {
		s.env = append(s.env, "ADDRESS="+address[1])
	}
}

// startUntil starts a program that keeps running, and waits until its output matches the regular expression want. end
// interrupts it and returns its exit code.
func (s *session) startUntil(line, want string) (out func() string, end func() int) {
	s.Helper()
	var mu sync.Mutex
	var buf bytes.Buffer
	cmd := s.command(context.WithoutCancel(s.Context()), "exec "+line)
	cmd.Stdout = writer(func(p []byte) {
		mu.Lock()
		defer mu.Unlock()
		buf.Write(p)
	})
	cmd.Stderr = cmd.Stdout
	out = func() string {
		mu.Lock()
		defer mu.Unlock()
		return buf.String()
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // how it ends is in ProcessState
	}()
	end = sync.OnceValue(func() int {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		select {
		case <-done:
		case <-time.After(mostTime):
			_ = cmd.Process.Kill()
			<-done
		}
		return cmd.ProcessState.ExitCode()
	})
	s.Cleanup(func() { end() })
	found := regexp.MustCompile(want)
	await.Until(s, line+" writes "+want, func() bool { return found.MatchString(out()) }, out)
	return out, end
}

type writer func(p []byte)

// Write implements [io.Writer].
func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
