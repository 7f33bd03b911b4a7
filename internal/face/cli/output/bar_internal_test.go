package output

import (
	"strings"
	"testing"
)

// The line of a progress bar fits the terminal, whatever the numbers and names are.
func TestBarLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		done, total int
		name        string
		width       int
		want        string
	}{
		{done: 0, total: 10, name: "", width: 80, want: "importing [........................] 0/10"},
		{done: 5, total: 10, name: "笔记/今天.md", width: 80, want: "importing [############............] 5/10 笔记/今天.md"},
		{done: 10, total: 10, name: "x\ny", width: 80, want: "importing [########################] 10/10 x y"},
		{done: 11, total: 10, name: "", width: 80, want: "importing [########################] 11/10"},
		{done: 0, total: 0, name: "", width: 80, want: "importing [########################] 0/0"},
		{done: 1, total: 2, name: "笔记笔记笔记", width: 50, want: "importing [############............] 1/2 笔记笔记…"},
	} {
		if got := barLine("importing", tt.done, tt.total, tt.name, tt.width); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	if got := barLine("importing", 1, 2, strings.Repeat("x", 200), 0); Width(got) != 79 {
		t.Errorf("%d columns: %q", Width(got), got)
	}
}
