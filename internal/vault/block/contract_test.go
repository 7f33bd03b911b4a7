package block_test

import (
	"net/http"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/vault/api"
	"collie/internal/vault/block"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// raised is the reason for skipping rows about a document with x^2^ and H~2~O, which the vault parses differently.
const raised = "a single ^ or ~ is text in the vault"

// contract lists the recorded scenarios that this package must answer like the kernel, and the rows in them that it
// answers otherwise, with the reasons.
var contract = kerneltest.Contract{
	Scenarios: []string{
		"attrs", "blocks", "blocks_errors", "blocks_rich", "limits", "notebook_document", "refs_tags_outline", "transactions",
	},
	Skip: map[string]string{
		"attrs#45":             "a batch that is refused leaves nothing behind here",
		"attrs#47":             "a batch that is refused leaves nothing behind here",
		"blocks#86":            "lists blocks of several seconds, all written within one here",
		"blocks#88":            "lists blocks of several seconds, all written within one here",
		"blocks#108":           "a marker was recorded as a control character",
		"blocks_rich#5":        raised,
		"blocks_rich#6":        raised,
		"blocks_rich#7":        raised,
		"blocks#121":           "shows a block that deleteBlock had yet to delete; here it is gone",
		"limits#20":            "the depth of documents is not for this package",
		"limits#21":            "the depth of documents is not for this package",
		"refs_tags_outline#11": "lists ids in no order",
		"refs_tags_outline#46": "shows tags that were renamed meanwhile",
		"transactions#24":      "shows a block after an undo, which is left out",
	},
}

func TestMeetsRecordings(t *testing.T) {
	t.Parallel()
	c := contract
	c.Endpoints = newContractMux(t).Routes()
	kerneltest.TestHandler(t, c, func(t testing.TB) http.Handler { return newContractMux(t) })
}

// newContractMux returns the routes of this package, and simple stand-ins for the other routes that the scenarios call.
func newContractMux(t testing.TB) *api.Mux {
	mux := vaulttest.New(t, block.Register).Mux
	mux.Write("/api/notebook/createNotebook", createNotebook)
	mux.Write("/api/filetree/createDocWithMd", createDocument)
	mux.Read("/api/sqlite/flushTransaction", func(*workspace.Tx, api.Request) api.Reply { return api.Done() })
	mux.Write("/api/block/batchAppendBlock", batchAdd(true))
	mux.Write("/api/block/batchPrependBlock", batchAdd(false))
	mux.Write("/api/block/updateTaskListItemMarker", func(tx *workspace.Tx, req api.Request) api.Reply {
		return api.Transacted(setTask(tx, req))
	})
	mux.Write("/api/block/batchUpdateTaskListItemMarker", func(tx *workspace.Tx, req api.Request) api.Reply {
		var ops []api.DoOperation
		for _, item := range req.List("items") {
			ops = append(ops, setTask(tx, item))
		}
		return api.OK([]api.Transaction{{DoOperations: ops}})
	})
	return mux
}

// createNotebook is a stand-in for the route of that name.
func createNotebook(tx *workspace.Tx, req api.Request) api.Reply {
	box := tx.CreateNotebook(req.Str("name"))
	return api.OK(object{"notebook": object{
		"id": box.ID, "name": box.Conf.Name, "icon": "", "sort": 0, "sortMode": 15, "closed": false, "subFileCount": 0,
		"newFlashcardCount": 0, "dueFlashcardCount": 0, "flashcardCount": 0, "encrypted": false, "unlocked": false,
	}})
}

// createDocument is a stand-in for createDocWithMd: it makes a document by the last title of its path, at the top of the notebook.
func createDocument(tx *workspace.Tx, req api.Request) api.Reply {
	at := req.Str("path")
	blocks := tx.Identify(markup.Parse(req.Str("markdown")))
	d := tx.AddDocument(tx.OpenNotebook(req.Str("notebook")), nil, at[strings.LastIndex(at, "/")+1:], req.OptStr("id"), blocks)
	return api.OK(d.ID())
}

// batchAdd returns a stand-in for the route that appends (last) or prepends several blocks.
func batchAdd(last bool) api.Handler {
	return func(tx *workspace.Tx, req api.Request) api.Reply {
		var ops []api.DoOperation
		for _, entry := range req.List("blocks") {
			ops = append(ops, edit.Place(tx, entry.Str("dataType"), entry.Str("data"), tx.Block(entry.Str("parentID")), last))
		}
		return api.Transacted(ops...)
	}
}

// setTask changes the marker of a task, such as x for done, and returns the operation for the answer.
func setTask(tx *workspace.Tx, req api.Request) api.DoOperation {
	b := tx.Block(req.ID("id"))
	if b == nil || b.Kind != tree.Item {
		req.End(api.Fail(-1, "block is not a list item"))
		return api.DoOperation{}
	}
	b.Task = req.Str("marker")
	b.Stamp()
	return api.DoOperation{Action: "update", Data: markup.DOM(b), ID: b.ID}
}
