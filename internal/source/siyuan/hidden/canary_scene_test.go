package hidden_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/test/await"
)

// canaryScene is a workspace with a hidden notebook full of canaries and a readable one in which the kernel shows them: the
// ids of what is in it, by name.
type canaryScene struct {
	*actiontest.Kit `json:"-"`
	t               *testing.T
	IDs             map[string]kernel.ID
}

// idOf returns the id that is registered under a name.
func (s *canaryScene) idOf(name string) kernel.ID {
	s.t.Helper()
	id := s.IDs[name]
	if id == "" {
		s.t.Fatalf("there is no %q", name)
	}
	return id
}

// newID gives something a new id.
func (s *canaryScene) newID(name string) kernel.ID {
	s.IDs[name] = kernel.NewID()
	return s.IDs[name]
}

// post makes a request that the client has no method for, and returns its data, nothing if the kernel fails.
func (s *canaryScene) post(path string, body any) gjson.Result {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL()+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return gjson.GetBytes(answer, "data")
}

// transact runs operations of the editor at the kernel.
func (s *canaryScene) transact(ops ...kernel.Operation) {
	s.t.Helper()
	if _, err := s.Client.Transact(s.t.Context(), 1, ops...); err != nil {
		s.t.Fatal(err)
	}
}

// namedBlock returns Markdown of a block with a new id, and registers the id under a name.
func (s *canaryScene) namedBlock(name, markdown string) string {
	return fmt.Sprintf("%s\n{: id=%q}\n\n", markdown, s.newID(name))
}

// newCanaryScene fills a workspace, and has the person change what is hidden, so that the kernel writes it elsewhere.
func newCanaryScene(t *testing.T) *canaryScene {
	t.Helper()
	s := &canaryScene{Kit: actiontest.New(t), t: t, IDs: map[string]kernel.ID{}}
	s.Lenient()
	s.IDs["hidden"], s.IDs["open"] = kernel.ID(s.Notebook("zqhnotebook1")), kernel.ID(s.Notebook("Open"))
	s.File("/data/assets/zqhasset1-20260101000000-aaaaaaa.txt", []byte("zqhassettext1"))
	s.addHiddenNotes()
	s.addOpenNotes()
	s.addDatabases()
	s.addCards()
	s.changeHiddenNotes()
	s.hide()
	return s
}

// addDocument makes a document in a notebook that is registered, and registers its id under a name.
func (s *canaryScene) addDocument(name, notebook, path, markdown string) {
	s.IDs[name] = kernel.ID(s.Doc(string(s.idOf(notebook)), path, markdown))
}

// addHiddenNotes makes the hidden notes, with a canary in every place where a note can have a text.
func (s *canaryScene) addHiddenNotes() {
	s.addDocument("hdoc", "hidden", "/zqhtitle1", s.namedBlock("hpara", "before zqhpara1 after")+
		s.namedBlock("hhead", "## zqhhead1")+s.namedBlock("hrow", "zqhbound1")+
		s.namedBlock("hrest", "zqhtext1 #zqhtag1# `zqhcode1` [zqhlink1](https://zqhurl1.example) ![zqhalt1](assets/zqhasset1-20260101000000-aaaaaaa.txt \"zqhimage1\")")+
		"```go\nzqhfence1\n```\n\n$$\nzqhmath1\n$$\n\n<div>zqhhtml1</div>\n\n| zqhcell1 | b |\n| --- | --- |\n| c | d |\n\n> zqhquote1\n\n- zqhitem1\n\n"+
		"{{select * from blocks where content like '%zqhquery1%'}}\n\n"+
		fmt.Sprintf("zqhnamed1\n{: id=%q name=\"zqhname1\" alias=\"zqhalias1\" memo=\"zqhmemo1\" bookmark=\"zqhbookmark1\" custom-x=\"zqhcustom1\"}\n", s.newID("hnamed")))
	s.addDocument("hgonedoc", "hidden", "/zqhremoved1", s.namedBlock("hgone", "zqhgone1"))
	s.addDocument("hchild", "hidden", "/zqhtitle1/zqhchild1", "zqhdeep1")
	if _, err := s.Client.AddToDailyNote(s.t.Context(), s.idOf("hidden"), "markdown", "zqhdaily1", true); err != nil {
		s.t.Fatal(err)
	}
}

// addOpenNotes makes readable notes that embed hidden blocks, and refer to them in every kind of block.
func (s *canaryScene) addOpenNotes() {
	embed := "{{select * from blocks where id='" + string(s.idOf("hpara")) + "'}}"
	s.addDocument("embeds", "open", "/Embeds", s.namedBlock("embed", embed)+"{{{row\n"+embed+"\n\nbeside\n}}}\n\n- item\n\n  "+embed+"\n- other\n\n> quote\n>\n> "+embed+"\n\n## Over\n\n"+embed+"\n")
	ref := func(id string) string { return fmt.Sprintf("((%s 'old'))", s.idOf(id)) }
	s.addDocument("refs", "open", "/Refs", s.namedBlock("oref", "to "+ref("hpara")+" and **"+ref("hdoc")+"** and "+ref("hhead")+fmt.Sprintf(" and ((%s \"own words\"))", s.idOf("hpara")))+
		s.namedBlock("ohead", "## over "+ref("hhead"))+s.namedBlock("oplain", "plain readable words")+
		"- item "+ref("hpara")+"\n- plain\n\n> quote "+ref("hpara")+"\n\n{{{row\nsuper "+ref("hpara")+"\n\ntwo\n}}}\n\n| a | b |\n| --- | --- |\n| "+ref("hpara")+" | c |\n\n"+
		s.namedBlock("otag", "tagged #"+ref("hhead")+"# #mine#"))
	s.addDocument("lost", "open", "/Lost", s.namedBlock("olost", "lost "+ref("hgone")))
	s.addDocument("again", "open", "/Again", s.namedBlock("oagain", "again "+ref("oref")+" of "+ref("refs"))+s.namedBlock("othird", "third "+ref("oagain")))
}

func databaseDOM(block, av kernel.ID) string {
	return fmt.Sprintf(`<div data-node-id="%s" data-type="NodeAttributeView" data-av-id="%s" data-av-type="table"></div>`, block, av)
}

// addDatabases makes one database in each notebook, with rows that are bound to blocks of the other.
func (s *canaryScene) addDatabases() {
	s.addDocument("base", "open", "/Base", "start")
	for _, b := range [][3]string{{"hdoc", "hdbb", "hdb"}, {"base", "odbb", "odb"}} {
		block, av := s.newID(b[1]), s.newID(b[2])
		if _, err := s.Client.Append(s.t.Context(), s.idOf(b[0]), "dom", databaseDOM(block, av)); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.Client.RenderDatabase(s.t.Context(), kernel.Rendering{ID: av, Block: block, Create: true}); err != nil {
			s.t.Fatal(err)
		}
	}
	hdb, odb := s.idOf("hdb"), s.idOf("odb")
	bind := func(db, block kernel.ID, row, of string) {
		s.transact(kernel.Operation{"action": "insertAttrViewBlock", "avID": db, "blockID": block, "srcs": []any{map[string]any{"itemID": s.newID(row), "id": s.idOf(of), "isDetached": false}}})
	}
	s.transact(kernel.Operation{"action": "setAttrViewName", "id": hdb, "data": "zqhbase1"}, kernel.Operation{"action": "setAttrViewName", "id": odb, "data": "Readable base"})
	s.transact(kernel.Operation{"action": "addAttrViewCol", "avID": hdb, "id": s.newID("hcol"), "name": "zqhcolumn1", "type": "text", "data": "", "previousID": ""})
	s.transact(kernel.Operation{"action": "insertAttrViewBlock", "avID": hdb, "blockID": s.idOf("hdbb"), "srcs": []any{map[string]any{"itemID": s.newID("hloose"), "isDetached": true, "content": "zqhloose1"}}})
	s.transact(kernel.Operation{"action": "updateAttrViewCell", "avID": hdb, "keyID": s.idOf("hcol"), "rowID": s.idOf("hloose"), "data": map[string]any{"text": map[string]any{"content": "zqhvalue1"}}})
	bind(hdb, s.idOf("hdbb"), "hbound", "oplain")
	bind(odb, s.idOf("odbb"), "orow1", "hrow")
	bind(odb, s.idOf("odbb"), "orow2", "oref")
	bind(odb, s.idOf("odbb"), "orow3", "oplain")
	bind(odb, s.idOf("odbb"), "orow4", "hdoc")
	s.transact(kernel.Operation{"action": "addAttrViewCol", "avID": odb, "id": s.newID("orel"), "name": "Relation", "type": "relation", "data": "", "previousID": ""})
	s.transact(kernel.Operation{"action": "updateAttrViewColRelation", "avID": odb, "keyID": s.idOf("orel"), "id": hdb, "backRelationKeyID": "", "isTwoWay": false, "name": "", "format": ""})
	s.transact(kernel.Operation{"action": "addAttrViewCol", "avID": odb, "id": s.newID("oroll"), "name": "Rollup", "type": "rollup", "data": "", "previousID": s.idOf("orel")})
	s.transact(kernel.Operation{"action": "updateAttrViewColRollup", "id": s.idOf("oroll"), "avID": odb, "parentID": s.idOf("orel"), "keyID": s.idOf("hcol"), "data": map[string]any{"calc": map[string]any{"operator": ""}}})
	s.transact(kernel.Operation{"action": "updateAttrViewCell", "avID": odb, "keyID": s.idOf("orel"), "rowID": s.idOf("orow3"), "data": map[string]any{"relation": map[string]any{"blockIDs": []any{s.idOf("hloose")}}}})
}

func (s *canaryScene) addCards() {
	if _, err := s.Client.AddCards(s.t.Context(), kernel.BuiltInDeck, []kernel.ID{s.idOf("hrest"), s.idOf("oref"), s.idOf("ohead"), s.idOf("oplain")}); err != nil {
		s.t.Fatal(err)
	}
}

// changeHiddenNotes changes the hidden notes, as a person would later: the kernel then writes the new anchors, titles and texts
// wherever they are shown.
func (s *canaryScene) changeHiddenNotes() {
	ctx := s.t.Context()
	for name, markdown := range map[string]string{"hpara": "before zqhchanged2 it's <after>", "hhead": "## zqhheading2", "hgone": "zqhlost2"} {
		if _, err := s.Client.Update(ctx, s.idOf(name), "markdown", fmt.Sprintf("%s\n{: id=%q}", markdown, s.idOf(name))); err != nil {
			s.t.Fatal(err)
		}
	}
	s.post("/api/filetree/renameDocByID", map[string]any{"id": s.idOf("hdoc"), "title": "zqhrenamed2"})
	s.flushIndex()
	s.post("/api/filetree/removeDocByID", map[string]any{"id": s.idOf("hgonedoc")})
	s.flushIndex()
	for _, name := range []string{"oref", "oagain", "olost"} { // so that blocks that refer to them are written again
		raw, err := s.Client.Kramdown(ctx, s.idOf(name))
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.Client.Update(ctx, s.idOf(name), "markdown", strings.Replace(raw, "\n{:", " more\n{:", 1)); err != nil {
			s.t.Fatal(err)
		}
		s.flushIndex()
	}
	for _, name := range []string{"hdbb", "odbb"} { // what the index has of a database is from when its block was last written
		if err := s.Client.SetAttrs(ctx, s.idOf(name), map[string]string{"memo": "m"}); err != nil {
			s.t.Fatal(err)
		}
	}
	s.post("/api/history/createDocHistory", map[string]any{"id": s.idOf("refs")})
	s.flushIndex()
}

// flushIndex waits until the index has what was written.
func (s *canaryScene) flushIndex() {
	s.t.Helper()
	if err := s.Client.FlushNow(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// awaitEmbeds waits until a real kernel has put into the index what embedded queries find, which it does by itself
// within ten minutes.
func (s *canaryScene) awaitEmbeds() {
	s.t.Helper()
	for begun := time.Now(); time.Since(begun) < 12*time.Minute; await.Moment(10 * time.Second) {
		rows, err := kernel.SQL[struct{ N int }](s.t.Context(), s.Client, "SELECT count(*) AS n FROM blocks WHERE type = 'query_embed' AND content LIKE '%zqhchanged2%' LIMIT 1")
		if err != nil {
			s.t.Fatal(err)
		}
		if len(rows) == 1 && rows[0].N >= 5 {
			return
		}
	}
	s.t.Error("the kernel has not put into the index what embedded queries find")
}
