package kerneltest_test

import (
	"fmt"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

func TestLegal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, body string
		want       string // a part of the error, "" for none
	}{
		{"/api/notebook/lsNotebooks", `{}`, ""},
		{"/api/block/appendBlock", `{"dataType":"markdown","data":"x","parentID":"20240101000000-abcdefg"}`, ""},
		{"/api/block/appendBlock", `{"dataType":"markdown","data":"x","parent_id":"20240101000000-abcdefg"}`, `key "parent_id" was never recorded`},
		{"/api/block/appendBlock", `{"dataType":"markdown","data":"x"}`, `key "parentID" is missing`},
		{"/api/block/appendBlock", `{"dataType":"markdown","data":5,"parentID":"20240101000000-abcdefg"}`, `key "data" is number, recorded as text`},
		{"/api/block/batchInsertBlock", `{"blocks":[{"dataType":"markdown","data":"x","parent":"y"}]}`, `key "blocks[].parent"`},
		{"/api/attr/setBlockAttrs", `{"id":"20240101000000-abcdefg","attrs":{"custom-anything":"x","memo":null}}`, ""},
		{"/api/filetree/getIDsByHPath", `{"path":"/x"}`, `key "notebook" is missing`},
		{"/api/query/sql", `{"stmt":"select 1","mode":"readonly"}`, ""},
		{"/api/filetree/setDocSortMode", `{"id":"x","sortMode":1}`, "the kernel may not have it"},
		{"/api/notebook/makeTea", `{}`, "the kernel may not have it"},
		{"/api/query/sql", `{`, "not JSON"},
		{"/api/query/sql", `{"stmt":"select 1 where '%' like '!%' escape '!'","mode":"readonly"}`, "panics"},
		{"/api/query/sql", `{"stmt":"WITH a AS MATERIALIZED (select 1) select 1 where '%' like '!%' escape '!'","mode":"readonly"}`, ""},
	}
	for _, tt := range tests {
		err := kerneltest.Legal(kerneltest.Call{Path: tt.path, Body: tt.body})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.path, tt.body, err, tt.want)
		}
	}
	form := kerneltest.Call{Path: "/api/file/putFile", Form: map[string]string{"path": "/x", "directory": "true"}}
	if err := kerneltest.Legal(form); err == nil || !strings.Contains(err.Error(), `form part "directory"`) {
		t.Errorf("form: %v", err)
	}
}

// TestLegalAcceptsWhatSucceeded: every recorded request that got data is legal.
func TestLegalAcceptsWhatSucceeded(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, row := range kerneltest.Recordings(t) {
		code, envelope := row.Code()
		if !envelope || code != 0 || row.ReqBody == nil || row.Status != 200 || strings.Contains(string(row.RespBody), `"data": null`) {
			continue
		}
		if strings.Contains(row.Step, "not strings") {
			continue // answered, but wrong on purpose
		}
		checked++
		if err := kerneltest.Legal(kerneltest.Call{Path: row.Endpoint(), Body: string(row.ReqBody)}); err != nil {
			t.Errorf("%s#%d [%s]: %v", row.Scenario, row.Seq, row.Step, err)
		}
	}
	if checked < 600 {
		t.Errorf("only %d rows were checked", checked)
	}
}

// complaints is a test that records failures instead of failing.
type complaints struct {
	testing.TB
	errors []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

func TestIllegalRequestsFailTheTest(t *testing.T) {
	t.Parallel()
	c := &complaints{TB: t}
	k := kerneltest.New(c)
	post(t, k, "/api/notebook/lsNotebooks", `{}`)
	if len(c.errors) != 0 {
		t.Errorf("a legal request is refused: %q", c.errors)
	}
	for _, request := range [][2]string{
		{"/api/notebook/renameNotebook", `{"notebook":"x","title":"y"}`}, // a key of our own
		{"/api/notebook/makeTea", `{}`},                                  // an endpoint of our own
		{"/api/network/echo", `{}`},                                      // one the vault does not have
	} {
		c.errors = nil
		_, _, _ = tryPost(t, k, request[0], request[1])
		if len(c.errors) == 0 {
			t.Errorf("%s %s: no complaint", request[0], request[1])
		}
	}
	c.errors = nil
	k.Lenient()
	post(t, k, "/api/notebook/renameNotebook", `{"notebook":"x","title":"y"}`)
	if len(c.errors) != 0 {
		t.Errorf("a lenient kernel complains: %q", c.errors)
	}
}
