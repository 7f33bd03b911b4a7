package file_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// entryNames returns the names of the entries of a folder, as the file API lists them. Those of folders end in a slash.
func (w *fixture) entryNames(dir string) []string {
	w.t.Helper()
	found := []string{}
	for _, e := range w.call(0, "/api/file/readDir", object{"path": dir}).Array() {
		name := e.Get("name").Str
		if e.Get("isDir").Bool() {
			name += "/"
		}
		found = append(found, name)
	}
	return found
}

// TestNotesAsFiles checks the folders and files that the file API shows for documents, in open and closed notebooks.
func TestNotesAsFiles(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("Notes 笔记")
	child := w.createDoc(box, "/Up 上/Down", "some *text* 文字")
	at := w.call(0, "/api/filetree/getPathByID", object{"id": child}).Get("path").Str
	up := strings.Split(at, "/")[1]
	w.putFile("/data/"+box+"/assets/own.png", "x")
	check := func() {
		t.Helper()
		for dir, want := range map[string][]string{
			"/data/" + box:              {".siyuan/", box + ".sy", up + ".sy", up + "/", "assets/"},
			"/data/" + box + "/.siyuan": {"conf.json", "sort.json"},
			"/data/" + box + "/" + up:   {child + ".sy"},
			"/data/" + box + "/assets":  {"own.png"},
		} {
			got := w.entryNames(dir)
			less := cmp.Transformer("sort", func(s []string) map[string]bool {
				m := map[string]bool{}
				for _, name := range s {
					m[name] = true
				}
				return m
			})
			if diff := cmp.Diff(want, got, less); diff != "" {
				t.Errorf("%s (-want +got):\n%s", dir, diff)
			}
		}
		got, ok := w.readFile("/data/" + box + at)
		if !ok || gjson.Get(got, "ID").Str != child || !strings.Contains(got, "文字") {
			t.Errorf("%s: %s", at, got)
		}
		if conf, _ := w.readFile("/data/" + box + "/.siyuan/conf.json"); gjson.Get(conf, "name").Str != "Notes 笔记" {
			t.Errorf("conf: %s", conf)
		}
		if sort, _ := w.readFile("/data/" + box + "/.siyuan/sort.json"); !gjson.Get(sort, child).Exists() {
			t.Errorf("sort: %s", sort)
		}
		for _, p := range []string{"/" + child + ".sy", "/" + up + "/" + up + ".sy", at + "x", "/" + up + "/" + child} {
			if got, ok := w.readFile("/data/" + box + p); ok {
				t.Errorf("%s is there: %s", p, got)
			}
		}
	}
	check()
	w.call(0, "/api/notebook/closeNotebook", object{"notebook": box})
	check()
}

// TestIndex reads documents as .sy files, removes them, and brings them back by writing the files and calling upsertIndexes.
func TestIndex(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("N")
	child := w.createDoc(box, "/Up/Down 下", "first 一\n\n- [x] done\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")
	at := w.call(0, "/api/filetree/getPathByID", object{"id": child}).Get("path").Str
	up := strings.Split(at, "/")[1]
	w.call(0, "/api/attr/setBlockAttrs", object{"id": child, "attrs": object{"custom-x": "y", "icon": "1f4d8"}})
	before := w.kramdown(child)
	paths := []string{"/" + box + "/" + up + ".sy"}
	files := map[string]string{}
	for _, p := range append(paths, "/"+box+at) {
		files[p], _ = w.readFile("/data" + p)
	}
	w.call(0, "/api/filetree/removeDocByID", object{"id": up})
	if w.kramdown(child) != "" {
		t.Fatal("the document is still in the tree")
	}
	for p, sy := range files {
		w.putFile("/data"+p, sy)
	}
	w.call(0, "/api/filetree/upsertIndexes", object{"paths": append([]string{"/" + box + at}, paths...)})
	if diff := cmp.Diff(attrSets(before), attrSets(w.kramdown(child))); diff != "" {
		t.Errorf("the document came back otherwise (-before +after):\n%s", diff)
	}
	w.update(func(tx *workspace.Tx) {
		if tx.Stat("/data/"+box+at) != nil {
			t.Error("the file lies below the document that stands for it")
		}
	})
}

// attrSets returns the lines of kramdown as sets of words, so that the order of attributes does not matter.
func attrSets(kramdown string) []map[string]bool {
	var lines []map[string]bool
	for line := range strings.SplitSeq(kramdown, "\n") {
		words := map[string]bool{}
		for word := range strings.FieldsSeq(strings.Trim(line, "{:}")) {
			words[word] = true
		}
		lines = append(lines, words)
	}
	return lines
}

// TestIndexRefuses indexes .sy files that are not documents, or not for the place where they lie: they stay files.
func TestIndexRefuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("N")
	taken := w.createDoc(box, "/Taken", "x")
	sy := func(id string) string {
		return `{"ID":"` + id + `","Spec":"2","Type":"NodeDocument","Properties":{"id":"` + id + `","title":"T","type":"doc"}}`
	}
	for p, content := range map[string]string{
		"/20240101000000-aaaaaaa.sy":                        sy("20240101000000-bbbbbbb"),
		"/20240101000000-ccccccc.sy":                        "not JSON",
		"/20240101000000-ddddddd.sy":                        `{"ID":"20240101000000-ddddddd","Type":"NodeParagraph"}`,
		"/20990101000000-zzzzzzz/20240101000000-eeeeeee.sy": sy("20240101000000-eeeeeee"),
		"/" + taken + "/" + taken + ".sy":                   sy(taken),
		"/notanid.sy":                                       sy("notanid"),
		"/20240101000000-fffffff.sy/x.sy":                   sy("20240101000000-fffffff"),
		"/" + box + "/20240101000000-ggggggg.sy":            sy("20240101000000-ggggggg"),
	} {
		w.putFile("/data/"+box+p, content)
		w.call(0, "/api/filetree/upsertIndexes", object{"paths": []string{"/" + box + p, "/../" + box + p, box + p, "/x" + p}})
		if _, ok := w.readFile("/data/" + box + p); !ok {
			t.Errorf("%s is gone", p)
		}
	}
	w.update(func(tx *workspace.Tx) {
		if n := len(tx.Documents(nil)); n != 2 {
			t.Errorf("there are %d documents", n)
		}
	})
}

// TestStaticFiles checks that the addresses below /assets/ and /templates/ serve no other files.
func TestStaticFiles(t *testing.T) {
	t.Parallel()
	w, _ := newFixtureWithCanaries(t)
	w.putFile("/data/assets/a b.txt", "asset")
	for target, want := range map[string]string{
		"/assets/a%20b.txt": "asset", "/assets/../storage/canary": "", "/assets/..%2fstorage%2fcanary": "",
		"/assets/%2e%2e/storage/canary": "", "/templates/../storage/canary": "", "/assets/..%2f..%2ftemp%2fcanary": "", "/assets/": "", "/assets/%00": "",
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, req)
		if rec.Code == http.StatusOK && rec.Body.String() != want || want != "" && rec.Body.String() != want {
			t.Errorf("%s: %d %q", target, rec.Code, rec.Body)
		}
	}
}

func TestExportResources(t *testing.T) {
	t.Parallel()
	w, box := newFixtureWithCanaries(t)
	doc := w.createDoc(box, "/Down", "文字")
	w.putFile("/data/assets/a.png", "png")
	w.putFile("/data/public/a.png", "other")
	p := w.call(0, "/api/export/exportResources", object{
		"paths": []string{"/data/assets/a.png", "data/public/a.png", "/data/" + box}, "name": "../我的/x",
	}).Get("path").Str
	if !strings.HasPrefix(p, "temp/export/") || strings.Contains(strings.TrimPrefix(p, "temp/export/"), "/") || strings.Contains(p, "/..") {
		t.Errorf("path: %q", p)
	}
	data, ok := w.readFile(p)
	if !ok {
		t.Fatalf("no archive at %s", p)
	}
	z, err := zip.NewReader(bytes.NewReader([]byte(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		held[f.Name] = string(content)
	}
	if held["a.png"] != "png" || held["a (2).png"] != "other" || !strings.Contains(held[box+"/"+doc+".sy"], "文字") || held[box+"/.siyuan/conf.json"] == "" {
		t.Errorf("the archive holds %q", held)
	}
	w.update(func(tx *workspace.Tx) {
		tx.WriteFile("/temp/export/old.zip", nil, time.Now().Add(-25*time.Hour))
		tx.WriteFile("/temp/export/young.zip", nil, time.Now().Add(-23*time.Hour))
	})
	w.call(0, "/api/export/exportResources", object{"paths": []string{}})
	if got := strings.Join(w.entryNames("/temp/export"), " "); strings.Contains(got, "old.zip") || !strings.Contains(got, "young.zip") {
		t.Errorf("exports: %s", got)
	}
	for _, bad := range []string{"/", "", "/..", "/../x", "/data/none", "/data/\x00"} {
		w.call(1, "/api/export/exportResources", object{"paths": []string{bad}})
	}
}

func TestExportMarkdown(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("N")
	target := w.createDoc(box, "/Target 目标", "first\n\nsecond")
	doc := w.createDoc(box, "/Doc", "see (("+target+" \"the target\")) and (("+target+" 'again')) and ((20990101000000-zzzzzzz \"gone\"))\n\n{{ select * from blocks where id='"+target+"' }}\n\n{{ select nonsense( }}")
	get := func(body object) string {
		body["id"] = doc
		body["yfm"] = false
		return w.call(0, "/api/export/exportMdContent", body).Get("content").Str
	}
	want := "# Doc\n\nsee the target[^1] and again[^1] and gone\n\n> first\n>\n> second\n\n[^1]: # Target 目标\n\n    first\n\n    second\n"
	if diff := cmp.Diff(want, get(object{})); diff != "" {
		t.Errorf("footnotes (-want +got):\n%s", diff)
	}
	link := "](siyuan://blocks/"
	want = "see [the target" + link + target + ") and [again" + link + target + ") and [gone" + link + "20990101000000-zzzzzzz)\n\nfirst\n\nsecond\n"
	if diff := cmp.Diff(want, get(object{"refMode": 2, "embedMode": 0, "addTitle": false})); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if text := w.kramdown(doc); !strings.Contains(text, "{{select") || strings.Contains(text, "siyuan://") {
		t.Errorf("the export has changed the document:\n%s", text)
	}
}

// TestExportMarkdownForOthers exports for programs that know neither super blocks nor links to blocks.
func TestExportMarkdownForOthers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.createNotebook("N")
	target := w.createDoc(box, "/Target", "body")
	link := "[there](siyuan://blocks/" + target + ")"
	doc := w.createDoc(box, "/Doc", "{{{row\nleft\n\n{{{col\nmiddle\n\n"+link+"\n}}}\n\nright\n}}}\n\n[web](https://example.com)")
	get := func(mode int) string {
		return w.call(0, "/api/export/exportMdContent", object{"id": doc, "yfm": false, "addTitle": false, "refMode": mode}).Get("content").Str
	}
	for mode, shown := range map[int]string{2: link, 3: "there", 4: "there[^1]"} {
		want := "left\n\nmiddle\n\n" + shown + "\n\nright\n\n[web](https://example.com)\n"
		if mode == 4 {
			want += "\n[^1]: # Target\n\n    body\n"
		}
		if diff := cmp.Diff(want, get(mode)); diff != "" {
			t.Errorf("refMode %d (-want +got):\n%s", mode, diff)
		}
	}
}

// TestTemplatesReadNotes compares templates that read notes with the results of a kernel.
func TestTemplatesReadNotes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	box := w.call(0, "/api/notebook/createNotebook", object{"name": "Notes"}).Get("notebook.id").Str
	doc := w.call(0, "/api/filetree/createDocWithMd", object{"notebook": box, "path": "/Tpl 模板", "markdown": "one two 三四\n\nsecond **bold**"}).Str
	first := w.call(0, "/api/block/getChildBlocks", object{"id": doc}).Get("0.id").Str
	closed := w.call(0, "/api/notebook/createNotebook", object{"name": "Closed"}).Get("notebook.id").Str
	hidden := w.call(0, "/api/filetree/createDocWithMd", object{"notebook": closed, "path": "/Hidden", "markdown": "hidden words"}).Str
	w.call(0, "/api/notebook/closeNotebook", object{"notebook": closed})
	for text, want := range map[string]string{
		`{{ (getBlock "` + first + `").Content }}|{{ (getBlock "` + first + `").HPath }}`:                                                         "one two 三四|/Tpl 模板",
		`{{ if getBlock "20990101000000-zzzzzzz" }}yes{{ else }}no{{ end }}`:                                                                      "no",
		`{{ getHPathByID "` + first + `" }}|{{ getHPathByID "bad" }}`:                                                                             "/Tpl 模板|",
		`{{ with statBlock "` + first + `" }}{{ .RuneCount }} {{ .WordCount }} {{ .BlockCount }}{{ end }}`:                                        "8 4 1",
		`{{ (statBlock "` + doc + `").BlockCount }}`:                                                                                              "2",
		`{{ range querySpans "SELECT * FROM spans WHERE root_id = '?'" "` + doc + `" }}{{ .Content }} {{ .Type }}{{ end }}`:                       "bold textmark strong",
		`{{ range querySQL "SELECT length, 1.5 AS f, 't' AS s FROM blocks WHERE id = '` + first + `'" }}{{ .length }} {{ .f }} {{ .s }}{{ end }}`: "10 1.5 t",
		`{{ if getBlock "` + hidden + `" }}there{{ end }}{{ getHPathByID "` + hidden + `" }}{{ with statBlock "` + hidden + `" }}there{{ end }}`:  "",
		`{{ len (querySQL "SELECT id FROM blocks WHERE content LIKE '%hidden%'") }}`:                                                              "0",
	} {
		if got := w.call(0, "/api/template/renderSprig", object{"template": text}).Str; got != want {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	w, box := newFixtureWithCanaries(t)
	doc := w.createDoc(box, "/Use", "text")
	w.putFile("/data/templates/会议/Weekly.md", "# .action{.title}\n\n.action{ range queryBlocks \"SELECT * FROM blocks WHERE id = '?'\" \""+doc+"\" }.action{.ID} .action{.Content}.action{ end }")
	w.putFile("/data/templates/loop.md", ".action{ range 1000000000000 }.action{ end }")
	w.putFile("/data/templates/notes.txt", "no template")
	found := w.call(0, "/api/search/searchTemplate", object{"k": "WEEK"}).Get("templates")
	if len(found.Array()) != 1 || found.Get("0.content").Str != "/会议/<mark>Week</mark>ly" {
		t.Fatalf("templates: %s", found.Raw)
	}
	at := found.Get("0.path").Str
	dom := w.call(0, "/api/template/render", object{"id": doc, "path": at}).Get("content").Str
	if !strings.Contains(dom, ">Use<") || !strings.Contains(dom, doc+" Use") {
		t.Errorf("rendered: %s", dom)
	}
	w.call(-1, "/api/template/render", object{"id": doc, "path": "/workspace/data/templates/loop.md"})
	w.call(-1, "/api/template/render", object{"id": doc, "path": "/workspace/data/templates/notes.txt"})
	w.call(-1, "/api/template/render", object{"id": doc, "path": "/workspace/temp/canary"})
	for _, statement := range []string{"DELETE FROM blocks", "SELECT body FROM record", "SELECT data FROM file", "ATTACH 'x' AS y", "SELECT * FROM blocks; DROP TABLE node", "PRAGMA writable_schema = 1"} {
		w.call(-1, "/api/template/renderSprig", object{"template": `{{ queryBlocks "` + statement + `" }}`})
	}
}
