package notes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// object is a JSON object.
type object = map[string]any

// place is a notebook with its content. Its ids and words are derived from its code, so that those of a place that
// does not exist have the same form.
type place struct {
	code, cjk string            // such as "opn", and Chinese characters, which JSON and URLs may escape
	nb        kernel.ID         // of the notebook
	cards     map[string]string // flashcard ids by part
	kernelIDs []string          // ids chosen by the kernel
}

// id returns the id of a part: a block, a database, a row or a column. A part is named by four characters, such as "par2" for a
// second paragraph or "docr" for the document r, since the id ends in seven: three of the place and four of the part.
func (p *place) id(part string) kernel.ID { return kernel.ID("20240102030405-" + p.code + part) }

// word returns a word that occurs in one field of the place and nowhere else.
func (p *place) word(field string) string { return "zq" + p.code + field }

// name returns the name of the notebook.
func (p *place) name() string { return p.word("name") + " " + p.cjk }

// title returns the title of the document d, such as "a".
func (p *place) title(d string) string { return p.word("title"+d) + " " + p.cjk }

// hpath returns the path of titles that leads to a document at the top of the notebook.
func (p *place) hpath(d string) string { return "/" + p.title(d) }

// notePath returns that path behind the name of the notebook, as the tool fs takes it.
func (p *place) notePath(d string) string { return "/" + p.name() + p.hpath(d) }

// path returns the path of ids that leads to a document at the top of the notebook.
func (p *place) path(d string) string { return "/" + string(p.id("doc"+d)) + ".sy" }

// childHPath returns the path of titles that leads to the document c, which is below a.
func (p *place) childHPath() string { return p.hpath("a") + "/" + p.title("c") }

// childPath returns the path of ids that leads to a document below a.
func (p *place) childPath(d string) string {
	return "/" + string(p.id("doca")) + "/" + string(p.id("doc"+d)) + ".sy"
}

// asset returns the path of an image of the place in the folder of assets that all notebooks share.
func (p *place) asset(n string) string { return "assets/" + p.word(n) + ".png" }

// ownAsset returns the path of an image in the notebook's own folder of assets.
func (p *place) ownAsset(n string) string { return string(p.nb) + "/assets/" + p.word(n) + ".png" }

// cardID returns the id of the flashcard of a part, or an invented one if there is none.
func (p *place) cardID(part string) string {
	if c := p.cards[part]; c != "" {
		return c
	}
	return string(p.id("cdp" + part[3:]))
}

// withNamesOf replaces the ids and words of the place other in a text by those of p, so that the answers about two places
// can be compared.
func (p *place) withNamesOf(other *place, text string) string {
	pairs := []string{"zq" + other.code, "zq" + p.code, "-" + other.code, "-" + p.code, other.cjk, p.cjk, string(other.nb), string(p.nb)}
	for _, part := range []string{"par2", "par3"} {
		pairs = append(pairs, other.cardID(part), p.cardID(part))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Folders, files and tags of the workspace that belong to no notebook.
const (
	pluginDir = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/"
	ownDir    = "/data/storage/petal/collie/"
	template  = "/data/templates/zqtemplate.md"
	querying  = "/data/templates/zqquery.md"
	sharedTag = "zqshared"
	sharedPic = "assets/zqshared.png"
)

// workspace is a kernel with three notebooks, the places open, in which everything is allowed, shut, whose level a test
// sets, and hidden, which nobody may read. The place ghost does not exist: it only has ids and names.
type workspace struct {
	*kerneltest.Kernel
	t                         testing.TB
	client                    *kernel.Client
	open, shut, hidden, ghost *place
	deck                      string
	referredIDs               []string // ids of hidden blocks that occur in the text of the open notebook
}

// layout describes the content of a workspace.
type layout struct {
	// withoutHidden leaves out the hidden notebook and everything in it.
	withoutHidden bool
	// refersToHidden makes the open notebook refer to things of the hidden one, in references and databases.
	refersToHidden bool
	// canaries makes the open notebook refer to hidden blocks by references, which a workspace without the hidden notebook
	// has too. It also binds a row of the open database to a hidden block, and puts words into the settings of the hidden
	// notebook.
	canaries bool
}

// newWorkspace makes a kernel with its notebooks and fills them.
func newWorkspace(t testing.TB, l layout) *workspace {
	t.Helper()
	k := kerneltest.New(t)
	w := &workspace{Kernel: k, t: t, client: kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token})}
	t.Cleanup(w.client.Close)
	w.open = &place{code: "opn", cjk: "公开暗号"}
	w.shut = &place{code: "sht", cjk: "关闭暗号"}
	w.hidden = &place{code: "hdn", cjk: "隐秘暗号", nb: "20240102030405-hdnnbnb"}
	w.ghost = &place{code: "gho", cjk: "空无暗号", nb: "20240102030405-ghonbnb"}
	k.File(template, []byte("zqtemplate text .action{ now | date \"2006\" }"))
	k.File(querying, []byte(".action{ range queryBlocks \"SELECT * FROM blocks\" }.action{ .Content } .action{ end }"))
	k.File("/data/"+sharedPic, []byte("shared"))
	w.post("/api/repo/initRepoKey", object{})
	places := []*place{w.open, w.shut, w.hidden}
	if l.withoutHidden {
		places = places[:2]
	}
	for _, p := range places {
		p.nb = kernel.ID(k.Notebook(p.name()))
	}
	if l.canaries {
		w.sortNotebookIDs(places)
	}
	w.deck = w.post("/api/riff/createRiffDeck", object{"name": "zqdeck"}).Get("id").String()
	for _, p := range places {
		other := w.open
		if p == w.open {
			other = w.shut
		}
		w.fillPlace(p, other)
	}
	if !l.withoutHidden {
		w.addReferringDoc(w.hidden, w.open)
	}
	if l.refersToHidden {
		w.connectInEveryWay(w.open, w.hidden)
	}
	if l.canaries {
		w.addReferringDoc(w.open, w.hidden)
		for _, part := range []string{"par2", "doca", "head", "par3"} {
			w.referredIDs = append(w.referredIDs, string(w.hidden.id(part)))
		}
	}
	if l.canaries && !l.withoutHidden {
		w.addBoundRow(w.open, w.hidden, "rowx", "par4")
		_, err := w.client.SetNotebookConf(t.Context(), w.hidden.nb, object{
			"dailyNoteSavePath": "/" + w.hidden.word("save"), "docCreateSavePath": "/" + w.hidden.word("create"), "refCreateSavePath": "/" + w.hidden.word("ref"),
		})
		w.must(err)
	}
	w.must(w.client.FlushNow(t.Context()))
	for _, p := range places {
		w.recordKernelIDs(p)
	}
	k.ResetCalls()
	return w
}

// sortNotebookIDs exchanges the notebooks of places so that their ids, which the kernel makes at random, sort in the order of
// places.
func (w *workspace) sortNotebookIDs(places []*place) {
	w.t.Helper()
	ids := make([]kernel.ID, len(places))
	for i, p := range places {
		ids[i] = p.nb
	}
	slices.Sort(ids)
	for i, p := range places {
		p.nb = ids[i]
		w.must(w.client.RenameNotebook(w.t.Context(), p.nb, p.name()))
	}
}

// useTransport makes the client reach the kernel through the transport rt.
func (w *workspace) useTransport(rt http.RoundTripper) {
	w.client = kernel.New(w.URL(), kernel.Options{Token: kerneltest.Token, Transport: rt})
	w.t.Cleanup(w.client.Close)
}

// must fails the test if err is not nil.
func (w *workspace) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// post asks an endpoint for which the client has no method, and returns the data of the answer.
func (w *workspace) post(path string, body any) gjson.Result {
	w.t.Helper()
	raw, err := json.Marshal(body)
	w.must(err)
	resp, err := http.Post(w.URL()+path, "application/json", strings.NewReader(string(raw)))
	w.must(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	w.must(err)
	if code := gjson.GetBytes(answer, "code").Int(); code != 0 {
		w.t.Fatalf("%s %s: %s", path, raw, answer)
	}
	return gjson.GetBytes(answer, "data")
}

// fillPlace puts content of every kind into the notebook p, with a reference to the notebook other.
func (w *workspace) fillPlace(p, other *place) {
	w.t.Helper()
	w.File("/data/"+p.asset("pic"), []byte(p.word("bytes")))
	w.File("/data/"+p.asset("file"), []byte(p.word("bytes")))
	w.File("/data/"+p.ownAsset("own"), []byte(p.word("bytes")))
	w.File("/data/"+p.ownAsset("lone"), []byte(p.word("bytes")))
	w.createDoc(p, "a", p.hpath("a"), everyBlockType(p, other))
	w.createDoc(p, "b", p.hpath("b"), blocksWithIDs(p, "second", "hedb", "### @heading2 common", "parb", "@second common", "pard", "@third"))
	w.createDoc(p, "c", p.childHPath(), blocksWithIDs(p, "child", "parc", "@child common"))
	w.createDoc(p, "d", p.hpath("a")+"/"+p.title("d"), blocksWithIDs(p, "child", "parg", "@child2 common"))
	w.must(w.client.SetAttrs(w.t.Context(), p.id("doca"), map[string]string{
		"name": p.word("docname"), "alias": p.word("docalias"), "memo": p.word("docmemo"), "bookmark": p.word("docbookmark"), "custom-zq": p.word("doccustom"),
	}))
	w.post("/api/asset/setImageOCRText", object{"path": p.asset("pic"), "text": p.word("ocr")})
	w.createDatabase(p)
	_, err := w.client.AddCards(w.t.Context(), kernel.BuiltInDeck, []kernel.ID{p.id("par2")})
	w.must(err)
	_, err = w.client.AddCards(w.t.Context(), kernel.ID(w.deck), []kernel.ID{p.id("par3")})
	w.must(err)
	p.cards = map[string]string{}
	for part, d := range map[string]kernel.ID{"par2": kernel.BuiltInDeck, "par3": kernel.ID(w.deck)} {
		due, err := w.client.DueInDeck(w.t.Context(), d)
		w.must(err)
		for _, c := range due.Cards {
			if c.BlockID == p.id(part) {
				p.cards[part] = string(c.CardID)
			}
		}
	}
	_, err = w.client.AddToDailyNote(w.t.Context(), p.nb, "markdown", p.word("daily")+" common", true)
	w.must(err)
}

// createDoc creates the document d of a place.
func (w *workspace) createDoc(p *place, d, hpath, markdown string) {
	w.t.Helper()
	got, err := w.client.CreateDocument(w.t.Context(), p.nb, hpath, markdown, p.id("doc"+d))
	w.must(err)
	if got != p.id("doc"+d) {
		w.t.Fatalf("document %s has the id %s", p.id("doc"+d), got)
	}
}

// blocksWithIDs returns Markdown of blocks with ids. pairs alternate between a part and a text; @x in a text becomes a
// word of the place. Each block has an attribute whose value is the word that group makes.
func blocksWithIDs(p *place, group string, pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s\n{: id=%q custom-zqgroup=%q}\n\n", strings.ReplaceAll(pairs[i+1], "@", "zq"+p.code), p.id(pairs[i]), p.word(group))
	}
	return b.String()
}

// everyBlockType returns a document with a block of every type.
func everyBlockType(p, other *place) string {
	shared := sharedPic
	if p.code == "hdn" { // an asset that a hidden notebook uses does not exist for any caller, whoever else uses it
		shared = p.asset("pic")
	}
	return blocksWithIDs(p, "first",
		"head", "## @heading common",
		"para", "@para 100% & <"+p.word("angle")+"> "+p.cjk+" common #@tag# #"+sharedTag+"# [@link]("+p.asset("file")+")",
		"par2", "@two common ==@mark==",
		"par3", "@three common",
		"refp", "@refers (("+string(other.id("par3"))+" \"@anchor\"))",
		"list", "- {: id=\""+string(p.id("item"))+"\"}@item common\n- @item2",
		"quot", "> @quote",
		"supr", "{{{row\n@super1\n\n@super2\n}}}",
		"code", "```go\n@code\n```",
		"math", "$$\n@math\n$$",
		"tabl", "| @cell1 | b |\n| --- | --- |\n| c | @cell2 |",
		"html", "<div>@html</div>",
		"ifra", `<iframe src="https://@frame.example"></iframe>`,
		"embd", "{{select * from blocks where id='"+string(p.id("par3"))+"'}}",
		"imgp", "![@alt]("+p.asset("pic")+" \"@imgtitle\") ![](assets/"+p.word("own")+".png) ![]("+shared+")",
		"par4", "@four spare",
		"dbbl", fmt.Sprintf(`<div data-type="NodeAttributeView" data-av-id="%s" data-av-type="table"></div>`, p.id("daba")),
	) + fmt.Sprintf("@named\n{: id=%q name=%q alias=%q memo=%q bookmark=%q}\n",
		p.id("attr"), p.word("attrname"), p.word("attralias"), p.word("attrmemo"), p.word("attrbookmark"))
}

// createDatabase makes the database of a place, with one row bound to a block and one row of its own text.
func (w *workspace) createDatabase(p *place) {
	w.t.Helper()
	db := p.id("daba")
	_, err := w.client.RenderDatabase(w.t.Context(), kernel.Rendering{ID: db, Block: p.id("dbbl"), Create: true})
	w.must(err)
	w.runOperation(kernel.Operation{"action": "setAttrViewName", "id": db, "data": p.word("dbname") + " common"})
	w.runOperation(kernel.Operation{"action": "addAttrViewCol", "avID": db, "id": p.id("colt"), "name": p.word("column"), "type": "text", "data": "", "previousID": ""})
	w.addBoundRow(p, p, "rowb", "par2")
	w.runOperation(kernel.Operation{"action": "insertAttrViewBlock", "avID": db, "blockID": p.id("dbbl"), "srcs": []any{
		object{"itemID": p.id("rowd"), "isDetached": true, "content": p.word("row") + " common"},
	}})
	w.runOperation(kernel.Operation{"action": "updateAttrViewCell", "avID": db, "keyID": p.id("colt"), "rowID": p.id("rowd"), "data": object{
		"text": object{"content": p.word("cell")},
	}})
}

// addBoundRow adds a row to the database of p that is bound to a block of the place of.
func (w *workspace) addBoundRow(p, of *place, row, part string) {
	w.t.Helper()
	w.runOperation(kernel.Operation{"action": "insertAttrViewBlock", "avID": p.id("daba"), "blockID": p.id("dbbl"), "srcs": []any{
		object{"itemID": p.id(row), "id": of.id(part), "isDetached": false},
	}})
}

// idForm matches ids of the kernel.
var idForm = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)

// recordKernelIDs records the ids in a place that the kernel has chosen.
func (w *workspace) recordKernelIDs(p *place) {
	w.t.Helper()
	rows := w.post("/api/query/sql", object{"stmt": "SELECT id FROM blocks WHERE box = '" + string(p.nb) + "' LIMIT 1000"}).Raw
	av := w.post("/api/av/getAttributeView", object{"id": p.id("daba")}).Raw
	for _, id := range append(idForm.FindAllString(rows+av, -1), p.cardID("par2"), p.cardID("par3")) {
		if !strings.Contains(id, "-opn") && !strings.Contains(id, "-sht") && !strings.Contains(id, "-hdn") && !slices.Contains(p.kernelIDs, id) {
			p.kernelIDs = append(p.kernelIDs, id)
		}
	}
}

// createSecondDatabase makes another database of p, with a row bound to a block of the place of.
func (w *workspace) createSecondDatabase(p, of *place) {
	w.t.Helper()
	db := p.id("dabx")
	dom := fmt.Sprintf(`<div data-node-id="%s" data-type="NodeAttributeView" data-av-id="%s" data-av-type="table"></div>`, p.id("dbbx"), db)
	_, err := w.client.Append(w.t.Context(), p.id("docb"), "dom", dom)
	w.must(err)
	_, err = w.client.RenderDatabase(w.t.Context(), kernel.Rendering{ID: db, Block: p.id("dbbx"), Create: true})
	w.must(err)
	w.runOperation(kernel.Operation{"action": "setAttrViewName", "id": db, "data": p.word("dbname2") + " common"})
	w.runOperation(kernel.Operation{"action": "insertAttrViewBlock", "avID": db, "blockID": p.id("dbbx"), "srcs": []any{
		object{"itemID": p.id("rowy"), "id": of.id("par4"), "isDetached": false},
	}})
}

// runOperation runs one operation in a transaction of the kernel.
func (w *workspace) runOperation(op kernel.Operation) {
	w.t.Helper()
	_, err := w.client.Transact(w.t.Context(), 1, op)
	w.must(err)
}

// addReferringDoc adds a document to p that refers to blocks and documents of the place other.
func (w *workspace) addReferringDoc(p, other *place) {
	w.t.Helper()
	w.createDoc(p, "r", p.hpath("r"), blocksWithIDs(p, "refers",
		"re01", "@ref1 (("+string(other.id("par2"))+" \"@anchor2\"))",
		"re02", "@ref2 (("+string(other.id("doca"))+" \"@anchor3\")) (("+string(other.id("head"))+" \"@anchor4\"))",
		"re03", "@mentions "+mentions(p, other),
		"re04", "{{select * from blocks where id='"+string(other.id("par3"))+"'}}",
	))
}

// mentions returns words of other that a document of p mentions. Documents of the open notebook mention none, because
// what they say is not secret.
func mentions(p, other *place) string {
	if p.code == "opn" {
		return ""
	}
	return other.word("docname") + " " + other.title("a") + " " + other.word("attrname")
}

// addCopyingDoc adds a document to p with texts of the place other, in the forms in which SiYuan copies them: anchors of
// references that follow the text of their blocks, in every kind of block, and anchors of blocks that have such an
// anchor.
func (w *workspace) addCopyingDoc(p, other *place) {
	w.t.Helper()
	two, heading, title := other.word("two")+" common", other.word("heading")+" common", other.title("a")
	ref := func(part, anchor string) string { return "((" + string(other.id(part)) + " '" + anchor + "'))" }
	w.createDoc(p, "s", p.hpath("s"), blocksWithIDs(p, "copies",
		"co01", "@copy1 "+ref("par2", two)+" and **"+ref("doca", title)+"**",
		"co02", "## @copy2 "+ref("head", heading),
		"co03", "> @copy3 "+ref("par2", two),
		"co04", "- @copy4 "+ref("par2", two),
		"co05", "{{{row\n@copy5 "+ref("par2", two)+"\n\n@copy6\n}}}",
		"co06", "| "+ref("par2", two)+" | b |\n| --- | --- |\n| c | d |",
		"co08", "@copy8 (("+string(p.id("co01"))+" '@copy1 "+two+"'))",
	))
	_, err := w.client.AddCards(w.t.Context(), kernel.BuiltInDeck, []kernel.ID{p.id("co01"), p.id("co02"), p.id("co08")})
	w.must(err)
}

// connectInEveryWay connects p and other in every way: references, copied texts, rows of databases in both directions, and a
// relation with a rollup.
func (w *workspace) connectInEveryWay(p, other *place) {
	w.t.Helper()
	w.addReferringDoc(p, other)
	w.referredIDs = nil
	for _, part := range []string{"par2", "doca", "head", "par3"} {
		w.referredIDs = append(w.referredIDs, string(other.id(part)))
	}
	w.addCopyingDoc(p, other)
	w.addBoundRow(p, other, "rowx", "par4")
	w.addBoundRow(p, p, "rowc", "co01")
	w.createSecondDatabase(other, p)
	db, rel, roll := p.id("daba"), p.id("colr"), p.id("colu")
	w.runOperation(kernel.Operation{"action": "addAttrViewCol", "avID": db, "id": rel, "name": p.word("relation"), "type": "relation", "data": "", "previousID": p.id("colt")})
	w.runOperation(kernel.Operation{"action": "updateAttrViewColRelation", "avID": db, "keyID": rel, "id": other.id("daba"), "backRelationKeyID": "", "isTwoWay": false, "name": "", "format": ""})
	w.runOperation(kernel.Operation{"action": "addAttrViewCol", "avID": db, "id": roll, "name": p.word("rollup"), "type": "rollup", "data": "", "previousID": rel})
	w.runOperation(kernel.Operation{"action": "updateAttrViewColRollup", "id": roll, "avID": db, "parentID": rel, "keyID": other.id("colt"), "data": object{"calc": object{"operator": ""}}})
	w.runOperation(kernel.Operation{"action": "updateAttrViewCell", "avID": db, "keyID": rel, "rowID": p.id("rowd"), "data": object{
		"relation": object{"blockIDs": []any{other.id("rowd")}},
	}})
	// The index holds a database as it was when its block was last written, so write the block.
	w.must(w.client.SetAttrs(w.t.Context(), p.id("dbbl"), map[string]string{"memo": p.word("dbmemo")}))
}
