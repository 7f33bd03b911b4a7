package document

import (
	"context"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type getDocArgs struct {
	ID   kernel.ID `json:"id" about:"document id" req:"true"`
	Mode string    `json:"mode" about:"form of the content" default:"markdown" enum:"markdown,html"`
	Size int       `json:"size" about:"blocks to load, of html" default:"1024" min:"1" max:"102400"`
	content.WindowOptions
}

// header says which document was read.
type header struct {
	ID           kernel.ID `json:"id"`
	Mode         string    `json:"mode"`
	Notebook     kernel.ID `json:"notebook"`
	NotebookName string    `json:"notebookName"`
	HPath        string    `json:"hPath"`
}

func getDoc() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_doc", Purpose: "Read a document as Markdown, window by window, or as HTML",
		Guide: "Whole blocks from blockStart on, as many as blockLimit and tokenBudget allow; nextWindow has the " +
			"arguments for what follows. html is the editor's own form.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"block/getChildBlocks", "block/getBlockKramdowns", "block/getBlockKramdown", "filetree/getDoc", "filetree/getHPathByID", "notebook/lsNotebooks", "query/sql"},
		Positional: []string{"id"},
		Returns: []action.Field{
			{Name: "id", About: "document id"},
			{Name: "mode", About: "markdown or html"},
			{Name: "notebook", About: "notebook id"},
			{Name: "notebookName", About: "its name"},
			{Name: "hPath", About: "human path in the notebook"},
			{Name: "content", About: "the text"},
			{Name: "outline", About: "headings: blockIndex, level, title, id?"},
			{Name: "stateHash", About: "for ifMatch of a write, where all was read"},
			{Name: "truncated", About: "whether there is more"},
			{Name: "nextWindow", About: "arguments for what follows"},
			{Name: "nextWindowHint", About: "the same in words"},
			{Name: "totalBlocks", About: "blocks of the document"},
			{Name: "returnedBlocks", About: "blocks in this window", Verbose: true},
			{Name: "blockStart", About: "first block", Verbose: true},
			{Name: "blockLimit", About: "blocks at most", Verbose: true},
			{Name: "tokenBudget", About: "tokens at most", Verbose: true},
			{Name: "estimatedTokens", About: "tokens of the text, estimated", Verbose: true},
			{Name: "tokenMode", About: "how they are estimated", Verbose: true},
			{Name: "budgetExceeded", About: "true where the first block alone is larger"},
			{Name: "hasNextWindow", About: "as truncated", Verbose: true},
			{Name: "blockRefs", About: "ids of the blocks, with includeBlockIds"},
			{Name: "attributeViews", About: "databases in the text"},
			{Name: "warning", About: "what the text does not show"},
			{Name: "avToolHint", About: "how to read the databases"},
			{Name: "nonFidelityWarning", About: "blocks that the text shows in part only"},
			{Name: "complexBlockTypes", About: "their types"},
			{Name: "recommendedReads", About: "how to read them"},
			{Name: "blockCount", About: "blocks of the document, of html"},
			{Name: "eof", About: "whether all of them are there, of html"},
		},
		Example: `{"id":"20240101120000-abcdefg","tokenBudget":4000}`,
	}, func(ctx context.Context, r *action.Request, a getDocArgs) (any, error) {
		t := r.Target("id")
		name, err := notebookName(ctx, r, t.Notebook)
		if err != nil {
			return nil, err
		}
		hpath, err := hpathOf(ctx, r, t)
		if err != nil {
			return nil, err
		}
		head := header{t.Root, a.Mode, t.Notebook, name, hpath}
		if a.Mode == "html" {
			return asHTML(ctx, r, head, a.Size)
		}
		w, err := content.ReadWindow(ctx, r, t.Root, a.WindowOptions)
		if err != nil {
			return nil, err
		}
		return struct {
			header
			content.Window
		}{head, w}, nil
	})
}

// asHTML is a document in the editor's form.
func asHTML(ctx context.Context, r *action.Request, head header, size int) (any, error) {
	raw, err := r.Kernel.DocumentHTML(ctx, head.ID, size)
	if err != nil {
		return nil, err
	}
	got := gjson.ParseBytes(raw)
	text, err := content.Unbound(ctx, r, got.Get("content").String())
	return struct {
		header
		Content    string `json:"content"`
		BlockCount int64  `json:"blockCount"`
		EOF        bool   `json:"eof"`
	}{head, text, got.Get("blockCount").Int(), got.Get("eof").Bool()}, err
}
