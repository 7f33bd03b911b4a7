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
		{0, 10, "", 80, "importing [........................] 0/10"},
		{5, 10, "笔记/今天.md", 80, "importing [############............] 5/10 笔记/今天.md"},
		{10, 10, "x\ny", 80, "importing [########################] 10/10 x y"},
		{11, 10, "", 80, "importing [########################] 11/10"},
		{0, 0, "", 80, "importing [########################] 0/0"},
		{1, 2, "笔记笔记笔记", 50, "importing [############............] 1/2 笔记笔记…"},
	} {
		if got := barLine("importing", tt.done, tt.total, tt.name, tt.width); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	if got := barLine("importing", 1, 2, strings.Repeat("x", 200), 0); Width(got) != 79 {
		t.Errorf("%d columns: %q", Width(got), got)
	}
}
