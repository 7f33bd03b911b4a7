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
		{what: access.Path, subject: "/20210808180117-czj9bvb", want: `document(action="get_doc", id="20210808180117-czj9bvb")`},
		{what: access.Path, subject: `/\Work\Plan`, want: "parted by /"},
		{what: access.Path, subject: "/Work/Plan"},
		{what: access.Path, subject: "/计划"},
		{what: access.Notebook, subject: "Work", want: "an id is wanted here"},
		{what: access.Notebook, subject: "20210808180117-czj9bvb"},
		{what: access.Block, subject: "/Work/Plan", want: "this is a path"},
		{what: access.Document, subject: "/Work/Plan", want: `fs(action="read")`},
		{what: access.Document, subject: "Plan", want: "an id is wanted here"},
		{what: access.Tag, subject: "重要"},
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
