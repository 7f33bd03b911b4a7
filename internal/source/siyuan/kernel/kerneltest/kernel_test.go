package kerneltest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

func TestTokenRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		required bool
		headers  []string
		path     string
		want     int
	}{
		{"open, no token", false, nil, "/api/notebook/lsNotebooks", 200},
		{"open, wrong token", false, []string{"Authorization", "Token nope"}, "/api/notebook/lsNotebooks", 401},
		{"open, bare token is ignored", false, []string{"Authorization", "nope"}, "/api/notebook/lsNotebooks", 200},
		{"open, foreign origin", false, []string{"Origin", "https://evil.example"}, "/api/notebook/lsNotebooks", 401},
		{"locked, no token", true, nil, "/api/notebook/lsNotebooks", 401},
		{"locked, token", true, []string{"Authorization", "Token TEST_TOKEN"}, "/api/notebook/lsNotebooks", 200},
		{"locked, bearer", true, []string{"Authorization", "bearer TEST_TOKEN"}, "/api/notebook/lsNotebooks", 200},
		{"locked, token in the query", true, nil, "/api/notebook/lsNotebooks?token=TEST_TOKEN", 200},
		{"locked, version stays open", true, nil, "/api/system/version", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := kerneltest.New(t)
			k.SetToken(tt.required)
			if got, answer := post(t, k, tt.path, "{}", tt.headers...); got != tt.want {
				t.Errorf("status %d, want %d: %s", got, tt.want, answer.Raw)
			}
		})
	}
}

func TestReadOnlyRefusesWritesAndSQL(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.ReadOnly(true)
	const refusal = "This operation is not supported in read-only mode"
	for path, body := range map[string]string{
		"/api/notebook/createNotebook": `{"name":"x"}`,
		"/api/query/sql":               `{"stmt":"select 1"}`,
	} {
		if _, answer := post(t, k, path, body); answer.Get("msg").Str != refusal {
			t.Errorf("%s: %s", path, answer.Raw)
		}
	}
	if _, answer := post(t, k, "/api/notebook/lsNotebooks", "{}"); answer.Get("code").Int() != 0 {
		t.Errorf("a read is refused: %s", answer.Raw)
	}
}

func TestUnknownRouteIsEmptyUnderGzip(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	// It is recorded as unknown to this kernel, so that the test may request it.
	const path = "/api/filetree/setDocSortMode"
	if status, body, err := tryPost(t, k, path, "{}"); status != 200 || body != "" || err != nil {
		t.Errorf("with gzip: %d %q %v, want an empty 200", status, body, err)
	}
	if status, body, _ := tryPost(t, k, path, "{}", "Accept-Encoding", "identity"); status != 404 || body != "404 page not found" {
		t.Errorf("without gzip: %d %q", status, body)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const path, body = "/api/notebook/createNotebook", `{"name":"x"}`
	tests := []struct {
		mode    kerneltest.Mode
		want    string // status and body, or "no answer"
		created int
	}{
		{kerneltest.FailServer, "500 internal server error\n", 0},
		{kerneltest.FailBusy, "429 too many requests\n", 0},
		{kerneltest.FailAuth, `401 {"code":-1,"msg":"Auth failed [session]"}`, 0},
		{kerneltest.FailClose, "no answer", 0},
		{kerneltest.FailLost, "no answer", 1},
		{kerneltest.FailEmpty, "200 ", 0},
		{kerneltest.FailGarbage, "200 <html>not the kernel</html>", 0},
		{kerneltest.FailMessage("disk is full"), `200 {"code":-1,"msg":"disk is full","data":null}`, 0},
	}
	for _, tt := range tests {
		t.Run(string(tt.mode), func(t *testing.T) {
			t.Parallel()
			k := kerneltest.New(t)
			k.Fail(path, 1, tt.mode)
			got := "no answer"
			if status, answer, err := tryPost(t, k, path, body); err == nil {
				got = fmt.Sprintf("%d %s", status, answer)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if n := len(data(t, k, "/api/notebook/lsNotebooks", "{}").Get("notebooks").Array()); n != tt.created {
				t.Errorf("%d notebooks after the fault, want %d", n, tt.created)
			}
			data(t, k, path, body) // the fault is spent
		})
	}
}

func TestHangEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := kerneltest.New(t)
		k.Fail("/api/system/version", 1, kerneltest.FailHang)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/system/version", strings.NewReader("{}"))
		k.Handler().ServeHTTP(httptest.NewRecorder(), req)
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("hung for %v, want until the caller gave up after a minute", waited)
		}
	})
}

func TestCallsAndWrites(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	box := k.Notebook("N")
	k.Doc(box, "/D", "text") // fixtures do not count
	data(t, k, "/api/notebook/lsNotebooks", "{}")
	data(t, k, "/api/notebook/renameNotebook", `{"notebook":"`+box+`","name":"M"}`)
	data(t, k, "/api/notification/pushMsg", `{"msg":"hi"}`)
	paths := func(calls []kerneltest.Call) (found []string) {
		for _, c := range calls {
			found = append(found, c.Path)
		}
		return found
	}
	if diff := cmp.Diff([]string{"/api/notebook/lsNotebooks", "/api/notebook/renameNotebook", "/api/notification/pushMsg"}, paths(k.Calls())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/api/notebook/renameNotebook"}, paths(k.Writes())); diff != "" {
		t.Error(diff)
	}
	if got := k.Writes()[0].Get("name").Str; got != "M" {
		t.Errorf("name %q", got)
	}
	k.ResetCalls()
	if left := k.Calls(); len(left) != 0 {
		t.Errorf("%d calls after a reset", len(left))
	}
}

func TestWritesClassifiesEveryEndpoint(t *testing.T) {
	t.Parallel()
	reads := []string{
		"/api/query/sql", "/api/sqlite/flushTransaction", "/api/block/checkBlockExist", "/api/av/renderAttributeView",
		"/api/search/searchTag", "/api/template/renderSprig", "/api/export/exportMdContent", "/api/transactions/undoState",
		"/api/notification/pushMsg", "/api/system/currentTime", "/api/history/getDocHistoryContent",
	}
	writes := []string{
		"/api/transactions", "/api/notebook/openNotebook", "/api/riff/reviewRiffCard", "/api/tag/renameTag",
		"/api/asset/upload", "/api/history/rollbackDocHistory", "/api/search/findReplace", "/api/search/removeTemplate",
		"/api/av/setAttributeViewBlockAttr", "/api/file/putFile", "/api/template/docSaveAsTemplate",
	}
	for _, path := range reads {
		if kerneltest.Writes(path) {
			t.Errorf("%s counts as a write", path)
		}
	}
	for _, path := range writes {
		if !kerneltest.Writes(path) {
			t.Errorf("%s counts as a read", path)
		}
	}
}
