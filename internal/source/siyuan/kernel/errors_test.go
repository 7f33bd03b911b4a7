package kernel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// TestErrorTexts: a message is recognized in each of the known languages of the interface; the code is nearly always
// -1.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	const id = "20240101000000-abcdefg"
	tests := []struct {
		kind  tool.ErrorKind
		code  string
		texts []string // English, simplified and traditional Chinese, Japanese
	}{
		{tool.NotFound, kernel.CodeBlockNotFound, []string{
			"block not found", "Content block with id [" + id + "] not found", "parent block not found: " + id, "indexing",
			"未找到 ID 为 [" + id + "] 的内容块", "未找到 ID 為 [" + id + "] 的內容塊", "ブロック [" + id + "] が見つかりません",
		}},
		{tool.NotFound, kernel.CodeNotebookNotFound, []string{
			"notebook not found", "notebook [" + id + "] not found", "create daily note failed: notebook not found",
			"笔记本不存在", "筆記本不存在", "ノートブックが見つかりません",
		}},
		{kernel.API, kernel.CodeNotebookClosed, []string{
			"Query notebook failed", "The notebook is closed", "notebook is initializing, please wait",
			"笔记本已关闭", "筆記本已關閉", "ノートブックは閉じています",
		}},
		{tool.NotFound, kernel.CodeDocumentNotFound, []string{
			"tree not found", "get block failed: tree not found", "document not found", "文档不存在", "文檔不存在", "ドキュメントが見つかりません",
		}},
		{tool.NotFound, kernel.CodeDatabaseNotFound, []string{
			"view not found", "attribute view not found", "数据库不存在", "資料庫不存在", "データベースが見つかりません",
		}},
		{kernel.API, kernel.CodeReadOnly, []string{
			"This operation is not supported in read-only mode", "只读模式下不支持该操作", "唯讀模式下不支援該操作", "読み取り専用モードではサポートされていません",
		}},
		{kernel.API, "permission_denied", []string{"permission denied", "权限被拒绝", "權限被拒絕", "権限が拒否されました"}},
		{kernel.API, "repo_key_missing", []string{
			"Please initialize the data repo key first in [Settings - Account & Sync - Data repo key]",
			"请先在 [设置 - 账号与同步] 中初始化数据仓库密钥", "請先初始化資料倉庫金鑰", "データリポジトリの鍵を初期化してください",
		}},
		{kernel.InvalidPath, "", []string{"path escapes notebook directory", "invalid path"}},
		{kernel.API, "", []string{
			"disk is full", "SQL statement is not a read-only query", "key not found", "plugin [nope] not found", "Docker image not found",
			"磁盘已满", "",
		}},
	}
	for _, tt := range tests {
		for _, text := range tt.texts {
			raw, err := json.Marshal(map[string]any{"code": -1, "msg": text, "data": nil})
			if err != nil {
				t.Fatal(err)
			}
			_, err = newClientOfAnswer(t, http.StatusOK, string(raw)).Version(t.Context())
			e := wantToolError(t, err, tt.kind)
			if e.Code != tt.code {
				t.Errorf("%q: code %q, want %q", text, e.Code, tt.code)
			}
			if e.Message != "SiYuan API error: -1 - "+text || e.Subject != versionPath || e.Facts["kernelCode"] != -1 {
				t.Errorf("%q: %+v", text, e)
			}
			if tt.code != "" && tt.code != "permission_denied" && e.Hint == "" {
				t.Errorf("%q: the error does not say what to try", text)
			}
		}
	}
}

// TestRecordedErrors: every error recorded from a real kernel becomes an error with the same words.
func TestRecordedErrors(t *testing.T) {
	t.Parallel()
	var body []byte
	status := http.StatusOK
	c := newClientOfHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
	seen := 0
	for _, row := range kerneltest.Recordings(t) {
		code, ok := row.Code()
		if !ok || code == 0 || row.Status != http.StatusOK {
			continue
		}
		var answer struct{ Msg string }
		if err := json.Unmarshal(row.RespBody, &answer); err != nil {
			t.Fatal(err)
		}
		seen++
		body = row.RespBody
		_, err := c.Version(t.Context())
		if err == nil {
			t.Errorf("%s#%d: code %d is not an error", row.Scenario, row.Seq, code)
			continue
		}
		if kind := tool.KindOf(err); kind != kernel.API && kind != tool.NotFound && kind != kernel.InvalidPath {
			t.Errorf("%s#%d: %s", row.Scenario, row.Seq, kind)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("%d - ", code)) || strings.Contains(err.Error(), "&quot;") {
			t.Errorf("%s#%d: %v", row.Scenario, row.Seq, err)
		}
	}
	if seen < 150 {
		t.Errorf("only %d recorded errors", seen)
	}
}

func TestMessagesAreText(t *testing.T) {
	t.Parallel()
	_, err := newClientOfAnswer(t, 200, `{"code":-1,"msg":"Do not include symbols \\ / : * ? &quot; &#039; &lt; &gt; |","data":{"closeTimeout":5000}}`).Version(t.Context())
	if e := wantToolError(t, err, kernel.API); !strings.HasSuffix(e.Message, `symbols \ / : * ? " ' < > |`) {
		t.Errorf("%v", err)
	}
}

// TestForeignPrograms: an answer by another program is not reported as an error of SiYuan.
func TestForeignPrograms(t *testing.T) {
	t.Parallel()
	page := "<!DOCTYPE html><html><body>It works! " + strings.Repeat("x", 1000) + "</body></html>"
	tests := []struct {
		status int
		body   string
		kind   tool.ErrorKind
		code   string
	}{
		{200, page, tool.Unavailable, kernel.CodeNotSiYuan},
		{404, page, tool.Unavailable, kernel.CodeNotSiYuan},
		{501, page, tool.Unavailable, kernel.CodeNotSiYuan},
		{405, page, tool.Unavailable, kernel.CodeNotSiYuan},
		{301, page, tool.Unavailable, kernel.CodeNotSiYuan},
		{200, `{"jsonrpc":"2.0","id":1}`, tool.Unavailable, kernel.CodeNotSiYuan},
		{200, `"3.7.3"`, tool.Unavailable, kernel.CodeNotSiYuan},
		{200, `[]`, tool.Unavailable, kernel.CodeNotSiYuan},
		{200, `{"code":0`, tool.Unavailable, kernel.CodeNotSiYuan},
		{200, `{"code":"none","data":"none"}`, tool.Unavailable, kernel.CodeNotSiYuan},
		{202, `{"code":0,"msg":"","data":"3.7.3"}`, kernel.API, ""}, // 202 is an error whatever it holds
		{200, "", kernel.NotInKernel, ""},                           // the answer for an unknown route if the client accepts gzip
		{200, " \n", kernel.NotInKernel, ""},
		{404, "404 page not found", kernel.NotInKernel, ""},
		{404, "", kernel.NotInKernel, ""},
		{403, page, tool.Unauthorized, ""},
		{400, "bad request", kernel.API, ""},
	}
	for _, tt := range tests {
		_, err := newClientOfAnswer(t, tt.status, tt.body).Version(t.Context())
		e := wantToolError(t, err, tt.kind)
		if e.Code != tt.code {
			t.Errorf("%d %.30q: code %q, want %q", tt.status, tt.body, e.Code, tt.code)
		}
		if len(e.Error()) > 500 {
			t.Errorf("%d %.30q: an error of %d characters", tt.status, tt.body, len(e.Error()))
		}
		if tt.code == kernel.CodeNotSiYuan && !strings.Contains(e.Error(), fmt.Sprintf("HTTP %d", tt.status)) {
			t.Errorf("%d %.30q: %v", tt.status, tt.body, err)
		}
	}
}

// TestDoubleAnswers: some refusals are written twice, and only the first value counts.
func TestDoubleAnswers(t *testing.T) {
	t.Parallel()
	_, err := newClientOfAnswer(t, 200, `{"code":-1,"msg":"block not found","data":null}{"code":0,"msg":"","data":"3.7.3"}`).Version(t.Context())
	if e := wantToolError(t, err, tool.NotFound); e.Code != kernel.CodeBlockNotFound {
		t.Errorf("%v", err)
	}
	v, err := newClientOfAnswer(t, 200, `{"code":0,"msg":"","data":"3.7.3"}trailing`).Version(t.Context())
	if err != nil || v != "3.7.3" {
		t.Errorf("%q %v", v, err)
	}
	twice := false
	for _, row := range kerneltest.Recordings(t) {
		if row.RespText != nil && strings.Count(*row.RespText, `"code"`) == 2 && row.Endpoint() == "/api/file/readDir" {
			twice = true
			_, err := newClientOfAnswer(t, row.Status, *row.RespText).ReadDir(t.Context(), "/data")
			wantToolError(t, err, kernel.API)
		}
	}
	if !twice {
		t.Error("no recorded answer is written twice")
	}
}

// TestNothingDone: code 0 with null data means that nothing was done, for endpoints that always
// return data.
func TestNothingDone(t *testing.T) {
	t.Parallel()
	c := newClientOfAnswer(t, 200, `{"code":0,"msg":"","data":null}`)
	const id = "20240101000000-abcdefg"
	_, version := c.Version(t.Context())
	_, appended := c.Append(t.Context(), id, "markdown", "x")
	_, created := c.CreateDocument(t.Context(), id, "/x", "", id)
	for _, err := range []error{version, appended, created} {
		if e := wantToolError(t, err, kernel.API); e.Code != kernel.CodeNoEffect || e.OutcomeUnknown {
			t.Errorf("%+v", e)
		}
	}
	if err := c.RenameNotebook(t.Context(), id, "x"); err != nil { // null is success there
		t.Error(err)
	}
}

// TestOtherShape: data of an unknown shape is an error, though a write has taken effect.
func TestOtherShape(t *testing.T) {
	t.Parallel()
	c := newClientOfAnswer(t, 200, `{"code":0,"msg":"","data":{"not":"a list"}}`)
	_, err := c.Version(t.Context())
	if e := wantToolError(t, err, kernel.API); e.OutcomeUnknown || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	_, err = c.Append(t.Context(), "20240101000000-abcdefg", "markdown", "x")
	if e := wantToolError(t, err, kernel.API); !e.OutcomeUnknown {
		t.Errorf("%+v", e)
	}
}

// FuzzAnswer: only an envelope of code 0 counts as success, and no answer breaks the client.
func FuzzAnswer(f *testing.F) {
	for _, row := range kerneltest.Recordings(f)[:40] {
		f.Add(row.Status, []byte(row.RespBody))
	}
	f.Add(200, []byte(`{"code":0,"data":"x"}{`))
	f.Add(202, []byte(`{"code":0,"data":"x"}`))
	f.Add(404, []byte(`<`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		c := kernel.New("http://kernel", kernel.Options{Waits: noWaits, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: nopCloser{bytes.NewReader(body)}, Request: r, Header: http.Header{}}, nil
		})})
		v, err := c.Version(t.Context())
		if err != nil {
			if tool.KindOf(err) == tool.Internal {
				t.Errorf("%d %q: %v", status, body, err)
			}
			return
		}
		var got struct {
			Code *int
			Data *string
		}
		if json.NewDecoder(bytes.NewReader(body)).Decode(&got) != nil || status != 200 || got.Code == nil || *got.Code != 0 || got.Data == nil || *got.Data != v {
			t.Errorf("%d %q was taken for %q", status, body, v)
		}
	})
}
