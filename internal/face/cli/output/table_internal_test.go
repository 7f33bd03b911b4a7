package output

import (
	"testing"
	"time"
)

// Ago is exact to the second, and a time in the future counts as now.
func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for d, want := range map[time.Duration]string{0: "0s ago", 61500 * time.Millisecond: "1m1s ago", -time.Minute: "0s ago"} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}

// Harmless replaces all control characters except tabs and line breaks.
func TestHarmless(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b[2Jb\r\x07\u009b\u202ec\td\ne"
	if got, want := Harmless(evil), "a\uFFFD[2Jb\uFFFD\uFFFD\uFFFD\uFFFDc\td\ne"; got != want {
		t.Errorf("harmless = %q, want %q", got, want)
	}
}

// Columns are aligned by the width of characters on a terminal, and cut if it is narrow.
func TestTable(t *testing.T) {
	t.Parallel()
	head := []string{"TOOL", "N", "", "ABOUT"}
	rows := [][]string{
		{"笔记本", "10", "", "管理笔记本：新建、打开、重命名"},
		{"github", "7", "", "issues\nand \x1b[31mmore"},
		{"x", "1", "", ""},
	}
	want := "TOOL    N   ABOUT\n" +
		"笔记本  10  管理笔记本：新建、打开、重命名\n" +
		"github  7   issues and \uFFFD[31mmore\n" +
		"x       1\n"
	if got := LayOut(head, rows, 0); got != want {
		t.Errorf("layOut =\n%s\nwant\n%s", got, want)
	}
	narrow := "TOOL    N   ABOUT\n" +
		"笔记本  10  管理笔记本：新…\n" +
		"github  7   issues and \uFFFD[31…\n" +
		"x       1\n"
	if got := LayOut(head, rows, 28); got != narrow {
		t.Errorf("layOut in 28 columns =\n%s\nwant\n%s", got, narrow)
	}
	if got := LayOut(nil, [][]string{{"a", "b"}}, 1); got != "a  b\n" {
		t.Errorf("layOut without head = %q", got)
	}
}
