package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault"
	"collie/internal/vault/vaulttest"
	"collie/test/await"
)

// answerWithin bounds how long any request may take, however malicious.
const answerWithin = await.Limit

// attackedVault is a vault under attack, with one notebook and one document.
type attackedVault struct {
	*vault.Vault
	dir      string // the folder with its file, which holds nothing else
	box, doc string // ids of the notebook and the document
}

// newAttackedVault makes a vault with a notebook and a document.
func newAttackedVault(t *testing.T) attackedVault {
	t.Helper()
	v := attackedVault{dir: t.TempDir()}
	v.Vault = vault.New(filepath.Join(v.dir, "vault.db"), vault.Options{Log: vaulttest.Log(t)})
	t.Cleanup(func() { _ = v.Close() })
	c := newClient(v.Vault)
	made, err := c.ask(t.Context(), "/api/notebook/createNotebook", object{"name": "Notes"})
	if err != nil {
		t.Fatal(err)
	}
	v.box = made.Get("notebook.id").Str
	doc, err := c.ask(t.Context(), "/api/filetree/createDocWithMd", object{
		"notebook": v.box, "path": "/Plan", "markdown": "# Plan\n\ntext 文字 #tag#\n\n- item",
	})
	if err != nil {
		t.Fatal(err)
	}
	v.doc = doc.Str
	return v
}

// send sends a body to an endpoint, and returns status and body of the answer.
func (v attackedVault) send(t *testing.T, endpoint, body string) (status int, answer string) {
	t.Helper()
	return v.do(t, httptest.NewRequest(http.MethodPost, "http://vault"+endpoint, strings.NewReader(body)))
}

// do handles a request. The test fails if there is no answer in time, or the answer is a server error.
func (v attackedVault) do(t *testing.T, r *http.Request) (status int, answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
	defer cancel()
	rec := httptest.NewRecorder()
	v.ServeHTTP(rec, r.WithContext(ctx))
	if ctx.Err() != nil {
		t.Fatalf("%s: no answer within %v", r.URL.Path, answerWithin)
	}
	if rec.Code >= http.StatusInternalServerError {
		t.Errorf("%s: status %d: %.500s", r.URL.Path, rec.Code, rec.Body)
	}
	return rec.Code, rec.Body.String()
}

// wantUnharmed checks that the document is as newAttackedVault made it, that the folder of the vault has no other files, and
// that the checker finds no problem.
func (v attackedVault) wantUnharmed(t *testing.T) {
	t.Helper()
	c := newClient(v.Vault)
	text, err := c.ask(t.Context(), "/api/block/getBlockKramdown", object{"id": v.doc})
	if err != nil || !strings.Contains(text.Get("kramdown").Str, "text 文字 #tag#") {
		t.Errorf("the document is %s, error %v", text.Raw, err)
	}
	found, err := filepath.Glob(filepath.Join(v.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if name, _, _ := strings.Cut(filepath.Base(path), "-"); name != "vault.db" {
			t.Errorf("%s lies beside the vault", path)
		}
	}
	v.wantSound(t)
}

// wantSound fails the test if the checker finds a problem.
func (v attackedVault) wantSound(t *testing.T) {
	t.Helper()
	w, err := v.Workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problems, err := w.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// TestNoPathLeadsOut tries to read and write files outside of the workspace, and the file of the vault itself.
func TestNoPathLeadsOut(t *testing.T) {
	t.Parallel()
	v := newAttackedVault(t)
	const secret = "what lies outside 秘密"
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 12)
	paths := []string{
		outside, up + outside[1:], "/data/" + up + outside[1:], "/data/assets/" + up + outside[1:], "file://" + outside,
		strings.ReplaceAll("/data/"+up, "/", `\`) + outside, "/data/%2e%2e/%2e%2e" + outside, "/data/..%2f..%2f" + outside,
		"/data/....//....//" + outside, "/data/./../.." + outside, "//" + outside, "/data/\x00" + outside, outside + "\x00.md",
		"/data/assets/.." + strings.Repeat("/..", 200) + outside, v.Path(), "/data/../" + v.Path(), "~/secret.md", `C:\secret.md`, `\\host\secret`,
	}
	for _, path := range paths {
		quoted := string(mustJSON(t, path))
		for endpoint, body := range map[string]string{
			"/api/file/getFile":                 `{"path":` + quoted + `}`,
			"/api/file/readDir":                 `{"path":` + quoted + `}`,
			"/api/file/removeFile":              `{"path":` + quoted + `}`,
			"/api/export/exportResources":       `{"name":"out","paths":[` + quoted + `]}`,
			"/api/template/render":              `{"id":"` + v.doc + `","path":` + quoted + `}`,
			"/api/filetree/listDocsByPath":      `{"notebook":"` + v.box + `","path":` + quoted + `}`,
			"/api/filetree/listDocTree":         `{"notebook":"` + v.box + `","path":` + quoted + `}`,
			"/api/asset/removeUnusedAsset":      `{"path":` + quoted + `}`,
			"/api/asset/renameAsset":            `{"oldPath":` + quoted + `,"newName":` + quoted + `}`,
			"/api/asset/getImageOCRText":        `{"path":` + quoted + `}`,
			"/api/filetree/createDocWithMd":     `{"notebook":"` + v.box + `","markdown":"x","path":` + quoted + `}`,
			"/api/history/getDocHistoryContent": `{"historyPath":` + quoted + `}`,
		} {
			if _, answer := v.send(t, endpoint, body); strings.Contains(answer, secret) || strings.Contains(answer, "SQLite format") {
				t.Errorf("%s answers what lies at %q", endpoint, path)
			}
		}
		v.do(t, uploadRequest(t, "/api/file/putFile", map[string]string{"path": path, "isDir": "false"}, "file", "owned"))
		v.do(t, uploadRequest(t, "/api/asset/upload", map[string]string{"assetsDirPath": path}, "file[]", "owned"))
	}
	for _, path := range []string{
		"/assets/../../../../../../../.." + outside, "/assets/%2e%2e/%2e%2e/" + outside, "/templates/..//..//" + outside, "/assets/" + outside,
		"/assets/..%5c..%5cconf", "/api/../assets/../conf/conf.json",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://vault/", http.NoBody)
		r.URL.Path = path
		if _, answer := v.do(t, r); strings.Contains(answer, secret) {
			t.Errorf("GET %s answers what lies outside", path)
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != secret {
		t.Errorf("the file outside holds %q, error %v", data, err)
	}
	v.wantUnharmed(t)
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// uploadRequest returns a multipart request that uploads a file.
func uploadRequest(t *testing.T, endpoint string, fields map[string]string, name, content string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field, value := range fields {
		if err := w.WriteField(field, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile(name, "../../owned.md")
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://vault"+endpoint, &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

// TestStatementsOnlyRead tries statements that write, reach other tables or files, or take all memory.
func TestStatementsOnlyRead(t *testing.T) {
	t.Parallel()
	v := newAttackedVault(t)
	leak := filepath.Join(v.dir, "leak.db")
	for _, statement := range []string{
		"DELETE FROM blocks", "UPDATE blocks SET content = ''", "DROP TABLE node", "INSERT INTO stat VALUES (1, 2)", "CREATE TABLE x (a)",
		"SELECT 1; DELETE FROM node", "SELECT 1;;DROP TABLE node", "/* SELECT */ DELETE FROM node", "WITH a AS (SELECT 1) DELETE FROM node",
		"EXPLAIN DELETE FROM node", "ATTACH '" + leak + "' AS x", "VACUUM INTO '" + leak + "'", "PRAGMA writable_schema = 1", "PRAGMA journal_mode = DELETE",
		"SELECT load_extension('x')", "SELECT writefile('" + leak + "', 'x')", "SELECT readfile('/etc/passwd')", "SELECT * FROM node", "SELECT * FROM record",
		"SELECT data FROM file", "SELECT * FROM pragma_table_info('node')", "SELECT fts5(1)", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x",
		"INSERT INTO blocks_fts (blocks_fts) VALUES ('delete-all')", "REINDEX", "ANALYZE", "SELECT 1 WHERE 1=1 UNION SELECT conf FROM notebook",
	} {
		_, answer := v.send(t, "/api/query/sql", string(mustJSON(t, object{"stmt": statement})))
		if gjson.Get(answer, "code").Int() == 0 && len(gjson.Get(answer, "data").Array()) > 0 {
			t.Errorf("%s answers %.300s", statement, answer)
		}
	}
	for _, statement := range []string{
		"SELECT zeroblob(2000000000)", "SELECT randomblob(2000000000)", "SELECT hex(zeroblob(900000000))", "SELECT printf('%.*c', 2000000000, 'x')",
		"SELECT replace(printf('%1000000d', 0), '0', printf('%10000d', 0))", "SELECT '" + strings.Repeat("x", 4<<20) + "' || id FROM blocks",
		"SELECT " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000), "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 20_000),
		"SELECT * FROM blocks a, blocks b, blocks c, blocks d LIMIT 100000000", "SELECT '" + "\x00" + "'", "SELECT \xff\xfe",
	} {
		before := totalAllocated()
		v.send(t, "/api/query/sql", string(mustJSON(t, object{"stmt": statement})))
		if grown := totalAllocated() - before; grown > 1<<30 {
			t.Errorf("%.60s takes %d MiB", statement, grown>>20)
		}
	}
	for _, id := range []string{"' OR 1=1 --", `"; DROP TABLE node; --`, "20240101000000-aaaaaaa' OR '1'='1", "%", "*"} {
		for _, endpoint := range []string{"/api/block/getBlockInfo", "/api/attr/getBlockAttrs", "/api/filetree/getHPathByID", "/api/block/getChildBlocks", "/api/block/deleteBlock"} {
			if _, answer := v.send(t, endpoint, string(mustJSON(t, object{"id": id}))); gjson.Get(answer, "code").Int() == 0 && gjson.Get(answer, "data.#").Int() > 0 {
				t.Errorf("%s of %s answers %.300s", endpoint, id, answer)
			}
		}
		v.send(t, "/api/search/fullTextSearchBlock", string(mustJSON(t, object{"query": id, "method": 1})))
	}
	v.wantUnharmed(t)
}

// totalAllocated returns how many bytes the process has allocated so far, in total.
func totalAllocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// endlessBody is a request body that never ends.
type endlessBody struct{ read int64 }

func (e *endlessBody) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

// TestOversizedBodyIsRefused sends bodies that never end, without a length and with a huge one.
func TestOversizedBodyIsRefused(t *testing.T) {
	v := newAttackedVault(t) // not in parallel, because the test measures what is allocated
	for name, length := range map[string]int64{"unknown": -1, "known": 1 << 40} {
		body := &endlessBody{}
		r := httptest.NewRequest(http.MethodPost, "http://vault/api/block/appendBlock", body)
		r.ContentLength = length
		before := totalAllocated()
		_, answer := v.do(t, r)
		if gjson.Get(answer, "code").Int() == 0 || !strings.Contains(answer, "too large") {
			t.Errorf("length %s: answered %.300s", name, answer)
		}
		if grown := totalAllocated() - before; length > 0 && grown > 16<<20 || grown > 512<<20 {
			t.Errorf("length %s: it took %d MiB to refuse it after %d MiB", name, grown>>20, body.read>>20)
		}
	}
	v.wantUnharmed(t)
}

// TestBrokenMarkupIsKept writes texts that are made to break parsers, as Markdown and as DOM. If they are accepted,
// the block must be readable, and at the end the vault must be sound.
func TestBrokenMarkupIsKept(t *testing.T) {
	t.Parallel()
	v := newAttackedVault(t)
	many := await.Fewer(100_000)
	texts := map[string]string{ // lute takes quadratic time for dollars and for elements
		"nested quotes": strings.Repeat(">", many) + " x", "spaced quotes": strings.Repeat("> ", many) + "x",
		"lists in a line": strings.Repeat("- ", many) + "x", "numbers in a line": strings.Repeat("1. ", many/2) + "x",
		"brackets": strings.Repeat("[", many), "links": strings.Repeat("[a](", many/4), "references": strings.Repeat("((", many), "emphasis": strings.Repeat("*a ", many/4),
		"both emphases": strings.Repeat("*_", many/4), "backticks": strings.Repeat("`", many), "attribute lists": strings.Repeat("{: ", many), "super blocks": strings.Repeat("{{{row\n", many/10),
		"embeds": strings.Repeat("{{", many), "elements": strings.Repeat("<div>", many/20), "comments": strings.Repeat("<!--", many/4), "tags": strings.Repeat("#a", many/2),
		"pipes": strings.Repeat("|", many), "a wide table": strings.Repeat("|a", 2000) + "|\n" + strings.Repeat("|-", 2000) + "|\n" + strings.Repeat("|b", 2000) + "|",
		"dollars": strings.Repeat("$", many/5), "entities": strings.Repeat("&amp;", many/4), "backslashes": strings.Repeat(`\`, many), "escapes": strings.Repeat(`\*`, many/2),
		"unclosed": "```go\n$$\n{{{col\n> - [ ] **a `b ((20240101000000-abcdefg 'c\n{: id=\"20240101000000-abcdefg\" custom-x=\"", "line ends": strings.Repeat("\r", 1000) + strings.Repeat("\r\n", 1000),
		"NUL": "a\x00b\x00", "controls": "\x01\x02\x1b[31m\u2028\u2029\ufeff\u202e", "surrogates": `\ud800\udfff`, "not UTF-8": "a\xff\xfeb\xc3", "zero width": strings.Repeat("\u200b", many),
		"one long word": strings.Repeat("长", many), "combining": "e" + strings.Repeat("\u0301", many), "its own id": "{: id=\"" + v.doc + "\"}\n\nx\n{: id=\"" + v.doc + "\"}",
	}
	for name, text := range texts {
		for _, kind := range []string{"markdown", "dom"} {
			body := string(mustJSON(t, object{"dataType": kind, "data": text, "parentID": v.doc}))
			_, answer := v.send(t, "/api/block/appendBlock", body)
			id := gjson.Get(answer, "data.0.doOperations.0.id").Str
			if gjson.Get(answer, "code").Int() != 0 {
				continue // refused
			}
			if _, got := v.send(t, "/api/block/getBlockKramdown", `{"id":"`+id+`"}`); gjson.Get(got, "code").Int() != 0 {
				t.Errorf("%s as %s cannot be read back: %.300s", name, kind, got)
			}
			v.send(t, "/api/block/deleteBlock", `{"id":"`+id+`"}`)
		}
	}
	v.wantUnharmed(t)
}

// TestBadValuesAreRefused sends invalid bodies to every endpoint, except three that remove things, and invalid values
// for each parameter that was ever recorded for it. The vault must answer each, and stay sound.
func TestBadValuesAreRefused(t *testing.T) {
	t.Parallel()
	v := newAttackedVault(t)
	long := `"` + strings.Repeat("长", 100_000) + `"`
	values := []string{
		`null`, `true`, `1e999`, `-1e308`, `9223372036854775808`, `0.5`, `-1`, `1e18`, `""`, `"\u0000"`, "\"\xff\xfe\"", `"\ud800"`, `"../.."`, long, `[]`, `{}`, `[null]`, `[[]]`,
		`"20240101000000-zzzzzzz"`, `"99999999999999-0000000"`, `"20240101000000-ABCDEFG"`, `["20240101000000-zzzzzzz", 1, null]`, `{"a":{"b":[1]}}`, `"` + v.doc + `"`, `"` + v.box + `"`,
	}
	bodies := []string{
		"", " ", "null", "[]", `"x"`, "1", "{", "}", `{"a"`, `{"a":}`, "\x00", "\xff\xfe", "{}{}", `{"":""}`, strings.Repeat(`{"a":`, 100_000), strings.Repeat("[", 100_000),
		`{"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, `{"id":` + strings.Repeat(`{"id":`, 5_000) + "1" + strings.Repeat("}", 5_001),
	}
	params := recordedParams(t)
	endpoints := vault.Endpoints()
	slices.Sort(endpoints)
	for i, endpoint := range endpoints {
		if await.Race && i%5 != 0 {
			continue
		}
		if endpoint == "/api/filetree/removeDocByID" || endpoint == "/api/notebook/removeNotebook" || endpoint == "/api/block/deleteBlock" {
			continue // the values include ids that exist, and these endpoints would remove them
		}
		for _, body := range bodies {
			v.send(t, endpoint, body)
		}
		for _, value := range values {
			var all []string
			for _, name := range params[endpoint] {
				all = append(all, string(mustJSON(t, name))+":"+value)
			}
			v.send(t, endpoint, "{"+strings.Join(all, ",")+"}")
		}
	}
	v.wantSound(t)
}

// recordedParams returns the names of the parameters in the recorded requests, by endpoint.
func recordedParams(t *testing.T) map[string][]string {
	t.Helper()
	params := map[string][]string{}
	for _, row := range kerneltest.Recordings(t) {
		gjson.ParseBytes(row.ReqBody).ForEach(func(name, _ gjson.Result) bool {
			if endpoint := row.Endpoint(); !slices.Contains(params[endpoint], name.Str) {
				params[endpoint] = append(params[endpoint], name.Str)
			}
			return true
		})
	}
	return params
}

// TestGivingUpLeavesNothingBehind makes many requests at once whose callers give up at random moments. All
// acknowledged writes are there, and the next request is answered.
func TestGivingUpLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	v := newAttackedVault(t)
	c := newClient(v.Vault)
	var mu sync.Mutex
	acknowledged := 0
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for i := range 10 {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(8*time.Millisecond))
				var err error
				switch i % 3 {
				case 0:
					_, err = c.ask(ctx, "/api/block/appendBlock", object{"dataType": "markdown", "data": "counted", "parentID": v.doc})
					if err == nil {
						mu.Lock()
						acknowledged++
						mu.Unlock()
					}
				case 1:
					_, err = c.ask(ctx, "/api/search/fullTextSearchBlock", object{"query": "counted"})
				case 2:
					_, err = c.ask(ctx, "/api/query/sql", object{"stmt": "SELECT count(*) FROM blocks a, blocks b, blocks c"})
				}
				cancel()
				_ = err // the caller has given up
			}
		})
	}
	wg.Wait()
	got, err := c.ask(t.Context(), "/api/query/sql", object{"stmt": "SELECT count(*) AS n FROM blocks WHERE content = 'counted'"})
	if n := int(got.Get("0.n").Int()); err != nil || n < acknowledged {
		t.Errorf("%d appends are there, %d were acknowledged, error %v", n, acknowledged, err)
	}
	if _, err := c.ask(t.Context(), "/api/block/appendBlock", object{"dataType": "markdown", "data": "after", "parentID": v.doc}); err != nil {
		t.Error(err)
	}
	v.wantUnharmed(t)
}
