package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
	"collie/test/gateway"
)

// Options of [Smoke]. The zero value is for a kernel that answers at once.
type Options struct {
	// Settle is waited before the notebook is removed. A real kernel may end where a notebook
	// goes shortly after it was written.
	Settle time.Duration
}

// smoke is one run.
type smoke struct {
	t        *testing.T
	p        gateway.Programs
	home     string
	settings string
	client   *kernel.Client

	word     string // that nobody else's notes have
	name     string // of the notebook
	notebook string
}

// Smoke works at the kernel at url. The test binary must have called [gateway.Main].
func Smoke(t *testing.T, url, token string, opts Options) {
	t.Helper()
	s := &smoke{t: t, p: gateway.Place(t), home: t.TempDir(), client: kernel.New(url, kernel.Options{Token: token})}
	t.Cleanup(s.client.Close)
	s.word = "smoke" + string(kernel.NewID())[15:]
	s.name = "Collie " + s.word
	s.settings = s.p.Settings(t, nil, fmt.Sprintf(
		`"siyuan":{"connections":{"live":{"url":%q,"token":%q}},"newNotebookPermission":"rwd","localFileRoots":[%q]}`, url, token, s.home))
	s.p.ServeIn(t, s.home, s.settings) // what follows goes through it
	for _, step := range []struct {
		name string
		run  func()
	}{
		{"create", s.create},
		{"read", s.read},
		{"edit", s.edit},
		{"search", s.search},
		{"database", s.database},
		{"cards", s.cards},
		{"tag", s.tag},
		{"asset", s.asset},
		{"undo", s.undo},
		{"cleanup", s.cleanup},
	} {
		begun := time.Now()
		step.run()
		if t.Failed() {
			t.Fatalf("%s: it ends here", step.name)
		}
		t.Logf("%-8s ok, %v", step.name, time.Since(begun).Round(time.Millisecond))
		if step.name == "create" {
			t.Cleanup(func() { s.forget(opts.Settle) })
		}
	}
}

// try runs `collie TOOL ACTION --args ARGS` as a person who has said yes, and returns what came.
func (s *smoke) try(tool, action, args string) (result gjson.Result, code int) {
	s.t.Helper()
	out, errs, code := s.p.Run(s.t, s.home, "--config", s.settings, "call", tool, action, "--args", args, "--yes", "--json")
	if code != 0 {
		s.t.Logf("%s %s %s: exit code %d: %.800s %.800s", tool, action, args, code, out, errs)
	}
	return gjson.Parse(out), code
}

// do is try for what has to work.
func (s *smoke) do(tool, action, args string) gjson.Result {
	s.t.Helper()
	result, code := s.try(tool, action, args)
	if code != 0 {
		s.t.Fatalf("%s.%s failed", tool, action)
	}
	return result
}

// want fails the run unless text holds all words.
func (s *smoke) want(what, text string, words ...string) {
	s.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.t.Fatalf("%s: no %q in %.1500s", what, w, text)
		}
	}
}

// path is a document of the notebook.
func (s *smoke) path(title string) string { return "/" + s.name + "/" + title }

func (s *smoke) create() {
	s.do("system", "bootstrap", `{}`)
	s.notebook = s.do("notebook", "create", fmt.Sprintf(`{"name":%q}`, s.name)).Get("id").String()
	if !kernel.ID(s.notebook).Valid() {
		s.t.Fatalf("notebook id %q", s.notebook)
	}
	s.do("fs", "write", fmt.Sprintf(`{"path":%q,"markdown":"## Goals 目标\n\nThe first goal is %s. #%s/tag#\n\n- one\n- two"}`, s.path("Plan"), s.word, s.word))
	s.do("fs", "write", fmt.Sprintf(`{"path":%q,"markdown":"Below the plan."}`, s.path("Plan/Child")))
	if _, code := s.try("fs", "write", fmt.Sprintf(`{"path":%q,"markdown":"again"}`, s.path("Plan"))); code == 0 {
		s.t.Fatal("a document was made twice")
	}
}

func (s *smoke) read() {
	s.want("ls", s.do("fs", "ls", fmt.Sprintf(`{"path":%q}`, "/"+s.name)).Raw, `"Plan"`)
	s.want("tree", s.do("fs", "tree", fmt.Sprintf(`{"path":%q}`, "/"+s.name)).Raw, `"Plan"`, `"Child"`)
	s.want("read", s.do("fs", "read", fmt.Sprintf(`{"path":%q}`, s.path("Plan"))).Get("content").String(), "Goals 目标", s.word, "- two")
	s.want("lookup", s.do("document", "lookup", fmt.Sprintf(`{"notebook":%q,"hpath":"/Plan/Child"}`, s.notebook)).Raw, "Child", s.notebook)
	s.want("outline", s.do("document", "get_outline", fmt.Sprintf(`{"id":%q}`, s.id("Plan"))).Raw, "Goals 目标")
}

// id is that of a document.
func (s *smoke) id(title string) string {
	s.t.Helper()
	found := s.do("document", "lookup", fmt.Sprintf(`{"notebook":%q,"hpath":%q,"include":["id"]}`, s.notebook, "/"+title))
	id := found.Get("idPath.id").String()
	if !kernel.ID(id).Valid() {
		s.t.Fatalf("id of %s: %s", title, found.Raw)
	}
	return id
}

// block is the first block of a document that holds text.
func (s *smoke) block(title, text string) string {
	s.t.Helper()
	list := s.do("document", "get_child_blocks", fmt.Sprintf(`{"id":%q}`, s.id(title)))
	for _, b := range list.Get("data").Array() {
		if strings.Contains(b.Get("markdown").String(), text) {
			return b.Get("id").String()
		}
	}
	s.t.Fatalf("no block of %s holds %q: %s", title, text, list.Raw)
	return ""
}

func (s *smoke) edit() {
	plan := s.id("Plan")
	s.do("fs", "replace", fmt.Sprintf(`{"path":%q,"edit":{"old":"first goal","new":"only goal"}}`, s.path("Plan")))
	s.do("block", "append", fmt.Sprintf(`{"dataType":"markdown","data":"An appended line.","parentID":%q}`, plan))
	line := s.block("Plan", "An appended line.")
	s.do("block", "set_attrs", fmt.Sprintf(`{"id":%q,"attrs":{"memo":"mine"}}`, line))
	s.do("block", "update", fmt.Sprintf(`{"id":%q,"dataType":"markdown","data":"A changed line."}`, line))
	s.want("attributes after an update", s.do("block", "get_attrs", fmt.Sprintf(`{"id":%q}`, line)).Raw, "mine")
	s.do("document", "rename", fmt.Sprintf(`{"id":%q,"title":"Child 孩子"}`, s.id("Plan/Child")))
	text := s.do("fs", "read", fmt.Sprintf(`{"path":%q}`, s.path("Plan"))).Get("content").String()
	s.want("read", text, "only goal", "A changed line.")
	s.do("fs", "mv", fmt.Sprintf(`{"from":%q,"to":%q}`, s.path("Plan/Child 孩子"), s.path("Moved")))
	s.want("ls", s.do("fs", "ls", fmt.Sprintf(`{"path":%q}`, "/"+s.name)).Raw, `"Moved"`)
}

func (s *smoke) search() {
	goal := s.block("Plan", s.word)
	s.do("fs", "write", fmt.Sprintf(`{"path":%q,"markdown":"See ((%s 'the goal'))."}`, s.path("Refers"), goal))
	s.want("fulltext", s.do("search", "fulltext", fmt.Sprintf(`{"query":%q}`, s.word)).Raw, goal)
	s.want("grep", s.do("fs", "search", fmt.Sprintf(`{"path":%q,"query":"only goal"}`, "/"+s.name)).Raw, s.path("Plan"))
	rows := s.do("search", "query_sql", fmt.Sprintf(`{"stmt":"SELECT DISTINCT id FROM blocks WHERE box = '%s' AND content LIKE '%%%s%%' AND type = 'p' LIMIT 5"}`, s.notebook, s.word))
	s.want("query_sql", rows.Raw, goal)
	s.want("backlinks", s.do("search", "get_backlinks", fmt.Sprintf(`{"id":%q}`, goal)).Raw, "Refers")
}

func (s *smoke) database() {
	av := string(kernel.NewID())
	s.do("av", "render", fmt.Sprintf(`{"id":%q,"blockID":%q,"createIfNotExist":true}`, av, s.block("Moved", "Below")))
	column := s.do("av", "add_column", fmt.Sprintf(`{"avID":%q,"keyName":"Price 价格","keyType":"number"}`, av)).Get("keyID").String()
	rows := s.do("av", "add_rows", fmt.Sprintf(`{"avID":%q,"primaryKeyTexts":["tea 茶","coffee"]}`, av))
	row := rows.Get("rows.0.rowID").String()
	s.do("av", "set_cells", fmt.Sprintf(`{"avID":%q,"rowID":%q,"columnID":%q,"valueType":"number","number":4.5}`, av, row, column))
	s.want("the table", s.do("av", "render", fmt.Sprintf(`{"id":%q}`, av)).Get("table").Raw, "tea 茶", "coffee", "Price 价格", "4.5")
	s.do("av", "remove_rows", fmt.Sprintf(`{"avID":%q,"srcIDs":[%q]}`, av, row))
	if left := s.do("av", "render", fmt.Sprintf(`{"id":%q}`, av)); strings.Contains(left.Raw, "tea 茶") || left.Get("total").Int() != 1 {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
}

func (s *smoke) cards() {
	block := s.block("Plan", s.word)
	s.do("flashcard", "create_card", fmt.Sprintf(`{"blockIDs":[%q]}`, block))
	list := fmt.Sprintf(`{"scope":"notebook","notebook":%q,"filter":"new"}`, s.notebook)
	s.want("cards", s.do("flashcard", "list_cards", list).Raw, block)
	s.do("flashcard", "remove_card", fmt.Sprintf(`{"blockIDs":[%q]}`, block))
	if left := s.do("flashcard", "list_cards", list); strings.Contains(left.Raw, block) {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
}

func (s *smoke) tag() {
	s.want("tags", s.do("tag", "list", fmt.Sprintf(`{"query":%q}`, s.word)).Raw, s.word)
	s.do("tag", "rename", fmt.Sprintf(`{"oldLabel":"%s/tag","newLabel":"%s/标签"}`, s.word, s.word))
	s.want("tags", s.do("tag", "list", fmt.Sprintf(`{"query":%q}`, s.word)).Raw, "标签")
	s.do("tag", "remove", fmt.Sprintf(`{"label":"%s/标签"}`, s.word))
	s.want("the text", s.do("fs", "read", fmt.Sprintf(`{"path":%q}`, s.path("Plan"))).Raw, "only goal")
}

func (s *smoke) asset() {
	file := filepath.Join(s.home, s.word+".txt")
	if err := os.WriteFile(file, []byte("an asset of "+s.word), 0o600); err != nil {
		s.t.Fatal(err)
	}
	path := s.do("file", "upload_asset", fmt.Sprintf(`{"localFilePath":%q}`, file)).Get("path").String()
	s.want("the path", path, "assets/"+s.word)
	s.do("block", "append", fmt.Sprintf(`{"dataType":"markdown","data":"[file](%s)","parentID":%q}`, path, s.id("Moved")))
	s.want("assets", s.do("file", "get_doc_assets", fmt.Sprintf(`{"id":%q}`, s.id("Moved"))).Raw, path)
	s.do("file", "delete_asset", fmt.Sprintf(`{"path":%q,"force":true}`, path))
	if _, code := s.try("file", "delete_asset", fmt.Sprintf(`{"path":%q,"force":true}`, path)); code == 0 {
		s.t.Fatal("the asset was there twice")
	}
}

func (s *smoke) undo() {
	id := s.do("fs", "replace", fmt.Sprintf(`{"path":%q,"edit":{"old":"only goal","new":"lost goal"}}`, s.path("Plan"))).Get("requestId").String()
	if out, errs, code := s.p.Run(s.t, s.home, "--config", s.settings, "siyuan", "undo", id, "--yes"); code != 0 {
		s.t.Fatalf("undo %s: exit code %d: %s %s", id, code, out, errs)
	}
	s.want("after the undo", s.do("fs", "read", fmt.Sprintf(`{"path":%q}`, s.path("Plan"))).Raw, "only goal")
}

func (s *smoke) cleanup() {
	for _, title := range []string{"Refers", "Moved", "Plan"} {
		s.do("fs", "rm", fmt.Sprintf(`{"path":%q}`, s.path(title)))
	}
	if left := s.do("fs", "ls", fmt.Sprintf(`{"path":%q}`, "/"+s.name)); len(left.Get("items").Array()) > 0 {
		s.t.Fatalf("left: %s", left.Raw)
	}
}

// forget removes the notebook, whatever has happened in it. That action is off by default, and
// the switches of somebody's workspace are not to be changed for a test, so the kernel is asked
// itself where it is refused.
func (s *smoke) forget(settle time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), time.Minute)
	defer cancel()
	if err := s.client.Flush(ctx); err != nil {
		s.t.Errorf("flush: %v", err)
	}
	time.Sleep(settle)
	if err := s.client.RemoveNotebook(ctx, kernel.ID(s.notebook)); err != nil {
		s.t.Errorf("remove the notebook %s (%s): %v", s.name, s.notebook, err)
	}
	left, err := s.client.Notebooks(ctx)
	if err != nil {
		s.t.Errorf("list the notebooks: %v", err)
	}
	for _, n := range left {
		if n.ID == kernel.ID(s.notebook) {
			s.t.Errorf("the notebook %s is still there", s.name)
		}
	}
}
