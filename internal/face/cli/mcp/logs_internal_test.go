package mcp

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// A log is for people, also through a pager, so text from a server cannot control the terminal. Programs use
// --json.
func TestLogsAreHarmlessInAPipe(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]52;c;cm0gLXJm\x07 \x1b[31mred\u009b0m \u202etxt\ttab"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lines := func(yield func(tool.LogLine, error) bool) {
		yield(tool.LogLine{Time: at, Stream: "stderr", Text: evil}, nil)
	}
	var out bytes.Buffer
	if err := (commands{&root.Program{Output: output.Output{Out: &out}}}).showLog(lines, at); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "03:04:05.000 stderr "+output.Harmless(evil)+"\n"; got != want || strings.ContainsAny(got, "\x1b\x07\u009b\u202e") {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	if err := (commands{&root.Program{Output: output.Output{Out: &out, JSON: true}}}).showLog(lines, at); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, `\u001b]52;`) || strings.Contains(got, "\x1b") {
		t.Errorf("--json has %q", got)
	}
}
