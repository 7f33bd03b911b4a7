package notes_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTagsOfHiddenNotes: a caller who writes a tag of a hidden note into an own note, and renames or removes it
// there, does not learn that the hidden note has the tag, and does not change the hidden note.
func TestTagsOfHiddenNotes(t *testing.T) {
	t.Parallel()
	newWorkspace(t, layout{}).NeedsVault("two workspaces at once want two kernels")
	p := newPair(t)
	doc, hidden := string(p.with.open.id("doca")), p.with.hidden.id("doca")
	kept := func() string {
		text, err := p.with.client.Kramdown(t.Context(), hidden)
		p.with.must(err)
		return text
	}
	label := p.with.hidden.word("tag")
	before := kept()
	if !strings.Contains(before, "#"+label+"#") {
		t.Fatalf("the hidden note has no tag %s:\n%s", label, before)
	}
	write := randomCall{"block.append", fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"own #%s# and #%s/x#"}`, doc, label, label)}
	read := []randomCall{
		{"tag.list", `{}`},
		{"fs.read", fmt.Sprintf(`{"path":%q}`, p.with.open.notePath("a"))},
		{"block.get_kramdown", fmt.Sprintf(`{"id":%q}`, doc)},
		{"search.fulltext", `{"query":"own"}`},
	}
	calls := append([]randomCall{write, {"tag.rename", fmt.Sprintf(`{"oldLabel":%q,"newLabel":"zqnew"}`, label)}}, read...)
	calls = append(append(calls, write, randomCall{"tag.remove", fmt.Sprintf(`{"label":%q}`, label)}), read...)
	for i, c := range calls {
		if wrong := p.tryCall(c); wrong != "" {
			t.Fatalf("%s %s: %s", c.act, c.args, wrong)
		}
		if p.ran != i+1 {
			t.Fatalf("%s %s was refused", c.act, c.args)
		}
	}
	if after := kept(); after != before {
		t.Errorf("the hidden note was\n%s\nand is\n%s", before, after)
	}
}
