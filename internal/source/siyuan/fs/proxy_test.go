package fs_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// between puts a handler between the client of a kit and its kernel: it may change the body of a
// request, or answer it.
func between(t *testing.T, kit *actiontest.Kit, edit func(path, body string) (newBody, answer string)) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body, answer := edit(r.URL.Path, string(raw))
		if answer != "" {
			_, _ = io.WriteString(w, answer)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
		kit.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	kit.Client = kernel.New(server.URL, kernel.Options{Token: kerneltest.Token})
	t.Cleanup(kit.Client.Close)
}

// accepts answers requests to a path as a kernel that does nothing.
func accepts(path string) func(string, string) (string, string) {
	return func(p, body string) (string, string) {
		if p != path {
			return body, ""
		}
		return body, `{"code":0,"msg":"","data":[{"timestamp":0,"doOperations":[{"action":"update","id":"20990101000000-zzzzzzz"}],"undoOperations":null}]}`
	}
}

func TestReplaceNoticesAKernelThatDoesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	document(t, kit, notebook(t, kit, "Work"), "/Doc", "one")
	between(t, kit, accepts("/api/block/updateBlock"))
	kit.Refused(t, act(t, "replace"), args("path", "/Work/Doc", "edit", edit("one", "two", false)), kernel.Mismatch)
}

func TestReplaceSaysThatTheOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	document(t, kit, notebook(t, kit, "Work"), "/Doc", "one")
	kit.Fail("/api/block/updateBlock", 1, kerneltest.FailLost)
	e := failure(t, kit.Failed(t, act(t, "replace"), args("path", "/Work/Doc", "edit", edit("one", "two", false)), kernel.OutcomeUnknown))
	if !e.OutcomeUnknown {
		t.Errorf("got %s", e.Payload())
	}
}

func TestReplaceRestoresAttributesThatAKernelLoses(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := document(t, kit, notebook(t, kit, "Work"), "/Doc", "one word")
	para := deep(t, kit, doc, "p", "one")
	if err := kit.Client.SetAttrs(t.Context(), para, map[string]string{"memo": "keep 记", "custom-a": "b"}); err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`\\n\{:[^}]*\}`)
	between(t, kit, func(path, body string) (string, string) {
		if path == "/api/block/updateBlock" {
			body = lists.ReplaceAllString(body, "")
		}
		return body, ""
	})
	kit.Must(t, act(t, "replace"), args("path", "/Work/Doc", "edit", edit("one", "two", false)))
	attrs, err := kit.Client.Attrs(t.Context(), para)
	if err != nil || attrs["memo"] != "keep 记" || attrs["custom-a"] != "b" {
		t.Errorf("attributes %v, %v", attrs, err)
	}
}

func TestOverwriteNoticesAKernelThatAppendsNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	document(t, kit, notebook(t, kit, "Work"), "/Doc", "old")
	between(t, kit, accepts("/api/block/appendBlock"))
	kit.ResetCalls()
	kit.Refused(t, act(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), kernel.Mismatch)
	if text := callerPath(t, kit, "/Work/Doc"); text != "old" {
		t.Errorf("the document holds %q", text)
	}
}

// Blocks that somebody else adds during an overwrite stay when a failure makes the overwrite remove its own.
func TestOverwriteLeavesBlocksOfOthers(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := document(t, kit, notebook(t, kit, "Work"), "/Doc", "old")
	direct, refused := kit.Client, false
	between(t, kit, func(path, body string) (string, string) {
		switch {
		case path == "/api/block/appendBlock":
			if _, err := direct.Append(t.Context(), doc, "markdown", "of somebody else"); err != nil {
				t.Error(err)
			}
		case path == "/api/block/deleteBlock" && !refused:
			refused = true
			return body, `{"code":-1,"msg":"no","data":null}`
		}
		return body, ""
	})
	kit.Failed(t, act(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), kernel.API)
	if text := callerPath(t, kit, "/Work/Doc"); text != "old\n\nof somebody else" {
		t.Errorf("the document holds %q", text)
	}
}

func TestOverwriteNoticesAKernelThatDeletesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	document(t, kit, notebook(t, kit, "Work"), "/Doc", "old")
	between(t, kit, accepts("/api/block/deleteBlock"))
	e := failure(t, kit.Failed(t, act(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), kernel.Mismatch))
	if e.Facts["recovery"] != "old" {
		t.Errorf("got %s", e.Payload())
	}
}

func TestMvNoticesAKernelThatMovesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := notebook(t, kit, "Work")
	document(t, kit, nb, "/A", "x")
	document(t, kit, nb, "/B", "x")
	between(t, kit, accepts("/api/filetree/moveDocsByID"))
	kit.Refused(t, act(t, "mv"), args("from", "/Work/A", "to", "/Work/B/A"), kernel.Mismatch)
}

func TestWriteNoticesAKernelThatCreatesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	notebook(t, kit, "Work")
	between(t, kit, accepts("/api/filetree/createDocWithMd"))
	_, err := kit.Do(t, act(t, "write"), args("path", "/Work/New", "markdown", "x"))
	if err == nil {
		t.Error("a document that is not there was created")
	}
}

func TestWriteLostAnswerNamesTheID(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	notebook(t, kit, "Work")
	kit.Fail("/api/filetree/createDocWithMd", 1, kerneltest.FailLost)
	e := failure(t, kit.Failed(t, act(t, "write"), args("path", "/Work/New", "markdown", "x"), kernel.OutcomeUnknown))
	id, _ := e.Facts["id"].(kernel.ID)
	if !id.Valid() || !strings.Contains(e.Hint, "fs(") {
		t.Errorf("got %s", e.Payload())
	}
	if _, _, err := kit.Client.PathByID(t.Context(), id); err != nil {
		t.Errorf("the document is there, and not by the id that the error names: %v", err)
	}
}
