package block_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"collie/internal/vault/tree"
)

// unknown is an id that no block has.
const unknown = "20990101000000-zzzzzzz"

// An item and its paragraph are in the data twice, with their ids: the copies get ids of their own.
func TestUpdateWithAnIDTwice(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	const (
		item  = "- {: id=\"20240801000000-aaaaaaa\"}one\n  {: id=\"20240801000000-bbbbbbb\"}\n"
		quote = "> same\n> {: id=\"20240801000000-ccccccc\"}\n{: id=\"20240801000000-ccccccc\"}"
	)
	_, blocks := v.createDocument("Twice", item+"\n"+"same\n{: id=\"20240801000000-ccccccc\"}")
	v.Ask("/api/block/updateBlock", object{"id": blocks[0], "dataType": "markdown", "data": item + item})
	items := v.childIDs(blocks[0])
	if len(items) != 2 || items[0] != "20240801000000-aaaaaaa" || items[1] == items[0] {
		t.Fatalf("the items are %q", items)
	}
	if first, second := v.childIDs(items[0]), v.childIDs(items[1]); first[0] != "20240801000000-bbbbbbb" || second[0] == first[0] {
		t.Errorf("the paragraphs are %q and %q", first, second)
	}
	v.Ask("/api/block/updateBlock", object{"id": blocks[1], "dataType": "markdown", "data": quote})
	if inner := v.childIDs(blocks[1]); len(inner) != 1 || inner[0] == blocks[1] {
		t.Errorf("the quote %s holds %q", blocks[1], inner)
	}
}

// TestUnicodeSurvives appends text of many scripts and reads it back, byte for byte.
func TestUnicodeSurvives(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, _ := v.createDocument("Unicode", "first")
	texts := []string{
		"中文段落,标点。「引号」", "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ✏️", "combining é and é, å̈", "العربية مع عربي", "joined\u200d and \ufeff marks",
		"𠀀𪛖 beyond the plane", "tab\tand nbsp\u00a0here", "한국어 조합", "ไทย", "a'b’c“d”",
	}
	for _, text := range texts {
		done := v.Ask("/api/block/appendBlock", object{"dataType": "markdown", "data": text, "parentID": id})
		block := done.Get("0.doOperations.0.id").String()
		got, _, _ := strings.Cut(v.kramdown(block), "\n{:")
		if got != text {
			t.Errorf("appended %q, got back %q", text, got)
		}
		v.Ask("/api/attr/setBlockAttrs", object{"id": block, "attrs": object{"custom-x": text}})
		if got := v.Ask("/api/attr/getBlockAttrs", object{"id": block}).Get("custom-x").String(); got != text {
			t.Errorf("attribute %q, got back %q", text, got)
		}
	}
}

// TestUpdateDocument replaces all children of a document and keeps the ids that the new text names.
func TestUpdateDocument(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "one\n\ntwo\n\nthree")
	v.Ask("/api/block/updateBlock", object{
		"id": id, "dataType": "markdown", "data": "new\n\ntwo again\n{: id=\"" + blocks[1] + "\" memo=\"kept\"}",
	})
	if got := v.Text(id); got != "new\n\ntwo again" {
		t.Errorf("the document holds %q", got)
	}
	children := v.childIDs(id)
	if len(children) != 2 || children[1] != blocks[1] || children[0] == blocks[0] {
		t.Errorf("children are %v, were %v; the second keeps its id", children, blocks)
	}
	if got := v.Ask("/api/attr/getBlockAttrs", object{"id": blocks[1]}).Get("memo").String(); got != "kept" {
		t.Errorf("memo = %q", got)
	}
	if got := v.kramdown(blocks[0]); got != "" {
		t.Errorf("a replaced block still answers %q", got)
	}
	v.Ask("/api/block/updateBlock", object{"id": id, "dataType": "markdown", "data": ""})
	if got := v.childIDs(id); len(got) != 1 {
		t.Errorf("an emptied document has children %v, want one empty paragraph", got)
	}
	v.wantSoundTree(id)
}

// TestUpdateWithOwnText writes a document back as it was read: nothing may change.
func TestUpdateWithOwnText(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, _ := v.createDocument("Doc", "# Head\n\n- a\n  - b\n- c\n\n> quote\n> more\n\n1. one\n2. two\n\n- [ ] open\n- [x] done")
	before, text := v.kramdown(id), v.Text(id)
	v.Ask("/api/block/updateBlock", object{"id": id, "dataType": "markdown", "data": before})
	if got := v.Text(id); got != text {
		t.Errorf("the text changed to\n%s\nfrom\n%s", got, text)
	}
	ids := func(kramdown string) []string {
		var found []string
		for _, part := range strings.Split(kramdown, `id="`)[1:] {
			found = append(found, part[:22])
		}
		return found
	}
	if got, want := ids(v.kramdown(id)), ids(before); !slices.Equal(got, want) {
		t.Errorf("ids are %v, were %v", got, want)
	}
	v.wantSoundTree(id)
}

func TestUpdateKeepsPlace(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "one\n\ntwo\n\nthree")
	v.Ask("/api/block/updateBlock", object{"id": blocks[1], "dataType": "markdown", "data": "- a list\n- of two"})
	if got := v.Text(id); got != "one\n\n- a list\n- of two\n\nthree" {
		t.Errorf("the document holds %q", got)
	}
	if got := v.childIDs(id); !slices.Equal(got, blocks) {
		t.Errorf("children are %v, were %v", got, blocks)
	}
	v.wantSoundTree(id)
}

// TestUpdateItem gives a list item another text, with its marker and without.
func TestUpdateItem(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"- new", "new", "* new"} {
		v := newVault(t)
		id, blocks := v.createDocument("Doc", "- one\n- two\n- three")
		items := v.childIDs(blocks[0])
		v.Ask("/api/block/updateBlock", object{"id": items[1], "dataType": "markdown", "data": data})
		if got := strings.ReplaceAll(v.Text(id), "*", "-"); got != "- one\n- new\n- three" {
			t.Errorf("updated with %q, the document holds %q", data, got)
		}
		if got := v.childIDs(blocks[0]); !slices.Equal(got, items) {
			t.Errorf("updated with %q, items are %v, were %v", data, got, items)
		}
		v.wantSoundTree(id)
	}
}

// TestUpdateWithBareItem gives a paragraph the DOM of a list item without its list.
func TestUpdateWithBareItem(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "- one\n- two\n\nparagraph")
	dom := v.Ask("/api/block/getBlockDOM", object{"id": v.childIDs(blocks[0])[1]}).Get("dom").String()
	dom = strings.ReplaceAll(dom, `data-node-id="`, `data-x="`)
	v.Ask("/api/block/updateBlock", object{"id": blocks[1], "dataType": "dom", "data": dom})
	v.wantSoundTree(id)
	if got := v.Text(id); strings.Contains(got, "paragraph") || strings.Count(got, "two") != 2 {
		t.Errorf("the document holds %q", got)
	}
}

func TestMoveIntoItself(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "- outer\n  - inner\n\nafter")
	before := v.kramdown(id)
	list := blocks[0]
	item := v.childIDs(list)[0]
	inner := v.childIDs(v.childIDs(item)[1])[0]
	for name, body := range map[string]object{
		"itself":           {"id": list, "parentID": list},
		"after itself":     {"id": list, "previousID": list},
		"its child":        {"id": list, "parentID": item},
		"its grandchild":   {"id": list, "parentID": inner},
		"after its child":  {"id": list, "previousID": item},
		"item into inner":  {"id": item, "parentID": inner},
		"after document":   {"id": list, "previousID": id},
		"document to item": {"id": id, "parentID": item},
	} {
		v.Answer("/api/block/moveBlock", body)
		if got := v.kramdown(id); got != before {
			t.Fatalf("a move of %s changed the document:\n%s\nwas\n%s", name, got, before)
		}
		body["action"] = "move"
		v.Ask("/api/transactions", transaction(body))
		if got := v.kramdown(id); got != before {
			t.Fatalf("a move operation of %s changed the document:\n%s", name, got)
		}
	}
	v.wantSoundTree(id)
}

func TestMoveBetweenDocuments(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	from, source := v.createDocument("From", "only")
	to, target := v.createDocument("To", "first\n\nsecond")
	v.Ask("/api/block/moveBlock", object{"id": source[0], "previousID": target[0]})
	if got := v.Text(to); got != "first\n\nonly\n\nsecond" {
		t.Errorf("the target holds %q", got)
	}
	if got := v.childIDs(from); len(got) != 1 || got[0] == source[0] {
		t.Errorf("the source has children %v, want one new paragraph", got)
	}
	v.Ask("/api/attr/setBlockAttrs", object{"id": source[0], "attrs": object{"memo": "after the move"}})
	v.Ask("/api/block/moveBlock", object{"id": source[0], "parentID": from})
	if got := v.Ask("/api/attr/getBlockAttrs", object{"id": source[0]}).Get("memo").String(); got != "after the move" {
		t.Errorf("the memo is %q", got)
	}
	v.wantSoundTree(from)
	v.wantSoundTree(to)
}

func TestMoveItems(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "- a\n- b\n\nparagraph\n\n1. x")
	items := v.childIDs(blocks[0])
	v.Ask("/api/block/moveBlock", object{"id": blocks[1], "parentID": blocks[0]})
	v.Ask("/api/block/moveBlock", object{"id": items[0], "parentID": id})
	v.wantSoundTree(id)
	text := v.Text(id)
	for _, want := range []string{"a", "b", "paragraph", "x"} {
		if strings.Count(text, want) < 1 {
			t.Errorf("%q was lost: %q", want, text)
		}
	}
	v.Ask("/api/block/moveBlock", object{"id": v.childIDs(v.childIDs(id)[0])[0], "previousID": v.childIDs(id)[1]})
	v.wantSoundTree(id)
}

func TestDeleteLastBlock(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "- a\n- b")
	for _, item := range v.childIDs(blocks[0]) {
		v.Ask("/api/block/deleteBlock", object{"id": item})
	}
	children := v.childIDs(id)
	if len(children) != 1 || v.Text(id) != "" {
		t.Errorf("the document holds %v %q, want an empty paragraph", children, v.Text(id))
	}
	v.Ask("/api/block/deleteBlock", object{"id": children[0]})
	if got := v.childIDs(id); len(got) != 1 || got[0] == children[0] {
		t.Errorf("children are %v, want a new paragraph", got)
	}
	v.Ask("/api/block/deleteBlock", object{"id": id})
	v.Ask("/api/block/deleteBlock", object{"id": unknown})
	v.wantSoundTree(id)
}

func TestDeleteIsDone(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "one\n\ntwo")
	v.Ask("/api/block/deleteBlock", object{"id": blocks[0]})
	if got := v.kramdown(blocks[0]); got != "" {
		t.Errorf("a deleted block answers %q", got)
	}
	if got := v.Text(id); got != "two" {
		t.Errorf("the document holds %q", got)
	}
}

// TestBatchesAreWhole sends batches of every kind whose last entry is bad: none of their changes may remain.
func TestBatchesAreWhole(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "one\n\ntwo")
	before := v.kramdown(id)
	good := object{"dataType": "markdown", "data": "half"}
	with := func(more object) object {
		all := object{}
		for _, part := range []object{good, more} {
			maps.Copy(all, part)
		}
		return all
	}
	attrs := object{"custom-x": "half"}
	for name, request := range map[string]struct {
		path string
		body object
	}{
		"update unknown":  {"/api/block/batchUpdateBlock", object{"blocks": []object{with(object{"id": blocks[0]}), with(object{"id": unknown})}}},
		"update bad id":   {"/api/block/batchUpdateBlock", object{"blocks": []object{with(object{"id": blocks[0]}), with(object{"id": "x"})}}},
		"update no data":  {"/api/block/batchUpdateBlock", object{"blocks": []object{with(object{"id": blocks[0]}), {"id": blocks[1]}}}},
		"insert unknown":  {"/api/block/batchInsertBlock", object{"blocks": []object{with(object{"parentID": id}), with(object{"previousID": unknown})}}},
		"insert no place": {"/api/block/batchInsertBlock", object{"blocks": []object{with(object{"parentID": id}), good}}},
		"insert in leaf":  {"/api/block/batchInsertBlock", object{"blocks": []object{with(object{"parentID": id}), with(object{"parentID": blocks[0]})}}},
		"insert bad id":   {"/api/block/batchInsertBlock", object{"blocks": []object{with(object{"parentID": id}), with(object{"nextID": "x"})}}},
		"insert no data":  {"/api/block/batchInsertBlock", object{"blocks": []object{with(object{"parentID": id}), {"parentID": id}}}},
		"attrs unknown":   {"/api/attr/batchSetBlockAttrs", object{"blockAttrs": []object{{"id": blocks[0], "attrs": attrs}, {"id": unknown, "attrs": attrs}}}},
		"attrs bad name":  {"/api/attr/batchSetBlockAttrs", object{"blockAttrs": []object{{"id": blocks[0], "attrs": attrs}, {"id": blocks[1], "attrs": object{"a b": "x"}}}}},
		"attrs missing":   {"/api/attr/batchSetBlockAttrs", object{"blockAttrs": []object{{"id": blocks[0], "attrs": attrs}, {"id": blocks[1]}}}},
		"attrs bad value": {"/api/attr/setBlockAttrs", object{"id": blocks[0], "attrs": object{"custom-a": "half", "custom-b": 5}}},
		"transaction": {"/api/transactions", transaction(
			object{"action": "delete", "id": blocks[1]}, object{"action": "setAttrs", "id": blocks[0], "data": `{"memo":"half"}`},
			object{"action": "move", "id": blocks[0], "previousID": unknown},
		)},
		"transaction in leaf": {"/api/transactions", transaction(
			object{"action": "update", "id": blocks[0], "data": "half"}, object{"action": "appendInsert", "parentID": blocks[1], "data": "x"},
		)},
	} {
		v.Answer(request.path, request.body)
		if got := v.kramdown(id); got != before {
			t.Errorf("%s left something behind:\n%s\nwas\n%s", name, got, before)
		}
	}
}

// transaction returns the body of a request with one transaction of operations.
func transaction(ops ...object) object {
	return object{"reqId": 1, "transactions": []object{{"doOperations": ops, "undoOperations": []object{}}}}
}

// TestTransactionsAreApart sends three transactions in one request: only the one that fails is undone.
func TestTransactionsAreApart(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "one\n\ntwo\n\nthree")
	do := func(ops ...object) object { return object{"doOperations": ops} }
	v.Ask("/api/transactions", object{"reqId": 1, "transactions": []object{
		do(object{"action": "delete", "id": blocks[0]}),
		do(object{"action": "delete", "id": blocks[1]}, object{"action": "move", "id": unknown, "parentID": id}),
		do(object{"action": "move", "id": blocks[2], "parentID": id}),
	}})
	if got := v.Text(id); got != "three\n\ntwo" {
		t.Errorf("the document holds %q", got)
	}
	v.wantSoundTree(id)
}

// TestTakenID inserts DOM that claims the id of a block that exists.
func TestTakenID(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, blocks := v.createDocument("Doc", "one\n\ntwo")
	dom := v.Ask("/api/block/getBlockDOM", object{"id": blocks[0]}).Get("dom").String()
	done := v.Ask("/api/transactions", transaction(object{"action": "insert", "id": blocks[0], "data": dom, "previousID": blocks[1]}))
	if got := done.Get("0.doOperations.0.id").String(); got == blocks[0] || !tree.ValidID(got) {
		t.Errorf("the copy has the id %q, as the block that exists", got)
	}
	if got := v.Text(id); got != "one\n\ntwo\n\none" {
		t.Errorf("the document holds %q", got)
	}
	v.wantSoundTree(id)
}

// TestDeepLists edits a list of sixty levels.
func TestDeepLists(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	const depth = 60
	var markdown strings.Builder
	for i := range depth {
		markdown.WriteString(strings.Repeat("  ", i) + "- level " + string(rune('a'+i%26)) + "\n")
	}
	id, _ := v.createDocument("Deep", "start")
	v.Ask("/api/block/appendBlock", object{"dataType": "markdown", "data": markdown.String(), "parentID": id})
	v.wantSoundTree(id)
	at, levels := v.childIDs(id)[1], 0
	for {
		items := v.childIDs(at)
		if len(items) != 1 {
			t.Fatalf("level %d has %d items", levels, len(items))
		}
		levels++
		parts := v.childIDs(items[0])
		if len(parts) < 2 {
			break
		}
		at = parts[1]
	}
	if levels != depth {
		t.Errorf("%d levels, want %d", levels, depth)
	}
	deepest := v.childIDs(at)[0]
	v.Ask("/api/block/appendBlock", object{"dataType": "markdown", "data": "at the bottom", "parentID": deepest})
	if crumbs := v.Ask("/api/block/getBlockBreadcrumb", object{"id": deepest}).Array(); len(crumbs) != depth+1 {
		t.Errorf("the way down has %d steps, want %d", len(crumbs), depth+1)
	}
	if !strings.Contains(v.Text(id), "at the bottom") {
		t.Error("what was appended at the bottom is not there")
	}
	v.wantSoundTree(id)
}
