package output

import (
	"bytes"
	"testing"
)

// Without a terminal each finished item is a line on stderr; with --json there is none.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		total int
		json  bool
		want  string
	}{
		{total: 2, json: false, want: "collie: a: 2 tools\ncollie: b: failed\n"},
		{total: 2, json: true, want: ""},
		{total: 1, json: false, want: ""}, // the table says it all
	} {
		var b bytes.Buffer
		s := (&Output{Err: &b, JSON: tt.json}).NewProgress(tt.total)
		s.Begin("a")
		s.Begin("b")
		s.End("a", "2 tools")
		s.End("b", "failed")
		s.Close()
		if b.String() != tt.want {
			t.Errorf("%d things, JSON %t: %q, want %q", tt.total, tt.json, &b, tt.want)
		}
	}
}
