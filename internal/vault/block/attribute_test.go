package block_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// TestTitleRenames checks that a change of the attribute title renames a document or, for the page of a notebook, the notebook.
func TestTitleRenames(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, _ := v.createDocument("Old", "text")
	set := func(id, title string) {
		v.Ask("/api/attr/setBlockAttrs", object{"id": id, "attrs": object{"title": title}})
	}
	hpath := func() (path string) {
		v.Update(func(tx *workspace.Tx) { path = tx.Document(id).HPath() })
		return path
	}
	for title, want := range map[string]string{"新 New": "/新 New", "a/b": "/ab", "": "/Untitled"} {
		set(id, title)
		if got := hpath(); got != want {
			t.Errorf("after the title %q the path is %q, want %q", title, got, want)
		}
	}
	v.Refused("/api/attr/setBlockAttrs", object{"id": id, "attrs": object{"title": strings.Repeat("长", 513), "memo": "x"}})
	if got := v.Ask("/api/attr/getBlockAttrs", object{"id": id}); got.Get("memo").Exists() || len(got.Get("title").String()) > 100 {
		t.Errorf("a title that is too long left %s", got.Raw)
	}
	set(v.box, "Renamed")
	v.Update(func(tx *workspace.Tx) {
		if got := tx.Notebook(v.box).Conf.Name; got != "Renamed" {
			t.Errorf("the notebook is called %q after its page was", got)
		}
	})
}

func TestAttributesThatStay(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "text")
	none := object{"id": "", "updated": nil, "type": "", "custom-a": ""}
	for _, id := range []string{id, blocks[0]} {
		v.Ask("/api/attr/setBlockAttrs", object{"id": id, "attrs": none})
		attrs := v.Ask("/api/attr/getBlockAttrs", object{"id": id})
		if attrs.Get("id").String() != id || attrs.Get("updated").String() == "" {
			t.Errorf("the removal of what every block has left %s", attrs.Raw)
		}
	}
	if got := v.Ask("/api/attr/getBlockAttrs", object{"id": id}).Get("type").String(); got != "doc" {
		t.Errorf("the type of a document is %q", got)
	}
}

// TestAttributeText checks that attributes keep texts that could end or break an attribute list in kramdown.
func TestAttributeText(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "text\n\nmore")
	for _, value := range []string{
		`"quoted" & <tag> {: id="x"} }}`, "two\nlines\n", "&quot;&amp;lt; already", "\t tab ", "{: }", `back\slash`, strings.Repeat("长", 40_000),
	} {
		v.Ask("/api/attr/setBlockAttrs", object{"id": blocks[0], "attrs": object{"custom-q": value, "memo": value}})
		attrs := v.Ask("/api/attr/getBlockAttrs", object{"id": blocks[0]})
		if attrs.Get("custom-q").String() != value || attrs.Get("memo").String() != value {
			t.Errorf("%.60q came back as %.60q", value, attrs.Get("custom-q").String())
		}
		v.Ask("/api/block/updateBlock", object{"id": id, "dataType": "markdown", "data": v.kramdown(id)})
		if got := v.Ask("/api/attr/getBlockAttrs", object{"id": blocks[0]}).Get("custom-q").String(); got != value {
			t.Errorf("%.60q came back from kramdown as %.60q", value, got)
		}
	}
	if got := v.Text(id); got != "text\n\nmore" {
		t.Errorf("the document holds %q", got)
	}
}

// TestAttributesNameDatabases checks that the attributes of a block name the databases in which it is a row, without being
// stored.
func TestAttributesNameDatabases(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	const named, unnamed, gone = "20240801120000-avmain1", "20240801120000-avsecnd", "20240801120000-avgone1"
	_, blocks := v.createDocument("Doc", "row\n\nno row\n\nrow of nothing")
	v.Update(func(tx *workspace.Tx) {
		tx.WriteFile("/data/storage/av/"+named+".json", []byte(`{"id":"`+named+`","name":"项目 <b>"}`), time.Time{})
		tx.WriteFile("/data/storage/av/"+unnamed+".json", []byte(`{"id":"`+unnamed+`","name":""}`), time.Time{})
		tx.Block(blocks[0]).Attrs["custom-avs"] = named + "," + gone + "," + unnamed
		tx.Block(blocks[2]).Attrs["custom-avs"] = gone
	})
	link := func(id, name string) string {
		return `<span data-av-id="` + id + `" data-popover-url="/api/av/getMirrorDatabaseBlocks" class="popover__block">` + name + `</span>`
	}
	want := []string{link(named, "项目 &lt;b&gt;") + ", " + link(unnamed, "Untitled"), "", ""}
	many := v.Ask("/api/attr/batchGetBlockAttrs", object{"ids": blocks})
	for i, id := range blocks {
		one := v.Ask("/api/attr/getBlockAttrs", object{"id": id})
		for _, attrs := range []gjson.Result{one, many.Get(id)} {
			if got := attrs.Get("av-names").String(); got != want[i] {
				t.Errorf("block %d is in %q, want %q", i, got, want[i])
			}
		}
	}
	if kramdown := v.kramdown(blocks[0]); strings.Contains(kramdown, "av-names") {
		t.Errorf("the names are stored: %s", kramdown)
	}
}
