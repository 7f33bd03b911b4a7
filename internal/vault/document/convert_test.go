package document_test

import (
	"strings"
	"testing"

	"collie/internal/vault/workspace"
)

// TestHeadingBecomesDocument makes a document of the section under a heading, which keeps the ids of its blocks.
func TestHeadingBecomesDocument(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	doc := v.createDocument(box, "/Doc", "intro\n\n## Part 一/1\n\nbody\n\n- a\n\n  - b\n- c\n\n### Sub\n\n> q\n\n## Next\n\nend")
	target := v.createDocument(box, "/Target", "")
	h := v.blockWithText(doc, "Part 一/1")
	inner := v.blockWithText(doc, "b")
	v.Ask("filetree/heading2Doc", object{"srcHeadingID": h, "targetNoteBook": box, "targetPath": "/" + target + ".sy"})
	if got, want := v.Text(doc), "intro\n\n## Next\n\nend"; got != want {
		t.Errorf("what is left is %q, want %q", got, want)
	}
	if got, want := v.Text(h), "body\n\n- a\n\n  - b\n- c\n\n### Sub\n\n> q"; got != want {
		t.Errorf("the document is %q, want %q", got, want)
	}
	if got := v.Ask("filetree/getHPathByID", object{"id": inner}).Str; got != "/Target/Part 一1" {
		t.Errorf("a block below lies in %q", got)
	}

	last := v.createDocument(box, "/Only", "# All\n\nof it")
	v.Ask("filetree/heading2Doc", object{"srcHeadingID": v.blockWithText(last, "All"), "targetNoteBook": box})
	v.View(func(tx *workspace.Tx) {
		if left := tx.Document(last).Root.Children; len(left) != 1 || left[0].Text != "" {
			t.Errorf("%d blocks are left of a document of one section", len(left))
		}
	})
}

func TestDocumentBecomesHeading(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	doc := v.createDocument(box, "/Doc", "first\n\nlast")
	src := v.createDocument(box, "/Src 源", "# Top\n\ntext\n\n## Sub\n\n- a\n- b")
	v.Ask("filetree/doc2Heading", object{"srcID": src, "targetID": v.blockWithText(doc, "first"), "after": true})
	want := "first\n\n# Src 源\n\n## Top\n\ntext\n\n### Sub\n\n- a\n- b\n\nlast"
	if got := v.Text(doc); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := v.Ask("filetree/getHPathByID", object{"id": src}).Str; got != "/Doc" {
		t.Errorf("the heading lies in %q", got)
	}
	if kept := v.historyPaths(); len(kept) != 1 || kept[0] != "delete/"+box+"/"+src+".sy" {
		t.Errorf("the history keeps %v", kept)
	}
}

// TestSectionsTakeTheLevelOfTheirPlace turns documents into sections of another one and compares their heading levels with
// those that a kernel chose.
func TestSectionsTakeTheLevelOfTheirPlace(t *testing.T) {
	t.Parallel()
	const target = "# one\n\npara\n\n## two\n\ninside\n\n##### five\n\nbelow\n\n# six"
	for _, tt := range []struct {
		src, beside string
		before      bool
		want        string
	}{
		{src: "## bh\n\ntext\n\n# top", beside: "para", want: "# one | para | ## S | #### bh | text | ### top | ## two | inside | ##### five | below | # six"},
		{src: "# bh", beside: "inside", before: true, want: "# one | para | ## two | ### S | #### bh | inside | ##### five | below | # six"},
		{src: "# bh", beside: "two", want: "# one | para | ## two | inside | ##### five | below | ## S | ### bh | # six"},
		{src: "# bh", beside: "two", before: true, want: "# one | para | ## S | ### bh | ## two | inside | ##### five | below | # six"},
		{src: "###### a\n\n## b", beside: "below", want: "# one | para | ## two | inside | ##### five | below | ###### S | ###### a | ###### b | # six"},
	} {
		v := newVault(t)
		box := v.createNotebook("N")
		doc, src := v.createDocument(box, "/Doc", target), v.createDocument(box, "/S", tt.src)
		v.Ask("filetree/doc2Heading", object{"srcID": src, "targetID": v.blockWithText(doc, tt.beside), "after": !tt.before})
		if got := strings.ReplaceAll(v.Text(doc), "\n\n", " | "); got != tt.want {
			t.Errorf("beside %s:\n%s\nwant\n%s", tt.beside, got, tt.want)
		}
	}
	v := newVault(t)
	box := v.createNotebook("N")
	doc, src := v.createDocument(box, "/Doc", "- item\n- other"), v.createDocument(box, "/S", "# bh")
	v.Ask("filetree/doc2Heading", object{"srcID": src, "targetID": v.blockWithText(doc, "item"), "after": true})
	if got := strings.Join(strings.Fields(v.Text(doc)), " "); got != "- item # S ## bh - other" {
		t.Errorf("beside an item: %s", got)
	}
}

// TestConversionsThatLoseTextAreRefused tries conversions that the kernel carries out although they lose text.
func TestConversionsThatLoseTextAreRefused(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	doc := v.createDocument(box, "/Doc", "text")
	src := v.createDocument(box, "/Src", "more")
	child := v.createDocument(box, "/Src/Child", "child")
	v.wantRefused("filetree/doc2Heading", object{"srcID": child, "targetID": doc, "after": true}, "not a document")
	v.wantRefused("filetree/doc2Heading", object{"srcID": src, "targetID": v.blockWithText(doc, "text"), "after": true}, "documents below it")
	v.wantRefused("filetree/doc2Heading", object{"srcID": child, "targetID": v.blockWithText(child, "child"), "after": true}, "itself")
	for id, want := range map[string]string{doc: "text", src: "more", child: "child"} {
		if got := v.Text(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
