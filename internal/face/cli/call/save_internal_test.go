package call

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// --save overwrites only the file that the person names; further images of the result get free names.
func TestSaveLeavesOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"pic.png", "pic-2.png"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := commands{&root.Program{SaveTo: filepath.Join(dir, "pic.png"), Output: output.Output{Err: &bytes.Buffer{}}}}
	if err := p.save(tool.Result{Raw: json.RawMessage(`{"content":[{"type":"image","data":"YQ=="},{"type":"image","data":"Yg=="},{"type":"image","data":"Yw=="}]}`)}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pic.png": "a", "pic-2.png": "mine", "pic-3.png": "b", "pic-4.png": "c"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s is %q, want %q, %v", name, got, want, err)
		}
	}
}

// --debug shows text from a server without letting it control the terminal.
func TestDebugIsHarmless(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := &debugger{p: commands{&root.Program{Output: output.Output{Err: &out}}}, clean: func(raw json.RawMessage) json.RawMessage { return raw }}
	d.answer(tool.Result{Raw: json.RawMessage("{\"text\":\"a\u009b31m\u202eb\x7f\"}")}, nil)
	d.request(nil, tool.Request{Name: "a\x1b[31m/b", Args: json.RawMessage(`{}`)})
	d.step(tool.TraceKernel, "/api code 1 \u009b2J", 0)
	if text := out.String(); strings.ContainsAny(text, "\x1b\u009b\u202e\x7f") || strings.Count(text, "\n") != 4 {
		t.Errorf("%q", text)
	}
}
