package script

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands returns the commands that scripts have in addition to those of testscript.
//
//	serve [args…]   runs collie serve on a free port until the script ends or halts it, and
//	                waits until start-up is over; $URL is its address; once it has ended, its
//	                stderr is in the file serve.log
//	halt            ends the gateway that serve started, and fails if it does not exit with 0
//	spoil OLD NEW PATTERN…
//	                replaces the first OLD by NEW in the first file with OLD among those that
//	                the patterns match, behind the program's back
//	code N PROGRAM args…
//	                runs a program as exec does and fails unless it exits with N
//	get STATUS PATH [FILE]
//	                asks the gateway that serve started for PATH, with the token in FILE if one
//	                is named, and fails unless the answer has that status; its body is on stdout
//	take VAR PATTERN
//	                sets $VAR to what the group of PATTERN matches in the last stdout
//	kernel [locked] starts a SiYuan kernel of tests with an empty workspace; $KERNEL_URL is its
//	                address and $KERNEL_TOKEN its token, which it requires only if locked
//	notebook VAR NAME
//	                makes a notebook in the kernel; $VAR is its id
//	document VAR NOTEBOOK PATH MARKDOWN
//	                makes a document in the kernel; $VAR is its id
//	workspace PATH FILE
//	                puts a file into the workspace of the kernel
//	registry FILE…  starts an MCP registry with the servers in the files; $REGISTRY is its address
func commands(tb testing.TB) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"code":      codeCommand,
		"get":       getCommand,
		"serve":     serveCommand,
		"halt":      haltCommand,
		"spoil":     spoilCommand,
		"take":      takeCommand,
		"kernel":    kernelCommand(tb),
		"notebook":  notebookCommand,
		"document":  documentCommand,
		"workspace": workspaceCommand,
		"registry":  registryCommand(tb),
	}
}

const (
	startLimit = 3 * time.Minute
	stopLimit  = 3 * time.Minute
)

// setUp gives a script a home of its own, and puts the programs on its PATH.
func setUp(programs []string) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		path := env.Getenv("PATH")
		for _, p := range programs {
			path = filepath.Dir(p) + string(filepath.ListSeparator) + path
			env.Setenv(strings.ToUpper(strings.TrimSuffix(filepath.Base(p), ".exe")), p)
		}
		env.Setenv("PATH", path)
		home := filepath.Join(env.WorkDir, "home")
		env.Setenv("HOME", home)
		env.Setenv("USERPROFILE", home)
		env.Setenv("COLLIE_HOME", filepath.Join(env.WorkDir, "collie"))
		return os.MkdirAll(home, 0o700)
	}
}

// gateway is a `collie serve` that a script has started.
type gateway struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // set before done is closed

	url chan string // receives the address once start-up is over

	mu      sync.Mutex
	log     bytes.Buffer
	urlSent bool
}

// running holds the gateway of each script that has one.
var running sync.Map // *testscript.TestScript → *gateway

// address matches the line that says that start-up is over.
var address = regexp.MustCompile(`ready: .* (https?://\S+)/mcp`)

// serveCommand is the command that runs a gateway; see commands.
func serveCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [args…]")
	}
	if _, ok := running.Load(ts); ok {
		ts.Fatalf("serve runs already; halt it first")
	}
	path := lookIn(ts.Getenv("PATH"), "collie")
	if path == "" {
		ts.Fatalf("no collie on PATH")
	}
	g := &gateway{done: make(chan struct{}), url: make(chan string, 1)}
	g.cmd = exec.Command(path, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...) // haltCommand ends it
	g.cmd.Dir, g.cmd.Env, g.cmd.Stderr = ts.MkAbs("."), environ(ts), g
	ts.Check(g.cmd.Start())
	go func() {
		g.err = g.cmd.Wait()
		close(g.done)
	}()
	running.Store(ts, g)
	ts.Defer(func() {
		if _, ok := running.Load(ts); ok {
			haltCommand(ts, false, nil)
		}
	})
	select {
	case url := <-g.url:
		ts.Setenv("URL", url)
	case <-g.done:
		ts.Fatalf("serve ended: %v\n%s", g.err, g.text())
	case <-time.After(startLimit):
		ts.Fatalf("serve did not start within %v\n%s", startLimit, g.text())
	}
}

// haltCommand is the command halt, and also runs when a script ends.
func haltCommand(ts *testscript.TestScript, neg bool, args []string) {
	got, ok := running.LoadAndDelete(ts)
	if neg || len(args) > 0 || !ok {
		ts.Fatalf("usage: halt, after serve")
	}
	g, _ := got.(*gateway)
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		ts.Logf("stop: %v", err)
	}
	select {
	case <-g.done:
	case <-time.After(stopLimit):
		_ = g.cmd.Process.Kill()
		<-g.done
		ts.Fatalf("serve still ran %v after SIGTERM\n%s", stopLimit, g.text())
	}
	ts.Check(os.WriteFile(ts.MkAbs("serve.log"), []byte(g.text()), 0o600))
	if g.err != nil {
		ts.Fatalf("serve: %v\n%s", g.err, g.text())
	}
}

// Write collects what the gateway writes to stderr, and looks for the line with its address.
func (g *gateway) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log.Write(p)
	if m := address.FindSubmatch(g.log.Bytes()); m != nil && !g.urlSent {
		g.url <- string(m[1]) // does not block: the channel has room for one
		g.urlSent = true
	}
	return len(p), nil
}

func (g *gateway) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.log.String()
}

// codeCommand is the command that checks the exit code of a program; see commands.
func codeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// lookIn finds a program in the folders of path.
func lookIn(path, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file
		}
	}
	return ""
}

// environ returns those variables of a script that collie serve needs.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USERPROFILE", "COLLIE_HOME", "TMPDIR", "WORK", "SystemRoot", "LANG", "LC_ALL", "SIYUAN_API_URL", "SIYUAN_TOKEN"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GOCOVERDIR=") {
			env = append(env, v)
		}
	}
	return env
}
