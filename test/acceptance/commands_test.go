package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// TestFlags gives one argument in every spelling, and arguments that are wrong: those are
// errors of usage that name what is right, and no call is made.
func TestFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	cli := func(args ...string) cliRun {
		return w.runCLIIn(t, home, nil, append([]string{"--config", w.settings}, args...)...)
	}
	want := cli("block", "get-children", "--id", w.plan, "--page-size", "2", "--json")
	want.wantCode(t, 0)
	if n := len(gjson.Get(want.out, "data").Array()); n != 2 {
		t.Errorf("%d blocks: %s", n, want.out)
	}
	for _, args := range [][]string{
		{"--pageSize", "2"}, {"--page_size", "2"}, {"--PAGE-SIZE", "2"}, {"--page-size=2"},
	} {
		got := cli(append([]string{"block", "get_children", "--ID", w.plan, "--json"}, args...)...)
		if got.code != 0 || got.out != want.out {
			t.Errorf("%v: %+v", args, got)
		}
	}
	for _, same := range [][]string{{"fs", "ls", "/Work"}, {"fs", "list", "--path", "/Work"}, {"call", "fs", "ls", "--path", "/Work"}, {"call", "fs", "ls", "--args", `{"path":"/Work"}`}} {
		got := cli(append(same, "--json")...)
		if got.code != 0 || gjson.Get(got.out, "items.0.name").String() != "Plan" {
			t.Errorf("%v: %+v", same, got)
		}
	}

	// Booleans, both ways; lists by comma, by repetition and as JSON; an object as JSON.
	ids := func(args ...string) cliRun { return cli(append([]string{"block", "word-count", "--json"}, args...)...) }
	two := ids("--ids", w.plan+","+w.work)
	for _, args := range [][]string{{"--ids", w.plan, "--ids", w.work}, {"--ids-json", `["` + w.plan + `","` + w.work + `"]`}} {
		if got := ids(args...); got.out != two.out || got.code != two.code {
			t.Errorf("%v: %+v, want %+v", args, got, two)
		}
	}
	on, off := cli("fs", "read", "/Work/Plan", "--include-block-ids", "--json"), cli("fs", "read", "/Work/Plan", "--no-include-block-ids", "--json")
	if on.code != 0 || off.code != 0 || on.out == off.out || off.out != cli("fs", "read", "/Work/Plan", "--include-block-ids=false", "--json").out {
		t.Errorf("--include-block-ids %+v\n--no-include-block-ids %+v", on, off)
	}
	cli("fs", "replace", "/Work/Plan", "--edit-json", `{"old":"tea","new":"green tea"}`, "--json").wantCode(t, 0)

	w.ResetCalls()
	for _, tt := range []struct {
		args  []string
		words []string // of stderr
	}{
		{[]string{"fs", "reed", "/Work/Plan"}, []string{"reed", "read"}},
		{[]string{"fs", "ls", "/Work", "--pth", "x"}, []string{"--pth", "--path"}},
		{[]string{"fs", "ls", "/Work", "--markdown", "x"}, []string{"--markdown", "--path"}}, // of another action
		{[]string{"fs", "ls", "/Work", "/Reading"}, []string{"/Reading"}},
		{[]string{"fs", "tree", "/", "--max-depth", "deep"}, []string{"max-depth", "deep"}},
		{[]string{"fs"}, []string{"read"}},
	} {
		got := cli(tt.args...)
		got.wantCode(t, 2)
		wantWords(t, strings.Join(tt.args, " "), got.errs, tt.words...)
		if got.out != "" {
			t.Errorf("%v: stdout %s", tt.args, got.out)
		}
	}
	for _, c := range w.Calls() {
		if c.Path != "/api/file/getFile" { // the switches may be looked up
			t.Errorf("a wrong command line asks the kernel for %s", c.Path)
		}
	}
}

// TestLongText takes text from a file and a comma that is not a separator.
func TestLongText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	file := filepath.Join(home, "long.md")
	if err := os.WriteFile(file, []byte("长, with a comma\n\nand two paragraphs"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", w.settings}
	w.runCLIIn(t, home, nil, append(args, "fs", "write", "/Work/Long", "--markdown", "@"+file)...).wantCode(t, 0)
	got := w.runCLIIn(t, home, nil, append(args, "fs", "read", "/Work/Long", "--json")...)
	if text := gjson.Get(got.out, "content").String(); !strings.Contains(text, "长, with a comma\n\nand two paragraphs") {
		t.Errorf("read back %q: %+v", text, got)
	}
}

// TestExitCodes produces the exit codes 0, 1 (error) and 4 (not allowed). [TestFlags] covers 2 (usage),
// [TestKernelDownOnTheCommandLine] 3 (unreachable), and [TestDangerousCallsOnTheCommandLine] 5 (not confirmed).
func TestExitCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	locked := newWorldOn(t, w)
	locked.settings = w.Settings(t, nil, `"siyuan":{"connections":{"test":{"url":"`+w.URL()+`","token":"WRONG_SECRET"}}}`)
	for _, tt := range []struct {
		on   *world
		args []string
		code int
		kind string
	}{
		{on: w, args: []string{"notebook", "list"}},
		{on: w, args: []string{"fs", "read", "/Work/Nothing"}, code: 1, kind: "not_found"},
		{on: w, args: []string{"fs", "read", "/" + hiddenWord + "/" + hiddenWord + " plan"}, code: 1, kind: "not_found"},
		{on: w, args: []string{"fs", "write", "/Reading/New", "--markdown", "x"}, code: 4, kind: "permission_denied"},
		{on: w, args: []string{"document", "remove", "--id", w.plan, "--yes"}, code: 4, kind: "disabled_error"},
		{on: locked, args: []string{"notebook", "list"}, code: 4, kind: "unauthorized"},
	} {
		got := tt.on.runCLI(t, tt.args...)
		got.wantCode(t, tt.code)
		if tt.kind == "" {
			continue
		}
		wantWords(t, strings.Join(tt.args, " "), got.errs, "✗ ["+tt.kind+"]", "Hint")
		if strings.Contains(got.errs, `(action="`) || got.out != "" {
			t.Errorf("%v: stdout %q, stderr %s", tt.args, got.out, got.errs)
		}
		// As JSON the error is the result, on one line of stdout.
		got = tt.on.runCLI(t, append(tt.args, "--json")...)
		if got.code != tt.code || strings.Count(got.out, "\n") != 1 || gjson.Get(got.out, "error.type").String() != tt.kind {
			t.Errorf("%v --json: %+v", tt.args, got)
		}
	}
}

// TestJSONOutput checks that --json writes only the payload to stdout, on one line.
func TestJSONOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	for _, args := range [][]string{{"fs", "read", "/Work/Plan"}, {"notebook", "list"}, {"fs", "tree", "/"}, {"system", "bootstrap"}} {
		got := w.runCLIIn(t, home, nil, append([]string{"--config", w.settings, "--json"}, args...)...)
		if got.code != 0 || !gjson.Valid(got.out) || strings.Count(got.out, "\n") != 1 || strings.Contains(got.out, "\x1b") {
			t.Errorf("%v: %+v", args, got)
		}
		plain := w.runCLIIn(t, home, nil, append([]string{"--config", w.settings}, args...)...)
		if plain.code != 0 || gjson.Valid(plain.out) || strings.Contains(plain.out, "\x1b") {
			t.Errorf("%v for people, into a pipe: %+v", args, plain)
		}
	}
}

// TestPrecedenceOfSettings names a kernel in every place at once, then removes the places in order of precedence:
// flags, environment, --connection, current connection. A token is never sent to an address from another place.
func TestPrecedenceOfSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.NeedsVault("there are five kernels here")
	home := t.TempDir()
	entry := map[string]string{}
	for _, name := range []string{"flag", "env", "work", "home"} {
		k := kerneltest.New(t)
		k.Notebook("of " + name)
		k.SetToken(true)
		entry[name] = k.URL()
	}
	conn := func(name string) string {
		return `"` + name + `":{"url":"` + entry[name] + `","token":"` + kerneltest.Token + `"}`
	}
	settings := w.Settings(t, nil, `"siyuan":{"current":"home","connections":{`+conn("home")+`,`+conn("work")+`}}`)
	env := []string{"SIYUAN_API_URL=" + entry["env"], "SIYUAN_TOKEN=" + kerneltest.Token}
	for _, tt := range []struct {
		env   []string
		flags []string
		want  string
		warns string
	}{
		{env: env, flags: []string{"--url", entry["flag"], "--token", kerneltest.Token, "--connection", "work"}, want: "flag"},
		{env: env, flags: []string{"--connection", "work"}, want: "env", warns: "SIYUAN_API_URL"},
		{env: env, want: "env"},
		{flags: []string{"--connection", "work"}, want: "work"},
		{want: "home"},
	} {
		got := w.runCLIIn(t, home, tt.env, append([]string{"--config", settings, "notebook", "list", "--json"}, tt.flags...)...)
		if name := gjson.Get(got.out, "0.name").String(); name != "of "+tt.want {
			t.Errorf("env %v, flags %v: asked %q, want %q: %+v", tt.env != nil, tt.flags, name, tt.want, got)
		}
		if !strings.Contains(got.errs, tt.warns) {
			t.Errorf("flags %v: stderr %q lacks a warning", tt.flags, got.errs)
		}
	}

	// The address of one place and the token of another.
	for _, tt := range [][2][]string{
		{env[1:], {"--url", entry["flag"]}},
		{{"SIYUAN_API_URL=" + entry["flag"]}, {"--connection", "work"}},
	} {
		got := w.runCLIIn(t, home, tt[0], append([]string{"--config", settings, "notebook", "list"}, tt[1]...)...)
		if got.code != 4 { // unauthorized: no token came with it
			t.Errorf("env %v, flags %v: %+v", tt[0], tt[1], got)
		}
	}
	unknown := w.runCLIIn(t, home, nil, "--config", settings, "notebook", "list", "--connection", "wrk")
	if unknown.code == 0 {
		t.Errorf("%+v", unknown)
	}
	wantWords(t, "an unknown connection", unknown.errs, `"wrk"`, "work")
}
