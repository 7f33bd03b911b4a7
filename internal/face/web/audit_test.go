package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/face/web"
	"collie/internal/pipeline/audit"
	"collie/internal/tool"
)

// TestAudit: records come page by page and filtered, an export is filtered too and is recorded itself, and verification finds a
// record that was changed on disk.
func TestAudit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := audit.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		rec := tool.Record{Kind: "call.result", Origin: tool.Chat, Tool: "fs", Action: "read", CallID: fmt.Sprint("c", i), Outcome: tool.OK}
		if i == 3 {
			rec.Outcome, rec.Message = tool.Failed, "No Tea"
		}
		if i == 4 {
			rec.Client, rec.Risk = tool.PagesClient, tool.RiskNone
		}
		if err := log.AppendSync(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	c := client{t, web.New(web.Options{Audit: auditFolder{dir, log}, Identify: func(*http.Request) web.Identity { return web.Identity{Manage: true} }})}
	calls := func(query string) (ids, next string) {
		t.Helper()
		_, v := c.do(200, "GET", "/audit?kind=call&"+query, "")
		for _, one := range v.Get("records").Array() {
			ids += one.Get("record.callId").String()
		}
		return ids, v.Get("next").String()
	}
	first, next := calls("limit=2")
	second, next := calls("limit=2&before=" + next)
	third, none := calls("limit=2&before=" + next)
	if got := first + " " + second + " " + third + none; got != "c4c3 c2c1 c0" {
		t.Errorf("page by page: %q", got)
	}
	for query, want := range map[string]string{"text=no+tea": "c3", "outcome=error": "c3", "without=collie+pages": "c3c2c1c0", "without=collie+call&call=c4": "c4", "call=c1": "c1", "tool=nope": "", "since=2999-01-01T00:00:00Z": ""} {
		if got, _ := calls(query); got != want {
			t.Errorf("%s: %q", query, got)
		}
	}
	for _, query := range []string{"outcome=good", "origin=me", "since=yesterday", "before=x", "limit=0", "limit=9999"} {
		if _, v := c.do(400, "GET", "/audit?"+query, ""); !strings.HasPrefix(query, v.Get("error.subject").String()) {
			t.Errorf("%s: %s", query, v)
		}
	}

	w, _ := c.do(200, "POST", "/audit/export", `{"outcome":"error"}`)
	if lines := strings.Split(w.Body.String(), "\n"); len(lines) != 2 || !strings.Contains(lines[0], `"callId":"c3"`) {
		t.Errorf("the export is %s", w.Body)
	}
	if _, v := c.do(200, "GET", "/audit?kind=export", ""); v.Get("records.0.record.detail.filter.outcome").String() != "error" {
		t.Errorf("the export is not on record: %s", v)
	}

	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, v := c.do(200, "GET", "/audit/verify", ""); !v.Get("ok").Bool() || v.Get("records").Int() < 6 {
		t.Errorf("intact: %s", v)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "000001.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[0], bytes.Replace(raw, []byte("No Tea"), []byte("No Cup"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, v := c.do(200, "GET", "/audit/verify", "")
	if p := v.Get("chains.0.problems.0"); v.Get("ok").Bool() || p.Get("fault").String() != "edited" || p.Get("line").Int() != 5 {
		t.Errorf("after a record was changed: %s", v)
	}
}

// Records cannot be read without the right to manage.
func TestAuditIsForPeople(t *testing.T) {
	t.Parallel()
	h := web.New(web.Options{Identify: func(*http.Request) web.Identity { return web.Identity{} }})
	for _, path := range []string{"GET /audit", "GET /audit/verify", "POST /audit/export"} {
		method, path, _ := strings.Cut(path, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, http.NoBody))
		if w.Code != http.StatusForbidden {
			t.Errorf("%s %s: %d", method, path, w.Code)
		}
	}
}
