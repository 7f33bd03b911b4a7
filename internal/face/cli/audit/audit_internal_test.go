package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/pipeline/audit"
	auditadmin "collie/internal/pipeline/audit/admin"
)

// The verdict tells faults from remarks, such as a last line that was torn by a crash.
func TestVerdict(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 28, 9, 0, 0, 0, time.Local)
	good := audit.ChainReport{Chain: "one", Records: 3, First: at, Last: at.Add(time.Hour), Ended: true}
	torn := audit.ChainReport{Chain: "two", Records: 1, First: at.Add(time.Minute), Last: at.Add(2 * time.Hour), Torn: true, Uncovered: 1}
	cut := good
	cut.Problems = []audit.Problem{{Fault: audit.Cut, File: "one/000001.jsonl", Line: 3, Seq: 4, Message: "the head covers 4 records, here are 3"}}
	tests := []struct {
		name   string
		chains []audit.ChainReport
		want   string
	}{
		{"empty", nil, "no records yet in /a\n"},
		{"intact", []audit.ChainReport{good}, "✓ intact: 3 records in 1 chain, from 2026-07-28 09:00:00 to 2026-07-28 10:00:00\n"},
		{
			"a crash is not a fault",
			[]audit.ChainReport{good, torn},
			"· two: the last line was cut short by a crash; its record was never confirmed\n" +
				"· two: 1 record newer than its head: valid, but their removal would not be detected\n" +
				"✓ intact: 4 records in 2 chains, from 2026-07-28 09:00:00 to 2026-07-28 11:00:00\n",
		},
		{
			"broken",
			[]audit.ChainReport{cut, good},
			"✗ one/000001.jsonl:3: cut: the head covers 4 records, here are 3\n✗ BROKEN: 1 problem in 1 of 2 chains in /a\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Verdict("/a", &auditadmin.Report{Chains: tt.chains})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// recordRow shows each kind of record with its subject and its message or detail.
func TestRecordRow(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 28, 9, 0, 0, 0, time.Local)
	tests := []struct {
		name  string
		entry auditadmin.Entry
		want  []string // without the time
	}{
		{"a call", auditadmin.Entry{Kind: "call.start", Origin: "direct", Tool: "t", Action: "a", Name: "t/a"}, []string{"call.start", "direct", "t.a", "", "", ""}},
		{
			"a failure",
			auditadmin.Entry{Kind: "call.result", Origin: "chat", Tool: "t", Action: "a", Outcome: "error", DurationUs: 1234, ErrorType: "timeout", Message: "no answer"},
			[]string{"call.result", "chat", "t.a", "error", "1.2", "timeout no answer"},
		},
		{"an unknown tool", auditadmin.Entry{Kind: "call.start", Name: "nope"}, []string{"call.start", "", "nope", "", "", ""}},
		{"a chain", auditadmin.Entry{Kind: "chain.start", Detail: []byte(`{"pid":47}`)}, []string{"chain.start", "", "pid 47", "", "", ""}},
		{"a change", auditadmin.Entry{Kind: "change", Name: "mcp add", Detail: []byte(`{"file":"f"}`)}, []string{"change", "", "mcp add", "", "", `{"file":"f"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.entry.Time = at
			if diff := cmp.Diff(append([]string{"2026-07-28 09:00:00.000"}, tt.want...), recordRow(&tt.entry)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The column of times is as wide as a time, long or short, so that nothing is cut off.
func TestTimesFitTheirColumn(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 80, roomForTime - 1, roomForTime, 200} {
		row := shortTime([]string{"2026-11-22 11:44:16.123"}, width)
		if want := widthsFor(width)[0]; len(row[0]) != want {
			t.Errorf("on %d columns: %q in a column of %d", width, row[0], want)
		}
	}
}
