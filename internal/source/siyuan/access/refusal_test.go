package access_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
)

// TestNotFoundTellsOfMistakes: the hint depends on the text alone, so it reveals nothing about what exists.
func TestNotFoundTellsOfMistakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what          access.What
		subject, want string
	}{
		{access.Path, "/20210808180117-czj9bvb", `document(action="get_doc", id="20210808180117-czj9bvb")`},
		{access.Path, `/\Work\Plan`, "parted by /"},
		{access.Path, "/Work/Plan", ""},
		{access.Path, "/计划", ""},
		{access.Notebook, "Work", "an id is wanted here"},
		{access.Notebook, "20210808180117-czj9bvb", ""},
		{access.Block, "/Work/Plan", "this is a path"},
		{access.Document, "/Work/Plan", `fs(action="read")`},
		{access.Document, "Plan", "an id is wanted here"},
		{access.Tag, "重要", ""},
	} {
		got := access.NotFound(tt.what, tt.subject).Hint
		plain := access.NotFound(tt.what, map[bool]string{true: "/x", false: "20210808180117-czj9bvb"}[tt.what == access.Path]).Hint
		if !strings.HasSuffix(got, plain) {
			t.Errorf("%s %q: the hint %q lost %q", tt.what, tt.subject, got, plain)
		}
		if said := strings.TrimSuffix(got, plain); !strings.Contains(said, tt.want) || (said == "") != (tt.want == "") {
			t.Errorf("%s %q: the hint begins %q, want %q in it", tt.what, tt.subject, said, tt.want)
		}
	}
}
