package hidden_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// canary matches every word that stands in the hidden notebook and nowhere else: zqh, what it is, and a number.
var canary = regexp.MustCompile(`(?i)zqh[a-z]+[0-9]`)

// scanCall is one call of a scan.
type scanCall struct {
	act  string // tool.action
	args map[string]any
}

// scanCalls returns calls of every action that reads, about readable notes.
func (s *canaryScene) scanCalls() []scanCall {
	var out []scanCall
	add := func(act string, pairs ...any) {
		args := map[string]any{"verbose": true}
		for i := 0; i < len(pairs); i += 2 {
			args[pairs[i].(string)] = pairs[i+1]
		}
		out = append(out, scanCall{act, args})
	}
	for _, table := range []string{"blocks", "blocks_fts", "attributes", "refs", "spans", "assets", "file_annotation_refs"} {
		add("search.query_sql", "stmt", "SELECT * FROM "+table, "maxRows", 1000)
	}
	for doc, path := range map[string]string{"embeds": "/Open/Embeds", "refs": "/Open/Refs", "again": "/Open/Again", "base": "/Open/Base", "lost": "/Open/Lost"} {
		id := s.idOf(doc)
		add("fs.read", "path", path, "tokenBudget", 32000, "includeBlockIds", true)
		add("fs.ls", "path", path)
		for _, act := range []string{
			"block.get_kramdown", "block.dom", "block.info", "block.get_attrs", "block.get_children", "document.get_child_blocks",
			"document.get_outline", "document.get_child_docs", "file.export_md", "file.get_doc_assets", "search.get_backlinks",
		} {
			add(act, "id", id)
		}
		add("document.lookup", "id", id, "include", []string{"id", "ids", "path", "hpath", "docInfo"})
		add("document.get_doc", "id", id, "tokenBudget", 32000)
		add("document.get_doc", "id", id, "mode", "html")
		add("block.batch_kramdown", "ids", []kernel.ID{id}, "mode", "textmark")
		add("block.docs_info", "ids", []kernel.ID{id}, "refCount", true, "av", true)
		add("block.word_count", "ids", []kernel.ID{id})
		add("timeline.compare_recent", "documentId", id)
		add("flashcard.list_cards", "scope", "tree", "rootID", id)
	}
	for _, block := range []string{"embed", "oref", "ohead", "oplain", "otag", "oagain", "othird", "odbb"} {
		for _, act := range []string{"block.get_kramdown", "block.dom", "block.breadcrumb", "block.get_attrs", "search.get_backlinks"} {
			add(act, "id", s.idOf(block))
		}
		add("search.fulltext", "query", s.idOf(block))
		add("search.get_backlinks", "id", s.idOf("refs"), "refTreeID", s.idOf("again"))
	}
	for _, query := range []string{"zqh", "to and", "readable", "item", "again"} {
		add("fs.search", "query", query)
		add("search.fulltext", "query", query, "pageSize", 128, "types", map[string]bool{
			"document": true, "heading": true, "paragraph": true, "list": true, "listItem": true, "blockquote": true, "superBlock": true, "table": true,
			"embedBlock": true, "databaseBlock": true,
		})
		add("search.fulltext", "query", query, "groupBy", 1)
		add("search.fulltext", "query", query, "method", "regex")
		add("search.fulltext", "query", query+" OR plain NOT nothing", "method", "query_syntax", "pageSize", 128)
		add("search.search_refs", "id", s.idOf("oplain"), "k", query)
		add("document.search_docs", "notebook", s.idOf("open"), "query", query)
		add("tag.list", "query", query)
		add("av.search", "keyword", query)
		add("av.render", "id", s.idOf("odb"), "query", query)
		add("av.get_primary_key_values", "avID", s.idOf("odb"), "keyword", query)
		add("search.search_assets", "query", query)
		add("search.fulltext_asset_content", "query", query)
	}
	add("search.fulltext", "query", "SELECT * FROM blocks", "method", "sql", "pageSize", 128)
	add("search.list_invalid_refs")
	for _, act := range []string{"av.render", "av.get", "av.get_attribute_view_keys", "av.get_attribute_view_filter_sort"} {
		add(act, "id", s.idOf("odb"))
		add(act, "id", s.idOf("hdb"))
	}
	add("av.get_primary_key_values", "avID", s.idOf("odb"))
	add("tag.list")
	add("block.recent_updated")
	add("flashcard.get_decks")
	add("flashcard.get_cards", "deckID", string(kernel.BuiltInDeck))
	add("flashcard.list_cards", "scope", "all")
	add("fs.tree", "path", "/", "maxDepth", 5)
	add("fs.ls", "path", "/")
	add("document.list_tree", "notebook", s.idOf("open"), "path", "/")
	add("notebook.list")
	add("notebook.get_permissions")
	add("notebook.get_conf", "notebook", s.idOf("open"))
	add("notebook.get_child_docs", "notebook", s.idOf("open"))
	add("file.list_unused_assets")
	add("file.list_templates")
	return out
}

// testedElsewhere are the actions that read and have no call in a scan, with what tests them.
var testedElsewhere = map[string]string{
	"file.get_image_ocr_text": "about one asset, whose users are checked", "file.read_template": "templates are of no notebook", "file.render": "tested with templates",
	"mascot.get_balance": "coins", "mascot.shop": "coins", "system.bootstrap": "TestBootstrap", "system.conf": "TestConfTellsNothingOfNotes",
	"system.workspace_info": "the machine", "system.network": "the machine", "system.get_version": "the kernel", "system.get_current_time": "the clock",
	"timeline.list_nodes": "names that people gave",
}

// scan makes the calls, and fails for each whose answer has a canary in it. It returns how many were answered, and which
// actions ran.
func (s *canaryScene) scan(answered func(err error) bool) (n int, worked map[string]bool) {
	s.t.Helper()
	actions := map[string]*action.Action{}
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			actions[tl.Name+"."+a.Name] = a
		}
	}
	seen := map[string]bool{}
	worked = map[string]bool{}
	for _, q := range s.scanCalls() {
		a := actions[q.act]
		if a == nil {
			s.t.Fatalf("there is no action %s", q.act)
		}
		seen[q.act] = true
		raw, _ := json.Marshal(q.args)
		got, err := s.Do(s.t, a, string(raw))
		if !answered(err) {
			continue
		}
		n++
		worked[q.act] = worked[q.act] || err == nil
		text := got.Raw
		if err != nil {
			text = err.Error()
			if e, ok := errors.AsType[*tool.Error](err); ok {
				facts, _ := json.Marshal(e)
				text += string(facts)
			}
		}
		plain := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(text)
		plain = idLike.ReplaceAllString(plain, "ID") // the random letters of an id may spell a canary
		for _, at := range canary.FindAllStringIndex(plain, -1) {
			if word := strings.ToLower(plain[at[0]:at[1]]); word != "zqhquery1" {
				s.t.Errorf("%s %s shows %q: …%s…", q.act, raw, word, plain[max(0, at[0]-200):min(len(plain), at[1]+60)])
				break
			}
		}
		byID := func(id string) bool { return strings.Contains(id, "zqh") } // of a reference that may be read
		if query, _ := q.args["query"].(string); query == "zqh" && !slices.ContainsFunc(idLike.FindAllString(text, -1), byID) && got.Get("total").Int() > 0 {
			s.t.Errorf("%s %s finds what stands in hidden texts only: %s", q.act, raw, plain[:min(len(plain), 600)])
		}
	}
	for name, a := range actions {
		if !a.Class.Writes() && a.Class == action.Reads && !seen[name] && testedElsewhere[name] == "" {
			s.t.Errorf("%s reads and is not in the scan: add a call to scanCalls, or to testedElsewhere why there is none", name)
		}
	}
	return n, worked
}

// readTables reads the tables that a statement may read, so that a recording has them whole. No action returns that.
func (s *canaryScene) readTables() {
	s.t.Helper()
	for _, table := range []string{"blocks", "attributes", "refs", "spans", "assets", "file_annotation_refs"} {
		if _, err := kernel.SQL[json.RawMessage](s.t.Context(), s.Client, "SELECT * FROM "+table+" LIMIT 5000"); err != nil {
			s.t.Error(err)
		}
	}
}

// TestCanaries: nothing that an agent can read shows what stands in a hidden notebook, whatever the kernel has copied of
// it into one that may be read. With a real kernel it waits for the kernel's own jobs first.
func TestCanaries(t *testing.T) {
	s := newCanaryScene(t)
	if os.Getenv(kerneltest.RealKernel) != "" {
		s.awaitEmbeds()
	}
	record := startRecording(t, s)
	s.readTables()
	n, worked := s.scan(func(error) bool { return true })
	for _, q := range s.scanCalls() {
		if !worked[q.act] {
			worked[q.act] = true
			t.Errorf("%s never ran", q.act)
		}
	}
	if n < 200 {
		t.Errorf("only %d calls", n)
	}
	record()
}

// recordingFile is the file with the answers of a real kernel, which contain canaries.
var recordingFile = filepath.Join("testdata", "canaries.jsonl")

// TestRecordedCanaries is [TestCanaries] with the answers that a real kernel gave, after its own jobs.
func TestRecordedCanaries(t *testing.T) {
	t.Parallel()
	s, missing := newReplayedScene(t)
	total := 0
	n, _ := s.scan(func(err error) bool {
		total++
		ok := !missing()
		return ok && (err == nil || tool.KindOf(err) != tool.Internal)
	})
	t.Logf("%d of %d calls are answered by the recording", n, total)
	if n < total*2/3 {
		t.Errorf("only %d of %d calls are answered by the recording: record it again (see startRecording)", n, total)
	}
}
