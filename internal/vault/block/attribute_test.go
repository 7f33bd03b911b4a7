package block_test

import (
	"strings"
	"testing"

	"collie/internal/vault/workspace"
)

func TestTitleRenames(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, _ := v.document("Old", "text")
	set := func(id, title string) {
		v.ask("/api/attr/setBlockAttrs", object{"id": id, "attrs": object{"title": title}})
	}
	hpath := func() (path string) {
		v.update(func(tx *workspace.Tx) { path = tx.Document(id).HPath() })
		return path
	}
	for title, want := range map[string]string{"新 New": "/新 New", "a/b": "/ab", "": "/Untitled"} {
		set(id, title)
		if got := hpath(); got != want {
			t.Errorf("after the title %q the path is %q, want %q", title, got, want)
		}
	}
	v.refused("/api/attr/setBlockAttrs", object{"id": id, "attrs": object{"title": strings.Repeat("长", 513), "memo": "x"}})
	if got := v.ask("/api/attr/getBlockAttrs", object{"id": id}); got.Get("memo").Exists() || len(got.Get("title").String()) > 100 {
		t.Errorf("a title that is too long left %s", got.Raw)
	}
	set(v.box, "Renamed")
	v.update(func(tx *workspace.Tx) {
		if got := tx.Notebook(v.box).Conf.Name; got != "Renamed" {
			t.Errorf("the notebook is called %q after its page was", got)
		}
	})
}

func TestAttributesThatStay(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.document("Doc", "text")
	none := object{"id": "", "updated": nil, "type": "", "custom-a": ""}
	for _, id := range []string{id, blocks[0]} {
		v.ask("/api/attr/setBlockAttrs", object{"id": id, "attrs": none})
		attrs := v.ask("/api/attr/getBlockAttrs", object{"id": id})
		if attrs.Get("id").String() != id || attrs.Get("updated").String() == "" {
			t.Errorf("the removal of what every block has left %s", attrs.Raw)
		}
	}
	if got := v.ask("/api/attr/getBlockAttrs", object{"id": id}).Get("type").String(); got != "doc" {
		t.Errorf("the type of a document is %q", got)
	}
}

// TestAttributeText keeps what would end or break an attribute list.
func TestAttributeText(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.document("Doc", "text\n\nmore")
	for _, value := range []string{
		`"quoted" & <tag> {: id="x"} }}`, "two\nlines\n", "&quot;&amp;lt; already", "\t tab ", "{: }", `back\slash`, strings.Repeat("长", 40_000),
	} {
		v.ask("/api/attr/setBlockAttrs", object{"id": blocks[0], "attrs": object{"custom-q": value, "memo": value}})
		attrs := v.ask("/api/attr/getBlockAttrs", object{"id": blocks[0]})
		if attrs.Get("custom-q").String() != value || attrs.Get("memo").String() != value {
			t.Errorf("%.60q came back as %.60q", value, attrs.Get("custom-q").String())
		}
		v.ask("/api/block/updateBlock", object{"id": id, "dataType": "markdown", "data": v.kramdown(id)})
		if got := v.ask("/api/attr/getBlockAttrs", object{"id": blocks[0]}).Get("custom-q").String(); got != value {
			t.Errorf("%.60q came back from kramdown as %.60q", value, got)
		}
	}
	if got := v.text(id); got != "text\n\nmore" {
		t.Errorf("the document holds %q", got)
	}
}
