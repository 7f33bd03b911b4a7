package call

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Texts of several lines and replacements are shown line by line. There are no lines for arguments that fit on one.
func TestArgumentLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{`{"path":"/a","deep":true}`, ``},
		{`not json`, ``},
		{`["a\nb"]`, ``},
		{`{"path":"/a","text":"one line\n"}`, ``},
		{`{"path":"/a\u001b[2J","markdown":"# 计划\n\n- \u001b[31mone\n"}`, "    path: /a\uFFFD[2J\n    markdown:\n      | # 计划\n      | \n      | - \uFFFD[31mone"},
		{`{"action":"replace","edit":{"old":"draft","new":"final"}}`, "    action: replace\n    edit:\n      - draft\n      + final"},
		{`{"edits":[{"oldText":"a\nb\nc\nd\ne","newText":"a\nb\nc\nD\ne"},{"oldText":"x","newText":""}]}`, "    edits:\n        b\n        c\n      - d\n      + D\n        e\n      - x"},
		{`{"file":"f","old_string":"","new_string":"x\ny","count":2}`, "    file: f\n      + x\n      + y\n    count: 2"},
		{`{"lines":["a\nb","c"]}`, "    lines:\n      | a\n      | b\n      | c"},
	} {
		if got := strings.Join(ArgumentLines(tt.args, 20), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.args, got, tt.want)
		}
	}
	if got := ArgumentLines(`{"t":"`+strings.Repeat(`a\n`, 30)+`b"}`, 10); len(got) != 11 || !strings.Contains(got[10], "22") {
		t.Errorf("%q, want ten lines and how many more there are", got)
	}
}

// The counts of removed and added lines differ by as much as the texts do. A text that stays the same shows no change. Each
// line has a prefix.
func TestChangeLinesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "  risk: none", "- x", ""}), 0, 6).Draw(t, "lines"), "\n")
		})
		from, to := text.Draw(t, "from"), text.Draw(t, "to")
		var goes, comes int
		for _, l := range changeLines(from, to) {
			g, c := LineKind(l)
			if g {
				goes++
			}
			if c {
				comes++
			}
			if !strings.HasPrefix(l, staysLine) && !g && !c {
				t.Fatalf("%q has no mark", l)
			}
		}
		a, b := textLinesOf(from), textLinesOf(to)
		if goes-comes != len(a)-len(b) {
			t.Fatalf("%q to %q: %d go and %d come", from, to, goes, comes)
		}
		if from == to && goes+comes > 0 {
			t.Fatalf("%q becomes itself, and %d lines are shown to change", from, goes+comes)
		}
	})
}
