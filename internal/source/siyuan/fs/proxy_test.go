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

// interceptKernel puts a handler between the client of a kit and its kernel: it may change the body of a
// request, or answer it.
func interceptKernel(t *testing.T, kit *actiontest.Kit, edit func(path, body string) (newBody, answer string)) {
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

// pretendSuccess answers requests to a path as a kernel that does nothing.
func pretendSuccess(path string) func(string, string) (string, string) {
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
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one")
	interceptKernel(t, kit, pretendSuccess("/api/block/updateBlock"))
	kit.Refused(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("one", "two", false)), kernel.Mismatch)
}

func TestReplaceSaysThatTheOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one")
	kit.Fail("/api/block/updateBlock", 1, kerneltest.FailLost)
	e := mustBeToolError(t, kit.Failed(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("one", "two", false)), kernel.OutcomeUnknown))
	if !e.OutcomeUnknown {
		t.Errorf("got %s", e.Payload())
	}
}

func TestReplaceRestoresAttributesThatAKernelLoses(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "one word")
	para := findBlock(t, kit, doc, "p", "one")
	if err := kit.Client.SetAttrs(t.Context(), para, map[string]string{"memo": "keep 记", "custom-a": "b"}); err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`\\n\{:[^}]*\}`)
	interceptKernel(t, kit, func(path, body string) (string, string) {
		if path == "/api/block/updateBlock" {
			body = lists.ReplaceAllString(body, "")
		}
		return body, ""
	})
	kit.Must(t, findAction(t, "replace"), args("path", "/Work/Doc", "edit", editArg("one", "two", false)))
	attrs, err := kit.Client.Attrs(t.Context(), para)
	if err != nil || attrs["memo"] != "keep 记" || attrs["custom-a"] != "b" {
		t.Errorf("attributes %v, %v", attrs, err)
	}
}

func TestOverwriteNoticesAKernelThatAppendsNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old")
	interceptKernel(t, kit, pretendSuccess("/api/block/appendBlock"))
	kit.ResetCalls()
	kit.Refused(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), kernel.Mismatch)
	if text := readText(t, kit, "/Work/Doc"); text != "old" {
		t.Errorf("the document holds %q", text)
	}
}

// Blocks that somebody else adds during an overwrite stay when a failure makes the overwrite remove its own.
func TestOverwriteLeavesBlocksOfOthers(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old")
	direct, refused := kit.Client, false
	interceptKernel(t, kit, func(path, body string) (string, string) {
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
	kit.Failed(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), kernel.API)
	if text := readText(t, kit, "/Work/Doc"); text != "old\n\nof somebody else" {
		t.Errorf("the document holds %q", text)
	}
}

func TestOverwriteNoticesAKernelThatDeletesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "old")
	interceptKernel(t, kit, pretendSuccess("/api/block/deleteBlock"))
	e := mustBeToolError(t, kit.Failed(t, findAction(t, "write"), args("path", "/Work/Doc", "markdown", "new", "overwrite", true), kernel.Mismatch))
	if e.Facts["recovery"] != "old" {
		t.Errorf("got %s", e.Payload())
	}
}

func TestMvNoticesAKernelThatMovesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	createDocument(t, kit, nb, "/A", "x")
	createDocument(t, kit, nb, "/B", "x")
	interceptKernel(t, kit, pretendSuccess("/api/filetree/moveDocsByID"))
	kit.Refused(t, findAction(t, "mv"), args("from", "/Work/A", "to", "/Work/B/A"), kernel.Mismatch)
}

func TestWriteNoticesAKernelThatCreatesNothing(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createNotebook(t, kit, "Work")
	interceptKernel(t, kit, pretendSuccess("/api/filetree/createDocWithMd"))
	_, err := kit.Do(t, findAction(t, "write"), args("path", "/Work/New", "markdown", "x"))
	if err == nil {
		t.Error("a document that is not there was created")
	}
}

func TestWriteLostAnswerNamesTheID(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createNotebook(t, kit, "Work")
	kit.Fail("/api/filetree/createDocWithMd", 1, kerneltest.FailLost)
	e := mustBeToolError(t, kit.Failed(t, findAction(t, "write"), args("path", "/Work/New", "markdown", "x"), kernel.OutcomeUnknown))
	id, _ := e.Facts["id"].(kernel.ID)
	if !id.Valid() || !strings.Contains(e.Hint, "fs(") {
		t.Errorf("got %s", e.Payload())
	}
	if _, _, err := kit.Client.PathByID(t.Context(), id); err != nil {
		t.Errorf("the document is there, and not by the id that the error names: %v", err)
	}
}
