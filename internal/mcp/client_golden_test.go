package mcp_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden files hold everything that a server receives, line by line, from its start to the end of one
// call: order, ids and parameters. For 2026-07-28 there is no initialize, but metadata in every request.
func TestClientTranscripts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, era, versions, protocol string }{
		{"2024-11-05", "legacy", "2024-11-05", "2024-11-05"},
		{"2025-11-25", "legacy", "2025-11-25", "legacy"},
		{"2025-11-25-probed", "legacy", "2025-11-25", "auto"},
		{"2026-07-28", "modern", "2026-07-28", "auto"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "heard")
			link := dialFake(t, "--era="+tc.era, "--versions="+tc.versions, "--record="+record, "--offer=echo")
			c, err := mcp.Connect(t.Context(), link, mcp.ClientOptions{
				Info:         json.RawMessage(`{"name":"collie","title":"Collie","version":"0"}`),
				Capabilities: json.RawMessage(`{"roots":{"listChanged":true}}`), Protocol: tc.protocol,
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Request(t.Context(), "tools/list", nil); err != nil {
				t.Error(err)
			}
			if _, err := c.Request(t.Context(), "tools/list", json.RawMessage(`{"cursor":"from-1"}`)); err != nil {
				t.Error(err)
			}
			params := c.Own(json.RawMessage(`{"name":"echo","arguments":{"q":"新闻"},"_meta":{"a":1.0}}`))
			if r, err := c.Call(t.Context(), &mcp.Request{Method: "tools/call", Params: params, Name: "echo"}); err != nil || r.Error != nil {
				t.Errorf("tools/call: %s, %v", r.Error, err)
			}
			if c.Era == mcp.Legacy {
				if _, err := c.Request(t.Context(), "ping", nil); err != nil {
					t.Error(err)
				}
			}
			got, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "transcripts", tc.name+".jsonl")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("the server heard something else (-want +got):\n%s", d)
			}
		})
	}
}
