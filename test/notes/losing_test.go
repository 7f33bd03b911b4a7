package notes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"

	"collie/test/await"
)

// unaskedEdits are cases in which something disappears without a question, because the caller is editing it. They
// need rw, and undo restores what was lost.
var unaskedEdits = map[string]string{
	"fs.write overwrite":            "the text of a document is written anew",
	"fs.write overwrite by nothing": "the document stays, empty",
	"block.update of a container":   "the text of a block is written anew, and with it the blocks in it",
	"notebook.set_open_state close": "what is in a closed notebook is shown again when it is opened",
}

// lossesBelowDelete are cases in which something is lost after a question, and which need only rw.
var lossesBelowDelete = map[string]string{
	"av.remove_rows":               "rows are what a database holds, as text is what a block holds; bound blocks stay",
	"av.remove_column":             "as rows",
	"flashcard.remove_card":        "the block stays",
	"block.transfer_references to": "the reference stays, to another block",
	"block.transfer_references in": "the reference stays, to another block",
}

// emptyingCases are further cases that replace something by nothing.
var emptyingCases = []useCase{
	{act: "fs.write", how: "overwrite by nothing", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("p"), "markdown": " ", "overwrite": true}
	}},
	{act: "fs.replace", how: "by nothing", need: rw, args: func(_ *workspace, p *place) object {
		return object{"path": p.notePath("p"), "edit": object{"old": "plain " + p.word("plain"), "new": ""}}
	}},
	{act: "block.update", how: "by nothing", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "dataType": "markdown", "data": ""}
	}},
	{act: "block.update", how: "by space", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "dataType": "markdown", "data": "\n"}
	}},
	{act: "block.update", how: "by another block", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "dataType": "markdown", "data": "{: id=\"" + string(p.id("par3")) + "\"}"}
	}},
	{act: "block.update", how: "by an empty block", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "dataType": "dom", "data": "<div></div>"}
	}},
	{act: "block.replace", how: "by nothing", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("par4"), "edit": object{"old": p.word("four"), "new": ""}}
	}},
	{act: "block.update", how: "of a container", need: rw, args: func(_ *workspace, p *place) object {
		return object{"id": p.id("quot"), "dataType": "markdown", "data": "text"}
	}},
}

// inventory returns the things in a workspace that somebody would miss, each with the place where it is. The place
// of something in a notebook begins with the id of the notebook.
func (w *workspace) inventory() map[string]string {
	w.t.Helper()
	w.must(w.client.FlushNow(w.t.Context()))
	out := map[string]string{}
	rows := func(stmt string, f func(gjson.Result)) {
		for _, row := range w.post("/api/query/sql", object{"stmt": stmt + " LIMIT 10000"}).Array() {
			f(row)
		}
	}
	rows("SELECT id, root_id, box FROM blocks", func(row gjson.Result) {
		out["block "+row.Get("id").String()] = row.Get("box").String() + "/" + row.Get("root_id").String()
	})
	rows("SELECT block_id, def_block_id, box FROM refs", func(row gjson.Result) {
		out["reference in "+row.Get("block_id").String()+" to "+row.Get("def_block_id").String()] = row.Get("box").String()
	})
	for _, n := range w.post("/api/notebook/lsNotebooks", object{}).Get("notebooks").Array() {
		out["notebook "+n.Get("id").String()] = n.Get("id").String()
	}
	for _, p := range []*place{w.open, w.shut, w.hidden} {
		av := w.post("/api/av/getAttributeView", object{"id": p.id("daba")}).Get("av")
		for _, column := range av.Get("keyValues").Array() {
			out["column "+column.Get("key.id").String()] = string(p.nb) + "/database"
			for _, v := range column.Get("values").Array() {
				out["row "+v.Get("blockID").String()] = string(p.nb) + "/database"
			}
		}
		w.addFiles(out, "/data/"+string(p.nb)+"/assets", string(p.nb))
	}
	w.addFiles(out, "/data/assets", "assets")
	for _, deck := range []kernel.ID{kernel.BuiltInDeck, kernel.ID(w.deck)} {
		page, err := w.client.Cards(w.t.Context(), deck, 1, 100)
		w.must(err)
		for _, b := range page.Blocks {
			out["card of "+string(b.ID)] = string(w.shut.nb) + "/" + string(deck)
			if w.shut.id("par2") != b.ID && w.shut.id("par3") != b.ID {
				out["card of "+string(b.ID)] = string(deck)
			}
		}
	}
	tags, err := w.client.Tags(w.t.Context(), 0, true)
	w.must(err)
	for _, tag := range tags {
		out["tag "+tag.Label] = "tags"
	}
	return out
}

// addFiles adds the files of a folder to out.
func (w *workspace) addFiles(out map[string]string, dir, place string) {
	entries, err := w.client.ReadDir(w.t.Context(), dir)
	if tool.KindOf(err) == tool.NotFound { // the notebook is gone
		return
	}
	w.must(err)
	for _, e := range entries {
		out["file "+e.Name] = place
	}
}

// TestWhatRemovesOrMovesIsAskedAbout runs every case of every writing action and checks what became of
// everything that existed before. If something is gone or is in another document, a person must have been
// asked. If it has left its notebook, rwd must be required there.
func TestWhatRemovesOrMovesIsAskedAbout(t *testing.T) {
	t.Parallel()
	byTool := map[string][]useCase{}
	for _, k := range append(cases(), emptyingCases...) {
		tl, _, _ := strings.Cut(k.act, ".")
		byTool[tl] = append(byTool[tl], k)
	}
	var mu sync.Mutex
	used, done := map[string]bool{}, map[string]bool{} // the exceptions that were needed, and the cases that ran
	t.Run("tools", func(t *testing.T) {
		for tl, list := range byTool {
			t.Run(tl, func(t *testing.T) {
				t.Parallel()
				l := &lossTest{sharedGateway: &sharedGateway{t: t, wrote: map[string]bool{}}, needed: func(name string) {
					mu.Lock()
					defer mu.Unlock()
					used[name] = true
				}}
				for i, k := range list {
					if await.Race && i%10 != 0 { // a few cases are enough to find races
						continue
					}
					if a := actionsByName()[k.act]; a != nil && a.Class.Writes() && k.kind != peopleOnly && !k.noEffect && !(thrifty && l.wrote[k.act]) {
						name := strings.TrimSpace(k.act + " " + k.how)
						t.Run(name, func(t *testing.T) {
							l.checkCase(t, k)
							mu.Lock()
							defer mu.Unlock()
							done[name] = true
						})
					}
				}
			})
		}
	})
	for _, list := range []map[string]string{unaskedEdits, lossesBelowDelete} {
		for name := range list {
			if done[name] && !used[name] {
				t.Errorf("the exception for %q is not needed", name)
			}
		}
	}
}

// lossTest runs the cases of a tool and looks for things that are lost. needed is called with the name of a case that
// needs an exception in edits or lighter.
type lossTest struct {
	*sharedGateway
	needed func(name string)
}

// checkCase runs one case, and fails the test if something is no longer in its place and nobody was asked, or has left its
// notebook although the case needs less than rwd.
func (l *lossTest) checkCase(t *testing.T, k useCase) {
	name := strings.TrimSpace(k.act + " " + k.how)
	l.renewIfUsed()
	l.setLevels(map[*place]access.Level{l.shut: access.Delete, l.hidden: access.Delete})
	before := l.inventory()
	out := l.call(k.act, k.args(l.workspace, l.shut))
	l.used, l.wrote[k.act] = true, true
	if out.kind != "" {
		t.Fatalf("it is refused: %s", out.text)
	}
	now := l.inventory()
	var lost, left []string
	for _, what := range slices.Sorted(maps.Keys(before)) {
		was, is := before[what], now[what]
		if is == was {
			continue
		}
		lost = append(lost, fmt.Sprintf("%s was in %q and is in %q", what, was, is))
		if nb := string(l.shut.nb); strings.HasPrefix(was, nb) && !strings.HasPrefix(is, nb) {
			left = append(left, what)
		}
	}
	t.Logf("asked: %t, level %s, not where it was: %d, not in its notebook: %d", out.asked, k.need, len(lost), len(left))
	if len(lost) > 0 && !out.asked {
		l.needed(name)
		if unaskedEdits[name] == "" {
			t.Errorf("nobody was asked:\n%s", strings.Join(lost, "\n"))
		}
	}
	if out.asked && !strings.Contains(out.told, `"targets":[`) && k.act != "file.upload_asset" { // its question names the file as an effect
		t.Errorf("the person was not told what it is about: %s", out.told)
	}
	if len(left) > 0 && k.need < access.Delete && unaskedEdits[name] == "" {
		l.needed(name)
		if lossesBelowDelete[name] == "" {
			t.Errorf("%s was enough, and it left its notebook: %q", k.need, left)
		}
	}
}
