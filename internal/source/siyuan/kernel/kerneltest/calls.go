package kerneltest

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// This file records the requests to a kernel of tests, and tells reads from writes.

// Call is one request as a kernel received it.
type Call struct {
	// Path is the route, for example /api/block/appendBlock.
	Path string
	// Body is the JSON text of the body, "" for a form or an empty body.
	Body string
	// Form holds the text fields of a multipart body; a file part appears under its name with its bytes.
	Form map[string]string
}

// Get returns the value at a gjson path of the body.
func (c Call) Get(path string) gjson.Result { return gjson.Get(c.Body, path) }

// Calls returns the requests since the start or the last ResetCalls, in order, refused ones included.
func (k *Kernel) Calls() []Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.calls)
}

// Writes returns the calls that change something.
func (k *Kernel) Writes() []Call {
	return slices.DeleteFunc(k.Calls(), func(c Call) bool { return !Writes(c.Path) })
}

// ResetCalls forgets all calls so far.
func (k *Kernel) ResetCalls() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = nil
}

// record stores a call, and fails the test if no recording shows it to be legal.
func (k *Kernel) record(c Call) {
	k.mu.Lock()
	k.calls = append(k.calls, c)
	strict := !k.lenient
	k.mu.Unlock()
	if !strict {
		return
	}
	if err := Legal(c); err != nil {
		k.t.Errorf("kerneltest: illegal request: %v", err)
	}
}

// recordUnknown stores a call to a route that the vault does not have. That is fine if the real kernel was recorded
// not to know it either. Otherwise it is a mistake of the client, or a family that the vault still lacks.
func (k *Kernel) recordUnknown(r *http.Request) {
	k.mu.Lock()
	k.calls = append(k.calls, Call{Path: r.URL.Path})
	strict := !k.lenient
	k.mu.Unlock()
	if !strict {
		return
	}
	rows, err := recordings()
	if err != nil {
		k.t.Errorf("kerneltest: %v", err)
	}
	seen := false
	for _, row := range rows {
		if row.Endpoint() == r.URL.Path && row.Method == r.Method {
			seen = true
			if row.RespText != nil && *row.RespText == "" {
				return
			}
		}
	}
	if seen {
		k.t.Errorf("kerneltest: %s %s: the real kernel has it, the vault does not answer it", r.Method, r.URL.Path)
		return
	}
	k.t.Errorf("kerneltest: %s %s: no recording shows that the kernel has it", r.Method, r.URL.Path)
}

// Writes reports whether an endpoint changes the workspace. Endpoints that only the window notices (notifications,
// reloads) and flushTransaction do not.
func Writes(endpoint string) bool {
	if answer, listed := writes[endpoint]; listed {
		return answer
	}
	verb := path.Base(endpoint)
	return !slices.ContainsFunc(reading, func(prefix string) bool { return strings.HasPrefix(verb, prefix) })
}

// reading has prefixes of the names of endpoints that only read.
var reading = []string{
	"get", "list", "ls", "search", "check", "render", "read", "export", "fullText", "version", "bootProgress",
	"currentTime", "push", "reload", "flush", "sql", "stat", "resolve", "diff", "open", "semantic", "load", "preview",
	"echo",
}

// writes classifies the core endpoints, and those with a misleading name.
var writes = map[string]bool{
	"/api/notebook/createNotebook": true, "/api/notebook/openNotebook": true, "/api/notebook/closeNotebook": true,
	"/api/notebook/removeNotebook": true, "/api/notebook/renameNotebook": true, "/api/notebook/setNotebookConf": true,
	"/api/notebook/setNotebookIcon": true, "/api/notebook/changeSortNotebook": true,
	"/api/filetree/createDocWithMd": true, "/api/filetree/createDoc": true, "/api/filetree/renameDoc": true,
	"/api/filetree/renameDocByID": true, "/api/filetree/removeDoc": true, "/api/filetree/removeDocByID": true,
	"/api/filetree/removeDocs": true, "/api/filetree/moveDocs": true, "/api/filetree/moveDocsByID": true,
	"/api/filetree/duplicateDoc": true, "/api/filetree/heading2Doc": true, "/api/filetree/doc2Heading": true,
	"/api/filetree/li2Doc": true, "/api/filetree/changeSort": true, "/api/filetree/createDailyNote": true,
	"/api/block/insertBlock": true, "/api/block/prependBlock": true, "/api/block/appendBlock": true,
	"/api/block/updateBlock": true, "/api/block/deleteBlock": true, "/api/block/moveBlock": true,
	"/api/block/batchInsertBlock": true, "/api/block/batchPrependBlock": true, "/api/block/batchAppendBlock": true,
	"/api/block/batchUpdateBlock": true, "/api/block/foldBlock": true, "/api/block/unfoldBlock": true,
	"/api/block/transferBlockRef": true, "/api/block/appendDailyNoteBlock": true,
	"/api/block/prependDailyNoteBlock": true, "/api/block/updateTaskListItemMarker": true,
	"/api/block/batchUpdateTaskListItemMarker": true,
	"/api/attr/setBlockAttrs":                  true, "/api/attr/batchSetBlockAttrs": true, "/api/transactions": true,
	"/api/file/putFile": true, "/api/file/removeFile": true, "/api/file/renameFile": true,
	"/api/search/findReplace": true, "/api/filetree/upsertIndexes": true, "/api/filetree/removeIndexes": true,

	"/api/transactions/undoState": false, "/api/system/loginAuth": false, "/api/system/logoutAuth": false,
	"/api/lute/copyStdMarkdown": false, "/api/lute/html2BlockDOM": false, "/api/lute/md2html": false,
	"/api/lute/spinBlockDOM": false, "/api/icon/getDynamicIcon": false, "/api/sqlite/flushTransaction": false,
	"/api/attr/batchGetBlockAttrs": false,
}

// guardedReads are endpoints that a kernel started with --readonly refuses although they change nothing.
var guardedReads = map[string]bool{
	"/api/query/sql": true, "/api/sqlite/flushTransaction": true, "/api/system/getWorkspaceInfo": true,
	"/api/asset/getImageOCRText": true, "/api/search/searchAsset": true, "/api/search/searchTemplate": true,
	"/api/av/getAttributeView": true, "/api/av/getAttributeViewFilterSort": true, "/api/av/getAttributeViewKeysByAvID": true,
	"/api/av/getAttributeViewPrimaryKeyValues": true, "/api/av/getMirrorDatabaseBlocks": true, "/api/av/searchAttributeView": true,
}

// guarded reports whether a kernel started with --readonly refuses an endpoint.
func guarded(endpoint string) bool { return Writes(endpoint) || guardedReads[endpoint] }
