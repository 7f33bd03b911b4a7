package siyuan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
	"collie/test/await"
)

// fixture is a source over a kernel with a notebook that has one document.
type fixture struct {
	*kerneltest.Kernel
	source             *siyuan.Source
	notebook, document string
	block              string // the first block of the document
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{Kernel: kerneltest.New(t)}
	client := kernel.New(d.URL(), kernel.Options{Token: "TEST_TOKEN"})
	t.Cleanup(client.Close)
	d.notebook = d.Notebook("Work 工作")
	d.document = d.Doc(d.notebook, "/Plan 计划", "# Plan\n\nfirst\n\n- second")
	blocks, err := client.ChildBlocks(t.Context(), kernel.ID(d.document))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("blocks %v, %v", blocks, err)
	}
	d.block = string(blocks[0].ID)
	d.File("/data/storage/petal/collie/notebookPermissions", fmt.Appendf(nil, `{%q:"rwd"}`, d.notebook))
	d.source = siyuan.New(siyuan.Options{Kernel: client})
	t.Cleanup(d.source.Close)
	return d
}

// call runs "tool.action" and returns its result and the requests it made, without "/api/".
func (d *fixture) call(t *testing.T, name, args string) (tool.Result, []string) {
	t.Helper()
	tl, act, _ := strings.Cut(name, ".")
	d.ResetCalls()
	res, err := d.source.Run(t.Context(), &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPLocal},
		Tool:    tl, Action: &tool.Action{Name: act}, Args: json.RawMessage(args),
	})
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	var asked []string
	for _, c := range d.Calls() {
		asked = append(asked, strings.TrimPrefix(c.Path, "/api/"))
	}
	return res, asked
}

// callTwice makes the same call twice and returns the requests of the second, for which levels, switches and notebooks are
// known. On a slow machine it tries again if too much time passed between the two.
func (d *fixture) callTwice(t *testing.T, name, args string) []string {
	t.Helper()
	var asked []string
	await.Until(t, "there are two calls within a second", func() bool {
		d.source.Levels().Forget() // levels that an earlier call has read could expire between the two calls
		began := time.Now()
		d.call(t, name, args)
		_, asked = d.call(t, name, args)
		return time.Since(began) < 900*time.Millisecond // what reads share is kept for a second
	})
	return asked
}

// readsByID lists the reads that take the id of a block, document or notebook, with arguments and their own number of
// requests.
func (d *fixture) readsByID() map[string]struct {
	args        string
	ownRequests int
} {
	type read = struct {
		args        string
		ownRequests int
	}
	id, doc := fmt.Sprintf(`{"id":%q}`, d.block), fmt.Sprintf(`{"id":%q}`, d.document)
	box := fmt.Sprintf(`{"notebook":%q}`, d.notebook)
	return map[string]read{
		"block.breadcrumb":          {id, 1},
		"block.docs_info":           {doc, 1},
		"block.dom":                 {id, 1},
		"block.get_attrs":           {id, 1},
		"block.get_children":        {doc, 1},
		"block.get_kramdown":        {id, 1},
		"block.info":                {id, 1},
		"block.word_count":          {fmt.Sprintf(`{"ids":[%q,%q]}`, d.block, d.document), 1},
		"block.batch_kramdown":      {fmt.Sprintf(`{"ids":[%q,%q]}`, d.block, d.document), 1},
		"document.get_child_blocks": {doc, 1},
		"document.get_child_docs":   {doc, 2}, // the list, and the path above it
		"document.get_doc":          {doc, 3}, // the path, the list of blocks, their text
		"document.get_outline":      {doc, 1},
		"document.lookup":           {doc, 1},
		"document.list_tree":        {fmt.Sprintf(`{"notebook":%q,"path":"/"}`, d.notebook), 1},
		"document.search_docs":      {fmt.Sprintf(`{"notebook":%q,"query":"Plan"}`, d.notebook), 1},
		"notebook.get_conf":         {box, 1},
		"notebook.get_child_docs":   {box, 1},
		"notebook.get_permissions":  {box, 0},
		"file.get_doc_assets":       {doc, 1},
		"file.export_md":            {doc, 1},
	}
}

// TestReadsByIDAreCheap: when levels, switches and notebooks are known, a read by id makes its own requests and at most one
// look-up.
func TestReadsByIDAreCheap(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for name, read := range d.readsByID() {
		t.Run(name, func(t *testing.T) {
			asked := d.callTwice(t, name, read.args)
			for _, endpoint := range []string{"file/getFile", "notebook/lsNotebooks"} {
				if slices.Contains(asked, endpoint) {
					t.Errorf("the second call asks %s again: %v", endpoint, asked)
				}
			}
			if len(asked) > read.ownRequests+1 {
				t.Errorf("it takes %d requests, expected at most %d of its own and one look-up: %v", len(asked), read.ownRequests, asked)
			}
		})
	}
}

// TestReadsByIDAreListed: every read by id is in readsByID.
func TestReadsByIDAreListed(t *testing.T) {
	t.Parallel()
	known := newFixture(t).readsByID()
	costly := map[string]bool{ // tools and actions that look up more than the place of one id
		"av": true, "search": true, "flashcard": true, "fs": true, "timeline": true, "file.render": true,
	}
	for _, tl := range siyuan.Tools() {
		for _, a := range tl.Actions {
			name := tl.Name + "." + a.Name
			byID := a.Param("id") != nil || a.Param("ids") != nil || a.Param("notebook") != nil
			if _, ok := known[name]; !ok && byID && a.Class == action.Reads && !costly[tl.Name] && !costly[name] {
				t.Errorf("%s reads by id: add it to readsByID, with the number of requests that are its own", name)
			}
		}
	}
}

// TestReadByPathIsCheap: when levels and switches are known, fs.read makes at most four requests.
func TestReadByPathIsCheap(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	const path = `{"path":"/Work 工作/Plan 计划"}`
	if asked := d.callTwice(t, "fs.read", path); len(asked) > 4 || slices.Contains(asked, "file/getFile") {
		t.Errorf("it takes %d requests: %v", len(asked), asked)
	}
}
