package upstream_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
)

// diagnose tests the entry and returns the steps it was told.
func diagnose(t *testing.T, raw, off string) (steps []tool.Step, ok bool) {
	t.Helper()
	e, problems := entry.Parse("s0", json.RawMessage(raw), entry.Options{Dir: t.TempDir()})
	spec := upstream.Spec{Entry: e, Problems: problems, Off: off}
	ok = upstream.Diagnose(t.Context(), spec, upstream.Options{Environ: os.Environ()}, func(s tool.Step) { steps = append(steps, s) })
	return steps, ok
}

// namesOf returns the names of the steps.
func namesOf(steps []tool.Step) (out []string) {
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return out
}

// Each step is told as it ends; steps that do not apply to a server are left out.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		raw  string
		want []string
	}{
		"stdio": {stdioEntry(t), []string{
			"settings", "command", "environment", "start and handshake", "tools", "model APIs", "resources", "prompts", "ping", "stop",
		}},
		"http": {`{"url":"` + mcptest.StartHTTP(t, "--era", "modern") + `"}`, []string{
			"settings", "command", "start and handshake", "tools", "model APIs", "resources", "prompts", "stop",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, ok := diagnose(t, test.raw, "")
			if !ok || !slices.Equal(namesOf(steps), test.want) {
				t.Errorf("ok %v, steps %v, want %v", ok, namesOf(steps), test.want)
			}
			for _, s := range steps {
				if !s.OK || s.Detail == "" {
					t.Errorf("step %+v", s)
				}
			}
		})
	}
}

// A diagnosis stops at the first failing step and says why it failed and what to do.
func TestDiagnoseFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		raw, off           string
		step, reason, hint string
	}{
		"no such command": {raw: `{"command":"no-such-command"}`, step: "command", reason: "command_not_found", hint: "install it, or give its full path"},
		"no such folder":  {raw: `{"command":"/bin/sh","cwd":"/no/such/folder"}`, step: "start and handshake", reason: "config_invalid", hint: "make that folder, or change cwd"},
		"ends at once":    {raw: stdioEntry(t, "--exit-code", "7", "--print-stderr", "out of luck"), step: "start and handshake", reason: "exited_early"},
		"not there":       {raw: `{"url":"http://127.0.0.1:1/mcp"}`, step: "start and handshake", reason: "connection_refused", hint: "is it running, and is the url right?"},
		"untrusted": {
			raw: `{"command":"no-such-command"}`, off: "untrusted", step: "settings", reason: string(tool.Disabled),
			hint: "collie mcp trust shows what it would start and asks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, ok := diagnose(t, test.raw, test.off)
			i := slices.IndexFunc(steps, func(s tool.Step) bool { return !s.OK })
			if ok || i < 0 {
				t.Fatalf("ok %v, steps %+v", ok, steps)
			}
			if s := steps[i]; s.Name != test.step || s.Reason != test.reason || s.Hint != test.hint || s.Detail == "" {
				t.Errorf("failed: %+v", s)
			}
			if rest := namesOf(steps[i+1:]); len(rest) > 0 && !slices.Equal(rest, []string{"stop"}) {
				t.Errorf("after the failure it goes on: %v", rest)
			}
		})
	}
}

// A diagnosis does not start a project's server that nobody has trusted.
func TestDiagnoseStartsNothingUntrusted(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "started")
	raw, err := json.Marshal(map[string]any{"command": "/bin/sh", "args": []string{"-c", "touch " + mark}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := diagnose(t, string(raw), "untrusted"); ok {
		t.Error("it is said to be well")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was started")
	}
}
