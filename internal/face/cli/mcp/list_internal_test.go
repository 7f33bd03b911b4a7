package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// The table has a row for each server, without columns that would be empty.
func TestServerTable(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 28, 18, 0, 0, 0, time.UTC)
	confirmed, retry := now.Add(-72*time.Hour), now.Add(90*time.Second)
	rows := []serverRow{
		{
			ServerStatus: tool.ServerStatus{Name: "train", State: tool.StateReady, Tools: 7, Freshness: tool.FreshLive, Changed: []string{"t"}, Memory: 3 << 20, Transport: "stdio", Command: "npx -y 12306-mcp"},
			Since:        now.Add(-time.Hour), Description: "中国铁路余票查询",
		},
		{
			ServerStatus: tool.ServerStatus{Name: "old", State: tool.StateBackoff, Tools: 2, Freshness: tool.FreshStale, Validated: &confirmed, NextRetry: &retry, Transport: "http", Command: "https://x", Reason: "connection_refused", Detail: "nobody\nlistens"},
			Since:        now.Add(-48 * time.Hour), Title: "an old one",
		},
		{ServerStatus: tool.ServerStatus{Name: "idle", State: tool.StateIdle, Why: "no_entry", Transport: "stdio", Command: "x"}},
	}
	head, cells := serverTable(rows, now, 0)
	got := output.LayOut(head, cells, 0)
	want := strings.TrimPrefix(`
NAME   STATE    SINCE             TOOLS          LIST            RETRY     MEMORY   TRANSPORT  DESCRIPTION       COMMAND           REASON
train  ready    17:00:00          7 (1 changed)  live            -         3.0 MiB  stdio      中国铁路余票查询  npx -y 12306-mcp  -
old    backoff  2026-07-26 18:00  2              stale, 3 d old  in 1 min  -        http       an old one        https://x         connection_refused: nobody listens
idle   idle     -                 -              no_entry        -         -        stdio      -                 x                 -
`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if head, cells = serverTable(rows[2:], now, 0); len(head) != 6 || len(cells[0]) != 6 {
		t.Errorf("without the columns that would be empty there are %q", head)
	}
}

// On a narrow terminal a person still sees which server does not run, and why.
func TestServerTableNarrow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 28, 18, 0, 0, 0, time.UTC)
	retry := now.Add(-time.Second)
	rows := []serverRow{
		{
			ServerStatus: tool.ServerStatus{Name: "天气", State: tool.StateBackoff, NextRetry: &retry, Transport: "stdio", Command: strings.Repeat("x", 60), Reason: "exited_early", Detail: "exit code 3; it said: no token"},
			Since:        now,
		},
		{ServerStatus: tool.ServerStatus{Name: "again", State: tool.StateStarting, NextRetry: &retry, Transport: "http", Command: "https://x"}, Since: now},
		{ServerStatus: tool.ServerStatus{Name: "p", State: tool.StateDisabled, Transport: "stdio", Command: "x", Reason: untrustedReason}, File: "/w/.collie/collie.json"},
	}
	head, cells := serverTable(rows, now, 80)
	want := strings.TrimPrefix(`
NAME   STATE     SINCE     RETRY   REASON
天气   backoff   18:00:00  in 0 s  exited_early: exit code 3; it said: no token
again  starting  18:00:00  -       -
p      disabled  -         -       untrusted: collie mcp trust /w shows what th…
`, "\n")
	if diff := cmp.Diff(want, output.LayOut(head, cells, 80)); diff != "" {
		t.Error(diff)
	}
	if head, _ = serverTable(rows[1:2], now, 20); len(head) != 3 || head[2] != "COMMAND" {
		t.Errorf("in 20 columns there are %q, want NAME, STATE and what is last", head)
	}
}

// The words and flags of collie mcp add become an entry of the settings, or a usage error.
func TestNewServerFromFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		args  []string
		flags addFlags
		want  string // the entry
		wrong string // in the error
	}{
		{name: "command", args: []string{"n", "npx", "-y", "p", "<&>"}, flags: addFlags{}, want: `{"command":"npx","args":["-y","p","<&>"]}`, wrong: ""},
		{
			name: "command with all", args: []string{"n", "/bin/x"},
			flags: addFlags{env: []string{"A=b=c", "E="}, cwd: "/tmp"},
			want:  `{"command":"/bin/x","env":{"A":"b=c","E":""},"cwd":"/tmp"}`,
		},
		{
			name: "folder in a variable", args: []string{"n", "${userHome}/x"},
			flags: addFlags{cwd: "${userHome}/src"},
			want:  `{"command":"${userHome}/x","cwd":"${userHome}/src"}`,
		},
		{name: "a quoted ~", args: []string{"n", "~/bin/x"}, flags: addFlags{}, want: `{"command":"~/bin/x"}`},
		{
			name: "url", args: []string{"n"},
			flags: addFlags{url: "https://x", transport: "sse", headers: []string{"X-A:  b: c"}},
			want:  `{"type":"sse","url":"https://x","headers":{"X-A":"b: c"}}`,
		},
		{name: "a name of a section", args: []string{"http"}, flags: addFlags{url: "https://x"}, want: `{"url":"https://x"}`, wrong: ""},
		{name: "nothing", args: nil, flags: addFlags{}, want: "", wrong: "which name?"},
		{name: "only a name", args: []string{"n"}, flags: addFlags{}, want: "", wrong: "needs a command or a URL"},
		{name: "both", args: []string{"n", "x"}, flags: addFlags{url: "u"}, want: "", wrong: "not both"},
		{name: "env of a url", args: []string{"n"}, flags: addFlags{url: "u", env: []string{"A=b"}}, want: "", wrong: "--header"},
		{name: "headers of a command", args: []string{"n", "x"}, flags: addFlags{headers: []string{"A: b"}}, want: "", wrong: "--env"},
		{name: "no pair", args: []string{"n", "x"}, flags: addFlags{env: []string{"A"}}, want: "", wrong: "expected NAME=VALUE"},
		{name: "no name of a header", args: []string{"n"}, flags: addFlags{url: "u", headers: []string{": b"}}, want: "", wrong: "expected 'Name: value'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.flags.fromFlags(tt.args, "/d")
			if tt.wrong != "" {
				if !root.IsUsage(err) || !strings.Contains(err.Error(), tt.wrong) {
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

// A server without a stable reason shows its detail alone.
func TestReasonWithoutAReason(t *testing.T) {
	t.Parallel()
	r := serverRow{}
	r.Detail = "a first start may download it"
	if got := reasonText(&r); got != r.Detail {
		t.Errorf("got %q", got)
	}
}
