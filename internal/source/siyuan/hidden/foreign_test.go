package hidden_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
	"collie/test/await"
)

// twoNotebooks is a workspace with a notebook that may be written and one that is hidden. The hidden one has one thing of each
// kind that a text can name.
type twoNotebooks struct {
	*kerneltest.Kernel
	t      testing.TB
	client *kernel.Client
	source *siyuan.Source

	open, hidden string // notebooks
	doc          string // to write into
	openBlock    string // a block of it
	hiddenBlock  string // a hidden block
	database     string // that a hidden block shows
	asset        string // that a hidden note shows
	profileLevel string // level of the open notebook for the profile of the caller, which hides the other; empty where no profile does
}

// Ids and paths of that workspace. nowhere and noAsset do not exist; they have the same form as those of hidden things.
const (
	nowhere      = "20240101000000-zzzzzzz"
	noAsset      = "assets/none-20240101000000-zzzzzzz.txt"
	hiddenDB     = "20240801120000-hiddndb"
	hiddenAsset  = "assets/hidn-20240801120000-aaaaaaa.txt"
	sharedAsset  = "assets/both-20240801120000-bbbbbbb.txt"
	visibleAsset = "assets/open-20240801120000-ccccccc.txt"
)

func newTwoNotebooks(t testing.TB) *twoNotebooks {
	t.Helper()
	w := &twoNotebooks{Kernel: kerneltest.New(t), t: t, database: hiddenDB, asset: hiddenAsset}
	w.client = kernel.New(w.URL(), kernel.Options{Token: "TEST_TOKEN"})
	t.Cleanup(w.client.Close)
	w.open, w.hidden = w.Notebook("Open"), w.Notebook("Hidden")
	for _, path := range []string{hiddenAsset, sharedAsset, visibleAsset} {
		w.File("/data/"+path, []byte("text of "+path))
	}
	secret := w.Doc(w.hidden, "/Secret", "hidden text\n\n[a]("+hiddenAsset+") [b]("+sharedAsset+")\n\n"+
		`<div data-type="NodeAttributeView" data-av-id="`+hiddenDB+`" data-av-type="table"></div>`)
	w.hiddenBlock = w.blocksOf(secret)[0]
	if _, err := w.client.RenderDatabase(t.Context(), kernel.Rendering{ID: hiddenDB, Block: kernel.ID(w.blocksOf(secret)[2]), Create: true}); err != nil {
		t.Fatal(err)
	}
	w.doc = w.Doc(w.open, "/Doc", "first\n\n[a]("+sharedAsset+") [b]("+visibleAsset+")")
	w.openBlock = w.blocksOf(w.doc)[0]
	w.setOpenLevel("rwd")
	w.switchAllOn()
	w.source = siyuan.New(siyuan.Options{Kernel: w.client, Safety: safety.Open(safety.Options{Dir: t.TempDir()}), Ceiling: w.ceilingOf})
	t.Cleanup(w.source.Close)
	return w
}

// switchAllOn switches every action on.
func (w *twoNotebooks) switchAllOn() {
	w.t.Helper()
	config := object{}
	for _, tl := range siyuan.Tools() {
		on := object{}
		for _, a := range tl.Actions {
			on[a.Name] = true
		}
		config[tl.Name] = object{"enabled": true, "actions": on}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.File("/data/storage/petal/collie/mcpToolsConfig", raw)
}

// setOpenLevel hides the hidden notebook and gives the open one a level.
func (w *twoNotebooks) setOpenLevel(level string) {
	hidden := "none"
	if byProfile(w.t) {
		w.profileLevel, level, hidden = level, "rwd", "rwd"
	}
	w.File("/data/storage/petal/collie/notebookPermissions", fmt.Appendf(nil, `{%q:%q,%q:%q}`, w.open, level, w.hidden, hidden))
}

// blocksOf returns the ids of the blocks of a document.
func (w *twoNotebooks) blocksOf(doc string) []string {
	w.t.Helper()
	list, err := w.client.ChildBlocks(w.t.Context(), kernel.ID(doc))
	if err != nil || len(list) == 0 {
		w.t.Fatalf("blocks of %s: %v, %v", doc, list, err)
	}
	var ids []string
	for _, b := range list {
		ids = append(ids, string(b.ID))
	}
	return ids
}

// runAction runs "tool.action" as a client on this machine would have it run.
func (w *twoNotebooks) runAction(name string, args map[string]any) (gjson.Result, error) {
	w.t.Helper()
	tl, act, _ := strings.Cut(name, ".")
	raw, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.source.Run(w.t.Context(), &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPLocal, Profile: "work"},
		Tool:    tl, Action: &tool.Action{Name: act}, Args: raw,
	})
	return gjson.GetBytes(res.Raw, "content.0.text"), err
}

// mustRun is like runAction, and fails the test if the action fails.
func (w *twoNotebooks) mustRun(name string, args map[string]any) gjson.Result {
	w.t.Helper()
	got, err := w.runAction(name, args)
	if err != nil {
		w.t.Fatalf("%s %v: %v", name, args, err)
	}
	return gjson.Parse(got.Str)
}

type object = map[string]any

// textWriter writes a text into the open notebook, and says which block or document then has it.
type textWriter struct {
	dom   bool
	write func(w *twoNotebooks, text string) (id string, err error)
}

// runForID runs an action and returns the id at a path of its result.
func runForID(w *twoNotebooks, path, name string, args object) (string, error) {
	got, err := w.runAction(name, args)
	return gjson.Get(got.Str, path).Str, err
}

// paragraphDOM returns the DOM of a paragraph, as the editor writes it.
func paragraphDOM(text string) string {
	return `<div data-node-id="` + string(kernel.NewID()) + `" data-type="NodeParagraph" class="p"><div contenteditable="true" spellcheck="false">` + text + `</div></div>`
}

// textWriters has all ways in which a text can get into a note, by action.
var textWriters = map[string]textWriter{
	"block.append": {write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "block.append", object{"dataType": "markdown", "data": text, "parentID": w.doc})
	}},
	"block.append dom": {dom: true, write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "block.append", object{"dataType": "dom", "data": text, "parentID": w.doc})
	}},
	"block.prepend": {write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "block.prepend", object{"dataType": "markdown", "data": text, "parentID": w.doc})
	}},
	"block.insert": {write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "block.insert", object{"dataType": "markdown", "data": text, "previousID": w.openBlock})
	}},
	"block.insert several": {dom: true, write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "block.insert", object{"blocks": []object{{"dataType": "dom", "data": text, "previousID": w.openBlock}}})
	}},
	"block.update": {write: func(w *twoNotebooks, text string) (string, error) {
		_, err := w.runAction("block.update", object{"id": w.openBlock, "dataType": "markdown", "data": text})
		return w.openBlock, err
	}},
	"block.update dom": {dom: true, write: func(w *twoNotebooks, text string) (string, error) {
		_, err := w.runAction("block.update", object{"id": w.openBlock, "dataType": "dom", "data": text})
		return w.openBlock, err
	}},
	"block.replace": {write: func(w *twoNotebooks, text string) (string, error) {
		id := w.mustRun("block.append", object{"dataType": "markdown", "data": "old", "parentID": w.doc}).Get("id").Str
		_, err := w.runAction("block.replace", object{"id": id, "edit": object{"old": "old", "new": text}})
		return id, err
	}},
	"block.replace in pieces": {write: func(w *twoNotebooks, text string) (string, error) {
		id := w.mustRun("block.append", object{"dataType": "markdown", "data": "qq", "parentID": w.doc}).Get("id").Str
		half := strings.Index(text, "20")
		if half < 0 {
			half = len(text) / 2
		}
		_, err := w.runAction("block.replace", object{"id": id, "edit": []object{{"old": "qq", "new": text[:half] + "qq"}, {"old": "qq", "new": text[half:]}}})
		return id, err
	}},
	"block.add_to_daily_note": {write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "block.add_to_daily_note", object{"notebook": w.open, "dataType": "markdown", "data": text, "position": "append"})
	}},
	"fs.write": {write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "fs.write", object{"path": "/Open/" + string(kernel.NewID()), "markdown": text})
	}},
	"fs.write overwrite": {write: func(w *twoNotebooks, text string) (string, error) {
		id := w.mustRun("fs.write", object{"path": "/Open/" + string(kernel.NewID()), "markdown": "old"}).Get("id").Str
		_, err := w.runAction("fs.write", object{"path": "/Open/" + w.titleOf(id), "markdown": text, "overwrite": true})
		return id, err
	}},
	"fs.replace": {write: func(w *twoNotebooks, text string) (string, error) {
		id := w.mustRun("fs.write", object{"path": "/Open/" + string(kernel.NewID()), "markdown": "old"}).Get("id").Str
		_, err := w.runAction("fs.replace", object{"path": "/Open/" + w.titleOf(id), "edit": object{"old": "old", "new": text}})
		return id, err
	}},
	"document.create": {write: func(w *twoNotebooks, text string) (string, error) {
		return runForID(w, "id", "document.create", object{"notebook": w.open, "path": "/" + string(kernel.NewID()), "markdown": text})
	}},
	"search.find_replace": {write: func(w *twoNotebooks, text string) (string, error) {
		id := w.mustRun("block.append", object{"dataType": "markdown", "data": "a qqq b", "parentID": w.doc}).Get("id").Str
		_, err := w.runAction("search.find_replace", object{"k": "qqq", "r": text, "ids": []string{id}})
		return id, err
	}},
}

// skipOnRealKernel skips a way with a real kernel, which would take minutes for all of them, unless it is one of a few that differ.
func (w *twoNotebooks) skipOnRealKernel(name string) {
	if !slices.Contains([]string{"block.append", "block.append dom", "block.replace", "document.create", "search.find_replace"}, name) {
		w.NeedsVault("another way is the same to the kernel")
	}
}

// titleOf returns the title of a document at the top of its notebook.
func (w *twoNotebooks) titleOf(doc string) string {
	hpath, err := w.client.HPathByID(w.t.Context(), kernel.ID(doc))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimPrefix(hpath, "/")
}

// domOf returns the current content of a block or document in the editor's form.
func (w *twoNotebooks) domOf(id string) string {
	w.t.Helper()
	dom, err := w.client.DOM(w.t.Context(), kernel.ID(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return dom
}

// referenceForms are the forms of a reference to a block.
var referenceForms = []string{
	"see ((ID 'x')) there", "see ((ID)) there", "see (( ID\n'x' )) there", "- ((ID 'x'))", "| ((ID 'x')) |\n|---|", "**((ID 'x'))**", "[((ID 'x'))](u)",
	`a <span data-type="block-ref" data-id="ID" data-subtype="d">x</span> b`, `a <span data-id="ID" data-subtype="d" data-type="strong block-ref">x</span> b`,
	`((ID "((ID '"))x'))`, `((((ID "ID 'x'"))))`, "`` ((ID 'x'))", "\\`((ID 'x'))`", "    ((ID 'x'))", "$ ((ID 'x'))",
	"&#40;&#40;ID 'x'))", "((&#50;0REST 'x'))",
}

var zeroWidth = strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "")

// TestReferencesToWhatIsHiddenAreText: in whatever way a text is written, it refers to nothing that its writer cannot
// see, and what is hidden becomes what something becomes that does not exist.
func TestReferencesToWhatIsHiddenAreText(t *testing.T) {
	for name, way := range textWriters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTwoNotebooks(t)
			w.skipOnRealKernel(name)
			for i, form := range referenceForms {
				if await.Race && i%4 != 0 { // the same code runs for each
					continue
				}
				if name == "search.find_replace" && strings.ContainsAny(form, "\n|") {
					continue
				}
				shown := map[string]string{}
				for _, id := range []string{w.hiddenBlock, nowhere} {
					text := strings.NewReplacer("ID", id, "REST", strings.TrimPrefix(id, "20")).Replace(form)
					if way.dom {
						text = paragraphDOM(strings.ReplaceAll(text, "\n", " "))
					}
					at, err := way.write(w, text)
					if err != nil && strings.Contains(name, ".replace") && strings.Contains(form, "<span") {
						shown[id] = "refused" // an edit is refused if its result would be shown otherwise than it was written
						continue
					}
					if err != nil {
						t.Errorf("%q: %v", form, err)
						continue
					}
					dom := zeroWidth.Replace(w.domOf(at))
					if strings.Contains(dom, `data-id="`+id+`"`) || strings.Contains(dom, `data-subtype="d"`) {
						t.Errorf("%q refers to %s: %s", form, id, dom)
					}
					shown[id] = strings.ReplaceAll(withoutChangingAttrs(dom), id, "ID")
				}
				if shown[w.hiddenBlock] != shown[nowhere] {
					t.Errorf("%q: what is hidden is told from what does not exist:\n%s\n%s", form, shown[w.hiddenBlock], shown[nowhere])
				}
			}
		})
	}
}

// changingAttrs matches the attributes that differ between two blocks of the same text.
var changingAttrs = regexp.MustCompile(`(?:data-node-id|updated|data-node-index|id|data-av-id|custom-dailynote-\d+|colgroup)="[^"]*"`)

func withoutChangingAttrs(dom string) string {
	return strings.Join(strings.Fields(changingAttrs.ReplaceAllString(dom, "")), " ")
}

// TestReferencesThatStoodStay: a person's own reference to a hidden block stays one where a text around it is changed,
// and an anchor that stays does not begin to follow the block.
func TestReferencesThatStoodStay(t *testing.T) {
	t.Parallel()
	w := newTwoNotebooks(t)
	doc := w.Doc(w.open, "/Person", "see (("+w.hiddenBlock+" 'mine')) here\n\nsee (("+w.hiddenBlock+" \"fixed\")) here")
	blocks := w.blocksOf(doc)
	w.mustRun("block.replace", object{"id": blocks[0], "edit": object{"old": "here", "new": "there"}})
	w.mustRun("block.update", object{"id": blocks[1], "dataType": "markdown", "data": "now ((" + w.hiddenBlock + " 'fixed'))"})
	if dom := w.domOf(blocks[0]); !strings.Contains(dom, `data-subtype="d"`) || !strings.Contains(dom, "there") {
		t.Errorf("a reference that follows its block: %s", dom)
	}
	if dom := w.domOf(blocks[1]); !strings.Contains(dom, `data-subtype="s"`) || !strings.Contains(dom, "now") {
		t.Errorf("a reference whose anchor stays: %s", dom)
	}
	w.mustRun("fs.write", object{"path": "/Open/Person", "markdown": "all new, see ((" + w.hiddenBlock + " 'mine'))", "overwrite": true})
	if dom := w.domOf(doc); !strings.Contains(dom, `data-id="`+w.hiddenBlock+`"`) {
		t.Errorf("an overwritten document: %s", dom)
	}
}

// TestDatabasesOfOthersAreRefused: no text shows a database that its writer cannot see, and a hidden one is refused as
// one that does not exist.
func TestDatabasesOfOthersAreRefused(t *testing.T) {
	for name, way := range textWriters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "search.find_replace" {
				t.Skip("replacing in a text makes no block")
			}
			w := newTwoNotebooks(t)
			w.skipOnRealKernel(name)
			for _, form := range []string{
				`<div data-type="NodeAttributeView" data-av-id="ID" data-av-type="table"></div>`, `<div data-av-id="ID" data-type="NodeAttributeView"></div>`,
				"text\n\n<div data-type=\"NodeAttributeView\" data-av-id='ID'></div>", `<div data-type="NodeAttributeView" data-av-id="&#50;0REST"></div>`,
			} {
				var told []string
				for _, id := range []string{w.database, nowhere} {
					text := strings.NewReplacer("ID", id, "REST", strings.TrimPrefix(id, "20")).Replace(form)
					at, err := way.write(w, text)
					e, ok := errors.AsType[*tool.Error](err)
					if !ok {
						t.Errorf("%q was written, into %s", text, at)
						continue
					}
					told = append(told, timeLike.ReplaceAllString(strings.ReplaceAll(string(e.Payload()), id, "ID"), "TIME"))
				}
				if len(told) == 2 && told[0] != told[1] {
					t.Errorf("%q: what is hidden is told from what does not exist:\n%s\n%s", form, told[0], told[1])
				}
			}
			for _, name := range []string{"av.render", "av.get"} {
				if got, err := w.runAction(name, object{"id": w.database}); tool.KindOf(err) != tool.NotFound {
					t.Errorf("%s: %s, %v", name, got.Raw, err)
				}
			}
		})
	}
}

// TestNewDatabasesMayBeWritten: a block that names no database is a new one, and a database that its writer sees may be
// shown once more.
func TestNewDatabasesMayBeWritten(t *testing.T) {
	t.Parallel()
	w := newTwoNotebooks(t)
	const mine = "20240801120000-mydb001"
	got := w.mustRun("av.render", object{"id": mine, "createIfNotExist": true, "blockID": w.openBlock})
	if !got.Get("materialized").Bool() {
		t.Fatalf("made %s", got.Raw)
	}
	w.mustRun("block.append", object{"dataType": "markdown", "data": `<div data-type="NodeAttributeView" data-av-id="` + mine + `" data-av-type="table"></div>`, "parentID": w.doc})
	w.mustRun("block.append", object{"dataType": "markdown", "data": "```html\n<div data-type=\"NodeAttributeView\" data-av-id=\"" + nowhere + "\"></div>\n```", "parentID": w.doc})
}

// linkForms are the forms in which a text shows an asset.
var linkForms = []string{
	"[t](PATH)", "![t](PATH)", "[t](<PATH>)", "[t]( PATH \"title\")", "![t](PATH?x=1)", "[t](&#97;REST)", "[t](\nPATH)", `a <img src="PATH"> b`, `<video controls="controls" src="PATH"></video>`,
	`<iframe src='PATH'></iframe>`, `a <span data-type="a" data-href="PATH">t</span> b`, "| ![t](PATH) |\n|---|", "`` [t](PATH)", "    ![t](PATH)",
	"[[t](PATH)](PATH)",
}

// TestLinksToAssetsOfOthersAreText: a text cannot show an asset that its writer cannot see, so naming an asset
// does not give access to it.
func TestLinksToAssetsOfOthersAreText(t *testing.T) {
	for name, way := range textWriters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTwoNotebooks(t)
			w.skipOnRealKernel(name)
			for i, form := range linkForms {
				if await.Race && i%4 != 0 { // the same code runs for each
					continue
				}
				if name == "search.find_replace" && strings.ContainsAny(form, "\n|") {
					continue
				}
				shown := map[string]string{}
				for _, path := range []string{w.asset, sharedAsset, noAsset} {
					text := strings.NewReplacer("PATH", path, "REST", path[1:]).Replace(form)
					if way.dom {
						text = paragraphDOM(strings.ReplaceAll(text, "\n", " "))
					}
					at, err := way.write(w, text)
					if err != nil {
						t.Errorf("%q: %v", form, err)
						continue
					}
					shown[path] = strings.NewReplacer(path[1:], "PATH", strings.TrimSuffix(path, ".txt"), "PATH").Replace(withoutChangingAttrs(zeroWidth.Replace(w.domOf(at))))
				}
				if shown[w.asset] != shown[noAsset] || shown[sharedAsset] != shown[noAsset] {
					t.Errorf("%q: what is hidden is told from what does not exist:\n%s\n%s\n%s", form, shown[w.asset], shown[sharedAsset], shown[noAsset])
				}
			}
			if err := w.client.FlushNow(t.Context()); err != nil {
				t.Fatal(err)
			}
			rows, err := kernel.SQL[object](t.Context(), w.client, "SELECT * FROM assets WHERE box = '"+w.open+"' AND instr(path, 'hidn') > 0 LIMIT 10")
			if err != nil || len(rows) > 0 {
				t.Errorf("notes of the open notebook use %v, %v", rows, err)
			}
		})
	}
}

// TestAssetsThatMayBeLinked: a text may show unused assets and those that its writer sees.
func TestAssetsThatMayBeLinked(t *testing.T) {
	t.Parallel()
	w := newTwoNotebooks(t)
	const fresh = "assets/new-20240801120000-ddddddd.txt"
	w.File("/data/"+fresh, []byte("new"))
	for _, path := range []string{visibleAsset, fresh} {
		got := w.mustRun("block.append", object{"dataType": "markdown", "data": "[t](" + path + ")", "parentID": w.doc})
		if dom := w.domOf(got.Get("id").Str); !strings.Contains(dom, `data-href="`+path+`"`) || got.Get("warning").Exists() {
			t.Errorf("%s: %s, %s", path, dom, got.Raw)
		}
	}
	for attr, value := range map[string]string{"title-img": `background-image:url("/` + hiddenAsset + `")`, "custom-file": hiddenAsset} {
		for _, path := range []string{hiddenAsset, sharedAsset, noAsset} {
			got, err := w.runAction("block.set_attrs", object{"id": w.doc, "attrs": object{attr: strings.ReplaceAll(value, hiddenAsset, path)}})
			if tool.KindOf(err) != tool.NotFound {
				t.Errorf("%s %s: %s, %v", attr, path, got.Raw, err)
			}
		}
		w.mustRun("block.set_attrs", object{"id": w.doc, "attrs": object{attr: strings.ReplaceAll(value, hiddenAsset, visibleAsset)}})
	}
	if got, err := w.runAction("document.set_attr", object{"id": w.doc, "attrs": object{"cover": hiddenAsset}}); tool.KindOf(err) != tool.NotFound {
		t.Errorf("cover: %s, %v", got.Raw, err)
	}
}

// TestScriptsInEmbeds: a script in an embed runs with the rights of whoever opens the note, so it is not admitted like
// other text.
func TestScriptsInEmbeds(t *testing.T) {
	t.Parallel()
	w := newTwoNotebooks(t)
	for _, text := range []string{"{{//!js return []}}", "{{ //!js\nreturn []}}"} {
		if got, err := w.runAction("block.append", object{"dataType": "markdown", "data": text, "parentID": w.doc}); tool.KindOf(err) != tool.Invalid {
			t.Errorf("%q: %s, %v", text, got.Raw, err)
		}
	}
	w.mustRun("block.append", object{"dataType": "markdown", "data": "{{select * from blocks limit 1}}", "parentID": w.doc})
}
