package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/test/await"
	"collie/test/gateway"
)

// waitLimit bounds what should happen at once.
const waitLimit = await.Limit

// The files of the workspace that Collie reads.
const (
	ownFolder    = "/data/storage/petal/collie/"
	pluginFolder = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/"
	levelsFile   = "notebookPermissions"
	configFile   = "mcpToolsConfig"
)

// world is what most tests of this package start from: a test kernel with three notebooks, and programs that use it.
type world struct {
	*kerneltest.Kernel
	gateway.Programs
	settings string

	work    string // notebook with the level rwd
	reading string // notebook with the level r
	hidden  string // notebook with the level none
	plan    string // document /Work/Plan
}

// hiddenWord occurs in everything that the hidden notebook holds.
const hiddenWord = "Zanzibar"

// newWorld makes a world. members are further members of the section siyuan, each as `"name":value`.
func newWorld(t *testing.T, members ...string) *world {
	t.Helper()
	w := &world{Kernel: kerneltest.New(t), Programs: gateway.LinkPrograms(t)}
	w.work, w.reading, w.hidden = w.Notebook("Work"), w.Notebook("Reading"), w.Notebook(hiddenWord)
	w.plan = w.Doc(w.work, "/Plan", "# Goals\n\nThe first goal is tea.\n\nThe second goal is 咖啡.")
	w.Doc(w.work, "/Plan/Budget", "Nine coins.")
	w.Doc(w.reading, "/Book", "A whale.")
	w.Doc(w.hidden, "/"+hiddenWord+" plan", hiddenWord+" #"+hiddenWord+"# tea")
	w.writeLevels(map[string]string{w.work: "rwd", w.reading: "r", w.hidden: "none"})
	w.settings = w.Settings(t, nil, w.siyuanSection(w.URL(), members...))
	return w
}

// siyuanSection returns the section siyuan of the settings, for a kernel at url.
func (w *world) siyuanSection(url string, members ...string) string {
	all := append([]string{fmt.Sprintf(`"connections":{"test":{"url":%q,"token":%q}}`, url, kerneltest.Token)}, members...)
	return `"siyuan":{` + strings.Join(all, ",") + `}`
}

// writeLevels writes our own file of levels.
func (w *world) writeLevels(of map[string]string) {
	raw, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	w.File(ownFolder+levelsFile, raw)
}

// serve runs the gateway in front of the kernel; every local program may use it.
func (w *world) serve(t *testing.T) *gateway.Gateway {
	t.Helper()
	return w.Serve(t, w.settings, "--no-auth")
}

// cliRun is one run of the command line.
type cliRun struct {
	out, errs string
	code      int
}

// runCLI runs `collie args…` with the world's settings in a new home, without a terminal.
func (w *world) runCLI(t *testing.T, args ...string) cliRun {
	t.Helper()
	return w.runCLIIn(t, t.TempDir(), nil, append([]string{"--config", w.settings}, args...)...)
}

// runCLIIn runs `collie args…` in a home. From the environment it leaves out what would configure Collie, and adds env.
func (w *world) runCLIIn(t *testing.T, home string, env []string, args ...string) cliRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.Collie, append([]string{"--home", home}, args...)...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "HOME" && !strings.HasPrefix(name, "COLLIE_") && !strings.HasPrefix(name, "SIYUAN_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "HOME="+home), env...)
	cmd.Dir = home
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !isExit(err) {
		t.Fatalf("collie %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return cliRun{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func isExit(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// wantCode fails the test unless the run ended with code.
func (r cliRun) wantCode(t *testing.T, code int) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %.2000s\nstderr: %.2000s", r.code, code, r.out, r.errs)
	}
}

// endpointsOf returns the endpoints of calls, in order.
func endpointsOf(calls []kerneltest.Call) []string {
	var out []string
	for _, c := range calls {
		out = append(out, strings.TrimPrefix(c.Path, "/api/"))
	}
	return out
}

// wantNoWrites fails the test if the kernel was asked to change anything.
func (w *world) wantNoWrites(t *testing.T) {
	t.Helper()
	if got := w.Writes(); len(got) > 0 {
		t.Errorf("the kernel was asked to write: %v", endpointsOf(got))
	}
}
