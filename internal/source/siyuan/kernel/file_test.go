package kernel_test

import (
	"bytes"
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	for _, content := range [][]byte{
		{}, []byte("text 文字"), []byte(`{"code":-1,"msg":"looks like an error","data":null}`), bytes.Repeat([]byte{0, 255, '\r', '\n'}, 70_000),
	} {
		const path = "/data/storage/petal/files/x/文件.json"
		if err := c.WriteFile(t.Context(), path, content); err != nil {
			t.Fatal(err)
		}
		got, err := c.ReadFile(t.Context(), path)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%.40q became %.40q (%v)", content, got, err)
		}
	}
	entries, err := c.ReadDir(t.Context(), "/data/storage/petal/files")
	if err != nil || len(entries) != 1 || entries[0].Name != "x" || !entries[0].IsDir || entries[0].Updated == 0 {
		t.Errorf("%v %v", entries, err)
	}
	_, err = c.ReadDir(t.Context(), "/data/none")
	if e := wantToolError(t, err, tool.NotFound); e.Code != "file_not_found" {
		t.Errorf("%v", err)
	}
}

// TestMissingFileIsNoContent: the kernel answers HTTP 202 with an error in JSON, which is never the file's content.
func TestMissingFileIsNoContent(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	_, err := c.ReadFile(t.Context(), "/data/storage/petal/none/notebookPermissions")
	if e := wantToolError(t, err, tool.NotFound); e.Code != "file_not_found" {
		t.Errorf("%v", err)
	}
	_, err = c.ReadFile(t.Context(), "/data/../../etc/passwd")
	if e := wantToolError(t, err, kernel.API); e.Code != "file_forbidden" {
		t.Errorf("%v", err)
	}
	_, err = c.ReadFile(t.Context(), "/data")
	wantToolError(t, err, kernel.API)
	for body, code := range map[string]string{
		`{"code":404,"msg":"文件不存在","data":null}`: "file_not_found", `{"code":-3,"msg":"locked","data":null}`: kernel.CodeNotebookClosed,
		`{"code":403,"msg":"","data":null}`: "file_forbidden", `{"code":500,"msg":"","data":null}`: "", `{"code":0,"msg":"","data":null}`: "",
		``: kernel.CodeNotSiYuan, `{}`: kernel.CodeNotSiYuan, `<html>`: kernel.CodeNotSiYuan,
	} {
		got, err := newClientOfAnswer(t, http.StatusAccepted, body).ReadFile(t.Context(), "/data/x")
		if err == nil {
			t.Errorf("%s was taken for content: %q", body, got)
			continue
		}
		kind := kernel.API
		switch code {
		case "file_not_found":
			kind = tool.NotFound
		case kernel.CodeNotSiYuan:
			kind = tool.Unavailable
		}
		if e := wantToolError(t, err, kind); e.Code != code {
			t.Errorf("%s: code %q, want %q", body, e.Code, code)
		}
	}
}

// TestRecordedFileErrors: every recorded answer of getFile with status 202 becomes an error.
func TestRecordedFileErrors(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, row := range kerneltest.Recordings(t) {
		if row.Endpoint() != "/api/file/getFile" || row.Status != http.StatusAccepted {
			continue
		}
		seen++
		if got, err := newClientOfAnswer(t, row.Status, string(row.RespBody)).ReadFile(t.Context(), "/data/x"); err == nil {
			t.Errorf("%s#%d: %q", row.Scenario, row.Seq, got)
		}
	}
	if seen == 0 {
		t.Error("none was recorded")
	}
}

func TestFilesAreReadAgainAndNeverWrittenAgain(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	k.File("/data/storage/a", []byte("a"))
	k.Fail("/api/file/getFile", 3, kerneltest.FailServer)
	if got, err := c.ReadFile(t.Context(), "/data/storage/a"); err != nil || string(got) != "a" {
		t.Errorf("%q %v", got, err)
	}
	k.Fail("/api/file/getFile", 1, kerneltest.FailAuth)
	_, err := c.ReadFile(t.Context(), "/data/storage/a")
	wantToolError(t, err, tool.Unauthorized)
	if n := countCalls(k, "/api/file/getFile"); n != 5 {
		t.Errorf("asked %d times, want 4 and 1", n)
	}
	k.Fail("/api/file/putFile", 1, kerneltest.FailLost)
	wantToolError(t, c.WriteFile(t.Context(), "/data/storage/a", []byte("b")), kernel.OutcomeUnknown)
	if n := countCalls(k, "/api/file/putFile"); n != 1 {
		t.Errorf("written %d times", n)
	}
}
