package tag_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// textWithTags is a text with the tag old in all places, and with what only looks like it.
const textWithTags = "# head #old#\n\np #old# and #old/x# `#old#` **#old#** #olden# a#old#b x\\*y\\* \\#old\\# end #old#\n\n" +
	"- item #old#\n\n> quote #old#\n\n| a #old# | b |\n| --- | --- |\n| #old/y# | `#old#` |\n\n```\n#old#\n```\n\n#old#"

// kramdownOf returns the kramdown of a document: all of it, and plain, the part that another document with the same text
// shares, without ids, times and the widths of tables.
func (w *workspace) kramdownOf(doc string) (all, plain string) {
	w.t.Helper()
	all, err := w.Client.Kramdown(w.t.Context(), kernel.ID(doc))
	if err != nil {
		w.t.Fatal(err)
	}
	lists := regexp.MustCompile(`\{: [^}\n]*\}`).ReplaceAllStringFunc(all, func(list string) string {
		attrs := regexp.MustCompile(`(custom-\w+|memo|tags)="[^"]*"`).FindAllString(list, -1)
		slices.Sort(attrs)
		return "{" + strings.Join(attrs, " ") + "}"
	})
	return all, regexp.MustCompile(`-{3,}`).ReplaceAllString(strings.ReplaceAll(lists, "\u200b", ""), "---") // as wide as a table
}

// TestHiddenNotebooksKeepTheirTags: if a hidden notebook has the tag too, a call answers and writes the same as without
// that notebook, and the notebook does not change.
func TestHiddenNotebooksKeepTheirTags(t *testing.T) {
	for name, c := range map[string]struct{ action, args, gone, stays string }{
		"rename":       {"rename", `{"oldLabel":"old","newLabel":"new/中"}`, "old", "new/中/x"},
		"rename below": {"rename", `{"oldLabel":"old","newLabel":"old/z"}`, "old", "old/z/x"},
		"remove":       {"remove", `{"label":"old"}`, "old", "old/x"},
	} {
		t.Run(name, func(t *testing.T) {
			var answers, texts []string
			for _, hides := range []bool{false, true} {
				w := &workspace{Kit: actiontest.New(t), t: t}
				w.travel = kernel.ID(w.Notebook("Travel"))
				doc := w.Doc(string(w.travel), "/Trip", textWithTags)
				blocks, err := w.Client.ChildBlocks(t.Context(), kernel.ID(doc))
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range blocks {
					if err := w.Client.SetAttrs(t.Context(), b.ID, map[string]string{"custom-k": "v <&", "memo": "m"}); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Client.SetAttrs(t.Context(), kernel.ID(doc), map[string]string{"tags": "old,old/b,other"}); err != nil {
					t.Fatal(err)
				}
				var hidden, before string
				if hides {
					w.secret = kernel.ID(w.Notebook("Secret"))
					hidden = w.Doc(string(w.secret), "/Hidden", textWithTags)
					if err := w.Client.SetAttrs(t.Context(), kernel.ID(hidden), map[string]string{"tags": "old,old/b"}); err != nil {
						t.Fatal(err)
					}
					before, _ = w.kramdownOf(hidden)
					w.Levels[w.secret] = access.None
				}
				answers = append(answers, w.mustRun(c.action, c.args).Raw)
				_, text := w.kramdownOf(doc)
				texts = append(texts, text)
				if tags := tagCounts(w.mustRun("list", `{}`)); slices.ContainsFunc(tags, func(s string) bool { return strings.HasPrefix(s, c.gone+":") }) ||
					!slices.ContainsFunc(tags, func(s string) bool { return strings.HasPrefix(s, c.stays+":") }) {
					t.Errorf("tags %v", tags)
				}
				if !hides {
					continue
				}
				if after, _ := w.kramdownOf(hidden); sortAttrs(after) != sortAttrs(before) {
					t.Errorf("the hidden note changed (-before +after):\n%s", cmp.Diff(before, after))
				}
			}
			if answers[0] != answers[1] {
				t.Errorf("answers differ: %q", answers)
			}
			if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
				t.Errorf("what may be read differs (-without +with a hidden notebook):\n%s", diff)
			}
			for _, same := range []string{"`#old#`", `\#old\#`, "```\n#old#\n```", "#olden#", `x\*y\*`} {
				if !strings.Contains(texts[1], same) {
					t.Errorf("%s is gone from\n%s", same, texts[1])
				}
			}
			if c.action == "remove" && !strings.Contains(texts[1], "head old") || strings.Count(texts[1], `custom-k="v &lt;&amp;"`) != 7 {
				t.Errorf("words or attributes are gone from\n%s", texts[1])
			}
		})
	}
}

// sortAttrs returns a text with the attributes of each block sorted, since a kernel writes them in any order.
func sortAttrs(text string) string {
	return regexp.MustCompile(`\{: [^}\n]*\}`).ReplaceAllStringFunc(text, func(list string) string {
		return strings.Join(slices.Sorted(strings.FieldsSeq(strings.Trim(list, "{:}"))), " ")
	})
}

// TestSpecialTags: tags with & < > can be renamed and removed, although the kernel's own call refuses them.
func TestSpecialTags(t *testing.T) {
	w := newWorkspace(t)
	w.Doc(string(w.travel), "/Odd", "x #a&b# y #a&b/c#\n\n#c<d#")
	for _, level := range []access.Level{access.Delete, access.None} {
		w.Levels[w.secret] = level
		w.mustRun("rename", `{"oldLabel":"a&b","newLabel":"ab"}`)
		if tags := tagCounts(w.mustRun("list", `{}`)); !slices.Contains(tags, "ab:1") || !slices.Contains(tags, "ab/c:1") {
			t.Errorf("%v: tags %v", level, tags)
		}
		w.mustRun("remove", `{"label":"ab"}`)
		w.Doc(string(w.travel), "/Odd again", "x #a&b# y")
		w.mustRun("remove", `{"label":"ab/c"}`)
		w.Doc(string(w.travel), "/Odd once more", "x #a&b/c# y")
	}
}

// TestAnotherPartFails: if a later request of a write fails, the error says how many blocks were changed before.
func TestAnotherPartFails(t *testing.T) {
	w := newWorkspace(t)
	doc := w.Doc(string(w.travel), "/Tagged", "#both#")
	if err := w.Client.SetAttrs(t.Context(), kernel.ID(doc), map[string]string{"tags": "both"}); err != nil {
		t.Fatal(err)
	}
	w.Fail("/api/attr/batchSetBlockAttrs", 1, "401")
	err := w.Failed(t, findAction(t, "remove"), `{"label":"both"}`, tool.Unauthorized)
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Facts["blocks"] != 1 || e.Facts["partial"] != true {
		t.Errorf("the error does not say what was changed: %v", err)
	}
	w.mustRun("remove", `{"label":"both"}`)
}
