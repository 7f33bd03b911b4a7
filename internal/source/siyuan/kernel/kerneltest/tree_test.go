package kerneltest_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

func ids(list gjson.Result) (found []string) {
	for _, entry := range list.Array() {
		found = append(found, entry.Get("id").Str)
	}
	return found
}

func TestChineseTreeByEveryWay(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	box := k.Notebook("工作笔记")
	doc := k.Doc(box, "/项目/阿尔法", "## 目标\n\n完成 **初稿** #计划#")
	if got := data(t, k, "/api/filetree/getHPathByID", `{"id":"`+doc+`"}`).Str; got != "/项目/阿尔法" {
		t.Errorf("hpath %q", got)
	}
	found := data(t, k, "/api/filetree/getIDsByHPath", `{"notebook":"`+box+`","path":"/项目/阿尔法"}`)
	if found.Get("0").Str != doc {
		t.Errorf("by hpath: %s, want %s", found.Raw, doc)
	}
	rows := data(t, k, "/api/query/sql", `{"stmt":"select content, tag from blocks where type='p' and root_id='`+doc+`'"}`)
	if got := rows.Raw; got != `[{"content":"完成 初稿 #计划#","tag":"#计划#"}]` {
		t.Errorf("sql: %s", got)
	}
	if got := data(t, k, "/api/filetree/searchDocs", `{"k":"阿尔"}`).Get("0.hPath").Str; got != "工作笔记/项目/阿尔法" {
		t.Errorf("search: %q", got)
	}
}

func TestIndexDelay(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	box := k.Notebook("N")
	doc := k.Doc(box, "/D", "one")
	k.DelayIndex(true)
	count := func() int64 {
		return data(t, k, "/api/query/sql", `{"stmt":"select count(*) as n from blocks where content='two'"}`).Get("0.n").Int()
	}
	add := `{"dataType":"markdown","data":"two","parentID":"` + doc + `"}`
	data(t, k, "/api/block/appendBlock", add)
	if n := count(); n != 0 {
		t.Errorf("%d rows before a flush, want 0", n)
	}
	data(t, k, "/api/sqlite/flushTransaction", "{}")
	if n := count(); n != 1 {
		t.Errorf("%d rows after a flush, want 1", n)
	}
	data(t, k, "/api/block/appendBlock", add)
	k.IndexNow()
	if n := count(); n != 2 {
		t.Errorf("%d rows after IndexNow, want 2", n)
	}
}

func TestUpdateDropsAttributes(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	doc := k.Doc(k.Notebook("N"), "/D", "text\n{: id=\"20240101120000-abcdefg\" custom-x=\"1\"}")
	if got := data(t, k, "/api/attr/getBlockAttrs", `{"id":"20240101120000-abcdefg"}`).Get("custom-x").Str; got != "1" {
		t.Fatalf("custom-x of the IAL is %q", got)
	}
	data(t, k, "/api/block/updateBlock", `{"dataType":"markdown","data":"- a\n- b","id":"20240101120000-abcdefg"}`)
	if got := data(t, k, "/api/attr/getBlockAttrs", `{"id":"20240101120000-abcdefg"}`); got.Get("custom-x").Exists() {
		t.Errorf("attributes survive an update: %s", got.Raw)
	}
	child := data(t, k, "/api/block/getChildBlocks", `{"id":"`+doc+`"}`).Get("0")
	if child.Get("type").Str != "l" || child.Get("id").Str != "20240101120000-abcdefg" {
		t.Errorf("the block became %s, want a list with the same id", child.Raw)
	}
}

func TestClosedNotebookHidesItsTree(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	box := k.Notebook("N")
	doc := k.Doc(box, "/D", "text")
	data(t, k, "/api/notebook/closeNotebook", `{"notebook":"`+box+`"}`)
	if _, answer := post(t, k, "/api/filetree/listDocsByPath", `{"notebook":"`+box+`","path":"/"}`); answer.Get("msg").Str != "Query notebook failed" {
		t.Errorf("list: %s", answer.Raw)
	}
	if rows := data(t, k, "/api/query/sql", `{"stmt":"select id from blocks"}`); rows.Raw != "[]" {
		t.Errorf("sql: %s", rows.Raw)
	}
	data(t, k, "/api/notebook/openNotebook", `{"notebook":"`+box+`"}`)
	if got := data(t, k, "/api/filetree/getHPathByID", `{"id":"`+doc+`"}`).Str; got != "/D" {
		t.Errorf("reopened: %q", got)
	}
}

func TestOldHandlersPanicOnMissingKeys(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.Lenient()
	doc := k.Doc(k.Notebook("N"), "/D", "text")
	_, answer := post(t, k, "/api/block/appendBlock", `{"data":"x","parentID":"`+doc+`"}`)
	if answer.Raw != `{"code":0,"msg":"","data":null}` {
		t.Errorf("got %s", answer.Raw)
	}
	if n := len(data(t, k, "/api/block/getChildBlocks", `{"id":"`+doc+`"}`).Array()); n != 1 {
		t.Errorf("%d blocks, want nothing written", n)
	}
}

func TestTransactionRollsBack(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	doc := k.Doc(k.Notebook("N"), "/D", "text\n{: id=\"20240101120000-abcdefg\"}")
	before := data(t, k, "/api/block/getBlockKramdown", `{"id":"`+doc+`"}`).Get("kramdown").Str
	data(t, k, "/api/transactions", `{"reqId":1,"app":"t","session":"s","transactions":[{"doOperations":[
		{"action":"setAttrs","id":"20240101120000-abcdefg","data":"{\"custom-a\":\"1\"}"},
		{"action":"update","id":"20990101000000-zzzzzzz","data":"<div data-type=\"NodeParagraph\"></div>"}],"undoOperations":[]}]}`)
	after := data(t, k, "/api/block/getBlockKramdown", `{"id":"`+doc+`"}`).Get("kramdown").Str
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestSQLLimit(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	const numbers = "with recursive c(x) as (select 1 union all select x+1 from c where x<100) select x from "
	for statement, want := range map[string]int{
		numbers + "c":                          64,
		numbers + "c limit 90":                 90,
		numbers + "(select x from c limit 80)": 64,
		"select x'00ff' as bin; ":              1,
	} {
		if got := len(data(t, k, "/api/query/sql", `{"stmt":"`+statement+`"}`).Array()); got != want {
			t.Errorf("%s: %d rows, want %d", statement, got, want)
		}
	}
}

func TestFilesSeeTheTree(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	box := k.Notebook("N")
	doc := k.Doc(box, "/D", "text")
	k.File("/data/storage/x/y.txt", []byte("数据"))
	if _, body, _ := tryPost(t, k, "/api/file/getFile", `{"path":"/data/storage/x/y.txt"}`); body != "数据" {
		t.Errorf("file: %q", body)
	}
	if _, body, _ := tryPost(t, k, "/api/file/getFile", `{"path":"/data/`+box+`/`+doc+`.sy"}`); gjson.Get(body, "Properties.title").Str != "D" {
		t.Errorf(".sy: %s", body)
	}
	if status, answer := post(t, k, "/api/file/getFile", `{"path":"/data/none"}`); status != 202 || answer.Get("code").Int() != 404 {
		t.Errorf("missing file: %d %s", status, answer.Raw)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("path", "/data/assets/pic.txt")
	_ = w.WriteField("isDir", "false")
	part, _ := w.CreateFormFile("file", "pic.txt")
	_, _ = part.Write([]byte("bytes"))
	_ = w.Close()
	if _, answer := post(t, k, "/api/file/putFile", form.String(), "Content-Type", w.FormDataContentType()); answer.Get("code").Int() != 0 {
		t.Errorf("put: %s", answer.Raw)
	}
	if got := k.Writes()[0].Form["file"]; got != "bytes" {
		t.Errorf("recorded form file %q", got)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, k.URL()+"/assets/pic.txt", nil)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("asset: %d", resp.StatusCode)
	}
}

func TestConcurrentAppends(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	doc := k.Doc(k.Notebook("N"), "/D", "text")
	done := make(chan struct{})
	for range 20 {
		go func() {
			defer func() { done <- struct{}{} }()
			_, _, _ = tryPost(t, k, "/api/block/appendBlock", `{"dataType":"markdown","data":"more","parentID":"`+doc+`"}`)
		}()
	}
	for range 20 {
		<-done
	}
	children := ids(data(t, k, "/api/block/getChildBlocks", `{"id":"`+doc+`"}`))
	seen := map[string]bool{}
	for _, id := range children {
		seen[id] = true
	}
	if len(children) != 21 || len(seen) != 21 {
		t.Errorf("%d children with %d ids, want 21: %s", len(children), len(seen), strings.Join(children, " "))
	}
}
