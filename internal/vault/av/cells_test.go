package av_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// TestCellsRoundTrip writes a cell of each type, then checks how it is stored and how it is rendered.
func TestCellsRoundTrip(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A")
	tests := []struct {
		kind   string
		data   object
		stored string // the member of the value that holds it
		want   string
		shown  string // as rendered, when that differs
	}{
		{kind: "text", data: object{"text": object{"content": "some text 文本"}}, stored: "text", want: `{"content":"some text 文本"}`},
		{kind: "number", data: object{"number": object{"content": 42.5, "isNotEmpty": true}}, stored: "number", want: `{"content":42.5,"isNotEmpty":true,"format":"","formattedContent":"42.5"}`},
		{kind: "number", data: object{"number": object{"content": 1234.5, "isNotEmpty": true, "format": "commas"}}, stored: "number", want: `{"content":1234.5,"isNotEmpty":true,"format":"commas","formattedContent":"1,234.5"}`},
		{kind: "number", data: object{"number": object{"isNotEmpty": false}}, stored: "number", want: `{"content":0,"isNotEmpty":false,"format":"","formattedContent":""}`},
		{
			kind:   "date",
			data:   object{"date": object{"content": 1722470400000, "isNotEmpty": true, "isNotTime": true}},
			stored: "date",
			want:   `{"content":1722470400000,"isNotEmpty":true,"hasEndDate":false,"isNotTime":true,"content2":0,"isNotEmpty2":false,"formattedContent":""}`,
		},
		{
			kind:   "date",
			data:   object{"date": object{"content": 1722470400000, "isNotEmpty": true, "hasEndDate": true, "content2": 1722556800000, "isNotEmpty2": true}},
			stored: "date",
			want:   `{"content":1722470400000,"isNotEmpty":true,"hasEndDate":true,"isNotTime":false,"content2":1722556800000,"isNotEmpty2":true,"formattedContent":""}`,
		},
		{kind: "select", data: object{"mSelect": []any{object{"content": "Doing 进行", "color": "2"}}}, stored: "mSelect", want: `[{"content":"Doing 进行","color":"2"}]`},
		{kind: "mSelect", data: object{"mSelect": []any{object{"content": "red", "color": "1"}, object{"content": "蓝", "color": "3"}}}, stored: "mSelect", want: `[{"content":"red","color":"1"},{"content":"蓝","color":"3"}]`},
		{kind: "url", data: object{"url": object{"content": "https://example.com"}}, stored: "url", want: `{"content":"https://example.com"}`},
		{kind: "email", data: object{"email": object{"content": "a@example.com"}}, stored: "email", want: `{"content":"a@example.com"}`},
		{kind: "phone", data: object{"phone": object{"content": "+86 10 1234"}}, stored: "phone", want: `{"content":"+86 10 1234"}`},
		{kind: "mAsset", data: object{"mAsset": []any{object{"type": "file", "name": "spec", "content": "assets/spec.pdf"}}}, stored: "mAsset", want: `[{"type":"file","name":"spec","content":"assets/spec.pdf"}]`},
		{kind: "checkbox", data: object{"checkbox": object{"checked": true}}, stored: "checkbox", want: `{"checked":true}`},
		{kind: "relation", data: object{"relation": object{"blockIDs": []string{rowB}}}, stored: "relation", want: `{"blockIDs":["20240801130001-rowbbbb"],"contents":null}`},
		{kind: "template", data: object{"template": object{"content": "mine"}}, stored: "template", want: ``, shown: `{"content":""}`},
		{kind: "rollup", data: object{"rollup": object{"contents": []any{}}}, stored: "rollup", want: ``, shown: `{"contents":null}`},
	}
	for i, tt := range tests {
		key := v.addColumn(db, "2024080112"+string(rune('0'+i/10))+string(rune('0'+i%10))+"00-keytest", tt.kind)
		tt.data["type"] = tt.kind
		v.setCell(db, key, rowA, tt.data)
		stored := v.readFile(db).Get(`keyValues.#(key.id=="` + key + `").values.#(blockID=="` + rowA + `")`)
		if got := compact(stored.Get(tt.stored)); got != tt.want {
			t.Errorf("%s stored: %s", tt.kind, cmp.Diff(tt.want, got))
		}
		want := tt.shown
		if want == "" {
			want = tt.want
		}
		shown := v.renderCell(db, key, rowA)
		if got := compact(shown.Get(tt.stored)); got != want || shown.Get("type").Str != tt.kind {
			t.Errorf("%s shown as %s: %s", tt.kind, shown.Get("type").Str, cmp.Diff(want, got))
		}
	}
}

// compact returns a JSON value without blanks.
func compact(v gjson.Result) string { return v.Get("@ugly").Raw }

func TestUntouchedCells(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A")
	for kind, want := range map[string]string{
		"text": `{"content":""}`, "number": `{"content":0,"isNotEmpty":false,"format":"","formattedContent":""}`,
		"date":     `{"content":0,"isNotEmpty":false,"hasEndDate":false,"isNotTime":true,"content2":0,"isNotEmpty2":false,"formattedContent":""}`,
		"checkbox": `{"checked":false}`, "relation": `{"blockIDs":null,"contents":null}`, "rollup": `{"contents":null}`,
		"select": ``, "mAsset": ``, "lineNumber": ``,
	} {
		key := v.addColumn(db, "20240801120000-key"+(kind + "xxxx")[:4], kind)
		if got := v.renderCell(db, key, rowA); compact(got.Get(kind)) != want || got.Get("blockID").Str != rowA {
			t.Errorf("%s: %s", kind, got.Raw)
		}
	}
}

// TestBadCells writes wrong values into cells. Like the kernel, the vault answers code 0, but what it stores must remain
// readable.
func TestBadCells(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A")
	number := v.addColumn(db, "20240801120002-keynumb", "number")
	relation := v.addColumn(db, "20240801120014-keyrela", "relation")
	template := v.addColumn(db, "20240801120010-keytmpl", "template")
	v.setCell(db, number, rowA, object{"type": "number", "number": object{"content": 7, "isNotEmpty": true}})
	before := v.readFile(db).Raw
	for name, data := range map[string]object{
		"text for a number":     {"number": object{"content": "12", "isNotEmpty": true}},
		"a list for a number":   {"number": []any{1}},
		"no list of rows":       {"relation": object{"blockIDs": "x"}},
		"a number for an array": {"mSelect": 3},
	} {
		v.setCell(db, number, rowA, data)
		v.setCell(db, relation, rowA, data)
		if got := v.readFile(db).Raw; got != before {
			t.Errorf("%s was stored: %s", name, got)
		}
	}
	v.setCell(db, template, rowA, object{"template": object{"content": "x"}})
	v.setCell(db, "20990101000000-zzzzzzz", rowA, object{"text": object{"content": "x"}})
	if got := v.readFile(db).Get(`keyValues.#(key.type=="template").values`); got.Exists() {
		t.Errorf("a computed cell was stored: %s", got.Raw)
	}

	v.setCell(db, number, rowA, object{"type": "text", "text": object{"content": "text into a number"}})
	if got := v.renderCell(db, number, rowA); got.Get("type").Str != "number" || got.Get("number.content").Num != 7 {
		t.Errorf("text in a cell of numbers: %s", got.Raw)
	}
	if got := v.readFile(db).Get(`keyValues.#(key.type=="number").values.0.type`).Str; got != "number" {
		t.Errorf("stored as %s", got)
	}

	deep := any(object{})
	for range 3000 {
		deep = object{"rollup": object{"contents": []any{deep}}}
	}
	v.setCell(db, number, rowA, deep.(object))
	if got := v.renderCell(db, number, rowA); got.Get("number.content").Num != 7 {
		t.Errorf("after something deep: %s", got.Raw)
	}

	rows := v.render(db, nil).Get("view.rowCount").Int()
	v.setCell(db, v.readFile(db).Get(`keyValues.#(key.type=="block").key.id`).Str, rowC, object{"block": object{"content": "ghost"}})
	if got := v.render(db, nil).Get("view.rowCount").Int(); got != rows {
		t.Errorf("naming a row that is not there made %d rows of %d", got, rows)
	}
}

// TestTransactionsAreWhole checks that a failing operation undoes its whole transaction.
func TestTransactionsAreWhole(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A")
	number := v.addColumn(db, "20240801120002-keynumb", "number")
	v.runOps(object{"action": "setAttrViewName", "id": db, "data": "Renamed"},
		object{"action": "updateAttrViewCell", "avID": db, "keyID": number, "rowID": rowA, "data": object{"number": object{"content": "x"}}})
	if got := v.readFile(db).Get("name").Str; got != "" {
		t.Errorf("the name is %q", got)
	}
}

func TestBadColumns(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addColumn(db, "20240801120019-keybadt", "zzz")
	v.addColumn(db, "20240801120020-keybloc", "block")
	v.addColumn(db, "", "text")
	if got := v.readFile(db).Get("keyValues.#").Int(); got != 2 {
		t.Errorf("%d columns", got)
	}
	primary := v.readFile(db).Get(`keyValues.#(key.type=="block").key.id`).Str
	v.runOps(object{"action": "removeAttrViewCol", "avID": db, "id": primary},
		object{"action": "updateAttrViewCol", "avID": db, "id": primary, "name": "Name", "type": "text"})
	if got := v.readFile(db).Get(`keyValues.#(key.id=="` + primary + `").key`); got.Get("type").Str != "block" || got.Get("name").Str != "Name" {
		t.Errorf("the primary column is %s", got.Raw)
	}
}

// TestForeignFiles reads database files that other programs wrote: with unknown members, wrong types or broken JSON.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.writeFile(db, `{"spec":9,"id":"other","name":"F","future":{"a":[1]},"keyValues":[null,{"key":{"id":"20240801120001-primary","name":"P","type":"block","later":1},`+
		`"values":[{"id":"x","blockID":"`+rowA+`","type":"block","block":{"content":"A","created":0,"updated":0},"newer":true},7]},`+
		`{"key":{"id":"20240801120002-keynumb","name":"N","type":"number"},"values":[{"blockID":"`+rowA+`","number":{"content":"bad"}}]}],"viewID":"gone","views":[]}`)
	if got := v.renderCell(db, "20240801120002-keynumb", rowA); got.Get("number.isNotEmpty").Bool() || got.Get("type").Str != "number" {
		t.Errorf("unreadable cell: %s", got.Raw)
	}
	v.runOps(object{"action": "setAttrViewName", "id": db, "data": "G"})
	got := v.readFile(db)
	for path, want := range map[string]string{
		"name": `"G"`, "future.a": "[1]", "keyValues.0.key.later": "1", "keyValues.0.values.0.newer": "true", "id": `"` + db + `"`, "spec": "9",
	} {
		if got.Get(path).Raw != want {
			t.Errorf("%s is %s, want %s", path, got.Get(path).Raw, want)
		}
	}
	for _, broken := range []string{`{"keyValues":[{"key":`, `[]`, ``, strings.Repeat("[", 4<<20), `{"more":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`} {
		v.writeFile(db, broken)
		if got := v.Ask("av/getAttributeView", object{"id": db}).Get("av"); got.Raw != "null" {
			t.Errorf("a broken file is %s", got.Raw)
		}
	}
}
