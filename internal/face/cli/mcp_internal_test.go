package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/tool"
)

func TestServerTable(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 28, 18, 0, 0, 0, time.UTC)
	rows := []serverRow{
		{
			ServerStatus: tool.ServerStatus{Name: "train", State: tool.StateReady, Tools: 7, Transport: "stdio", Version: "2025-11-25", Command: "npx -y 12306-mcp"},
			Since:        now.Add(-time.Hour), Description: "中国铁路余票查询",
		},
		{
			ServerStatus: tool.ServerStatus{Name: "old", State: tool.StateFailed, Transport: "http", Command: "https://x", Reason: "connection_refused", Detail: "nobody\nlistens"},
			Since:        now.Add(-48 * time.Hour), Title: "an old one",
		},
		{ServerStatus: tool.ServerStatus{Name: "idle", State: tool.StateIdle, Transport: "stdio", Command: "x"}},
	}
	head, cells := serverTable(rows, now)
	got := layOut(head, cells, 0)
	want := strings.TrimPrefix(`
NAME   STATE   SINCE             TOOLS  TRANSPORT  PROTOCOL    DESCRIPTION       COMMAND
train  ready   17:00:00          7      stdio      2025-11-25  中国铁路余票查询  npx -y 12306-mcp
old    failed  2026-07-26 18:00  -      http       -           an old one        connection_refused: nobody listens
idle   idle    -                 -      stdio      -                             x
`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if head, cells = serverTable(rows[2:], now); len(head) != 7 || len(cells[0]) != 7 {
		t.Errorf("without a description there are columns %q", head)
	}
}

func TestUnseen(t *testing.T) {
	t.Parallel()
	lines := func(spec string) (out []tool.LogLine) { // a letter is the moment, with its number the text
		for _, w := range strings.Fields(spec) {
			out = append(out, tool.LogLine{Time: time.Unix(int64(w[0]), 0), Text: w})
		}
		return out
	}
	tests := []struct{ name, before, now, want string }{
		{"nothing yet", "", "", ""},
		{"first lines", "", "a1 b1", "a1 b1"},
		{"nothing new", "a1 b1", "a1 b1", ""},
		{"more", "a1 b1", "a1 b1 c1 d1", "c1 d1"},
		{"the oldest are gone", "a1 b1", "b1 c1", "c1"},
		{"all are gone", "a1 b1", "c1 d1", "c1 d1"},
		{"more of the same moment", "a1 b1 b2", "a1 b1 b2 b3 c1", "b3 c1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(lines(tt.want), unseen(lines(tt.before), lines(tt.now))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewServerFromFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		args  []string
		flags addFlags
		want  string // the entry
		wrong string // in the error
	}{
		{"command", []string{"n", "npx", "-y", "p", "<&>"}, addFlags{}, `{"command":"npx","args":["-y","p","<&>"]}`, ""},
		{
			"command with all", []string{"n", "/bin/x"}, addFlags{env: []string{"A=b=c", "E="}, cwd: "/tmp"},
			`{"command":"/bin/x","env":{"A":"b=c","E":""},"cwd":"/tmp"}`, "",
		},
		{
			"url", []string{"n"}, addFlags{url: "https://x", transport: "sse", headers: []string{"X-A:  b: c"}},
			`{"type":"sse","url":"https://x","headers":{"X-A":"b: c"}}`, "",
		},
		{"a name of a section", []string{"http"}, addFlags{url: "https://x"}, `{"url":"https://x"}`, ""},
		{"nothing", nil, addFlags{}, "", "which name?"},
		{"only a name", []string{"n"}, addFlags{}, "", "what is n?"},
		{"both", []string{"n", "x"}, addFlags{url: "u"}, "", "not both"},
		{"env of a url", []string{"n"}, addFlags{url: "u", env: []string{"A=b"}}, "", "--header"},
		{"headers of a command", []string{"n", "x"}, addFlags{headers: []string{"A: b"}}, "", "--env"},
		{"no pair", []string{"n", "x"}, addFlags{env: []string{"A"}}, "", "expected NAME=VALUE"},
		{"no name of a header", []string{"n"}, addFlags{url: "u", headers: []string{": b"}}, "", "expected 'Name: value'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.flags.fromFlags(tt.args, "/d")
			if tt.wrong != "" {
				if !isUsage(err) || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("error %v, want %q in it", err, tt.wrong)
				}
				return
			}
			if err != nil || len(got) != 1 || got[0].Name != tt.args[0] {
				t.Fatalf("got %v, %v", got, err)
			}
			if diff := cmp.Diff(tt.want, string(got[0].Raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
