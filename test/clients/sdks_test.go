//go:build stories

package clients_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"collie/test/binary"
	"collie/test/fakellm/provider"
)

// understood is the conversation as an SDK understood it.
type understood struct {
	API      string
	Streamed bool
	Turns    []struct {
		Text, Thought, Stop string
		Calls               []struct {
			Name string
			Args map[string]string
		}
		Tokens int
	}
	Count  int
	Models []string
	Status int
	Kind   string
}

// stops are the words for why the two turns end.
var stops = map[string][2]string{
	provider.Anthropic: {"tool_use", "end_turn"}, provider.Responses: {"completed", "completed"},
	provider.Completions: {"tool_calls", "stop"}, provider.Gemini: {"STOP", "STOP"},
}

// TestSDKs checks the fake model of test/fakellm against the SDKs of the model providers: each SDK, with and without
// streaming, must understand the answers in the script. The program sdks.mjs runs the SDKs.
func TestSDKs(t *testing.T) {
	t.Parallel()
	binary.Packages(t, ".")
	node := binary.Node(t, binary.Packages(t, filepath.Join("..", "conformance")))
	fake, err := provider.New(provider.Script{Models: []string{model}, Conversations: []provider.Conversation{{Turns: []provider.Turn{
		{Think: "Let me see, 让我看看.", Say: "I look it up.", Call: []provider.Call{call("fs", "path", "/晚饭"), call("fs", "path", "/cups")}, Chunk: 3},
		{Say: "Noodles, 面条.", Usage: &provider.Usage{Input: 70, Output: 7, Cached: 10}},
		{Fail: slices.Repeat([]provider.Failure{{Status: 403, Message: "not for you"}}, 2*len(stops))},
	}}}}, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), node, "sdks.mjs", server.URL)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for _, fault := range fake.Faults() {
		t.Error(fault)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != 2*len(stops) {
		t.Fatalf("%d conversations:\n%s", len(lines), out)
	}
	for _, line := range lines {
		var h understood
		if err := json.Unmarshal(line, &h); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", line)
		h.check(t, stops[h.API])
	}
}

// check compares the conversation as understood with the one that took place.
func (h understood) check(t *testing.T, stops [2]string) {
	t.Helper()
	first, last := h.Turns[0], h.Turns[1]
	thought := first.Thought == "Let me see, 让我看看." || h.API == provider.Completions // which has no thoughts
	if first.Text != "I look it up." || !thought || first.Stop != stops[0] {
		t.Errorf("%s, streamed %t: the first turn is %+v", h.API, h.Streamed, first)
	}
	var paths []string
	for _, c := range first.Calls {
		paths = append(paths, c.Name+c.Args["path"])
	}
	if !reflect.DeepEqual(paths, []string{"fs/晚饭", "fs/cups"}) {
		t.Errorf("%s, streamed %t: it calls %q", h.API, h.Streamed, paths)
	}
	if last.Text != "Noodles, 面条." || last.Stop != stops[1] || last.Tokens != 7 || len(last.Calls) > 0 {
		t.Errorf("%s, streamed %t: the second turn is %+v", h.API, h.Streamed, last)
	}
	if h.Status != 403 || h.Kind == "" {
		t.Errorf("%s, streamed %t: the error is %d %q", h.API, h.Streamed, h.Status, h.Kind)
	}
	counts := h.API == provider.Anthropic || h.API == provider.Gemini
	if counts != (h.Count > 0) || h.API != provider.Completions && !reflect.DeepEqual(h.Models, []string{model}) {
		t.Errorf("%s: %d tokens, models %q", h.API, h.Count, h.Models)
	}
}
