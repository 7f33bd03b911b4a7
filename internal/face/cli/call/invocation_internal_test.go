package call

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// newProgram returns the commands with this stdin and an empty environment, and buffers for stdout and stderr.
func newProgram(stdin string) (p commands, out, errw *bytes.Buffer) {
	out, errw = new(bytes.Buffer), new(bytes.Buffer)
	return commands{&root.Program{Version: "test", In: strings.NewReader(stdin), Output: output.Output{Out: out, Err: errw, Env: config.EnvOf()}}}, out, errw
}

// split takes the flags of collie call out of a command line, and leaves those of the action.
func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, words, rest string
		json, help        bool
		timeout           time.Duration
	}{
		{line: "t a", words: "t a"},
		{line: "--json t --home h a --x 1", words: "t a", rest: "--x 1", json: true},
		{line: "t a --x 1 --json y", words: "t a", rest: "--x 1 y", json: true},
		{line: "t a --timeout 5s --y", words: "t a", rest: "--y", timeout: 5 * time.Second},
		{line: "t a --timeout=5s --json --no-json", words: "t a", timeout: 5 * time.Second},
		{line: "t a -- --timeout 5 --json", words: "t a", rest: "-- --timeout 5 --json"},
		{line: "t a --x -h", words: "t a", rest: "--x", help: true},
		{line: "t --help", words: "t", help: true},
		{line: "t a --jsonx --no-homes", words: "t a", rest: "--jsonx --no-homes"},
		{line: "t a -x", words: "t a", rest: "-x"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			p, _, _ := newProgram("")
			c, _, err := p.Root(Command(p.Program)).Find([]string{"call"})
			if err != nil {
				t.Fatal(err)
			}
			inv, err := split(c, strings.Fields(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(inv.words, " "); got != tt.words {
				t.Errorf("words are %q, want %q", got, tt.words)
			}
			if got := strings.Join(inv.rest, " "); got != tt.rest {
				t.Errorf("rest is %q, want %q", got, tt.rest)
			}
			if got := c.Flag("timeout").Value.String(); got != tt.timeout.String() {
				t.Errorf("timeout is %s, want %s", got, tt.timeout)
			}
			if p.JSON != tt.json || inv.help != tt.help {
				t.Errorf("json %t, help %t; want %t, %t", p.JSON, inv.help, tt.json, tt.help)
			}
		})
	}
	for _, line := range []string{"t a --timeout", "t a --timeout x", "t a --json=maybe"} {
		p, _, _ := newProgram("")
		c, _, _ := p.Root(Command(p.Program)).Find([]string{"call"})
		if _, err := split(c, strings.Fields(line)); !root.IsUsage(err) {
			t.Errorf("split(%q) is %v, want a usage error", line, err)
		}
	}
}

// ownFlags has exactly the flags of collie call, as the help pages of actions need it.
func TestOwnFlags(t *testing.T) {
	t.Parallel()
	p, _, _ := newProgram("")
	c, _, err := p.Root(Command(p.Program)).Find([]string{"call"})
	if err != nil {
		t.Fatal(err)
	}
	c.InitDefaultHelpFlag()
	have := map[string]bool{}
	for name := range ownFlags {
		if have[name] = true; c.Flag(name) == nil {
			t.Errorf("call has no flag --%s", name)
		}
	}
	for line := range strings.Lines(c.LocalFlags().FlagUsages() + c.InheritedFlags().FlagUsages()) {
		_, name, _ := strings.Cut(line, "--")
		if name, _, _ = strings.Cut(strings.TrimSpace(name), " "); name != "" && !have[name] {
			t.Errorf("--%s of call is not in ownFlags", name)
		}
	}
}

// After the tool of another server, flags such as --url are arguments of that tool and do not name a kernel.
func TestKernelFlagsOfOthers(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ url, rest string }{
		"--url http://k fs ls":       {"http://k", ""},
		"fs ls --url http://k":       {"http://k", ""},
		"fetch get --url http://k":   {"", "--url http://k"},
		"file__export --token x":     {"", ""},
		"other tool --token=x":       {"", "--token=x"},
		"fs/ls --connection home /a": {"", "/a"},
	} {
		p, _, _ := newProgram("")
		c, _, err := p.Root(Command(p.Program)).Find([]string{"call"})
		if err != nil {
			t.Fatal(err)
		}
		inv, err := split(c, strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		rest := strings.Join(inv.rest, " ")
		if strings.HasPrefix(line, "fs/ls") {
			rest = strings.Join(inv.words[1:], " ")
		}
		if p.Kernel.URL != want.url || rest != want.rest {
			t.Errorf("%s: url %q, rest %q", line, p.Kernel.URL, rest)
		}
	}
}
