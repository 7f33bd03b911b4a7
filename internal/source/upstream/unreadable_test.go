//go:build unix

package upstream_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// An answer that cannot be parsed fails its call with what is wrong and where. The call was carried out, so it is not
// repeated, even if its tool may be.
func TestAnswerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	heard := filepath.Join(t.TempDir(), "heard")
	raw := mcp.Edit(json.RawMessage(shellEntry(t, `sed -u 'w `+heard+`' | "$@" | sed -u 's/"text":"nan"/"text":NaN/'`)), mcp.Field{Key: "tools", Value: json.RawMessage(`{"override":{"echo":{"retry":true}}}`)})
	s := startServer(t, string(raw))
	_, err := s.Run(t.Context(), newToolCall("echo", `{"text":"nan"}`))
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Upstream || e.Subject != "s0" || !e.OutcomeUnknown {
		t.Fatalf("failed with %#v", err)
	}
	if !strings.Contains(e.Message, "at byte ") || !strings.Contains(e.Message, `found "NaN`) || !strings.Contains(e.Hint, "author") {
		t.Errorf("says %q, %q", e.Message, e.Hint)
	}
	if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"b"}`)); err != nil {
		t.Errorf("the next call: %v", err)
	}
	log, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), `"tools/call"`); n != 2 {
		t.Errorf("the server got %d calls, want 2", n)
	}
}
