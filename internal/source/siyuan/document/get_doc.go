package document

import (
	"context"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.get_doc, which reads a document, also as HTML.

type getDocArgs struct {
	ID   kernel.ID `json:"id" about:"document id" req:"true"`
	Mode string    `json:"mode" about:"form of the content" default:"markdown" enum:"markdown,html"`
	Size int       `json:"size" about:"blocks to load, of html" default:"1024" min:"1" max:"102400"`
	content.WindowOptions
}

// header identifies the document that was read.
type header struct {
	ID           kernel.ID `json:"id" about:"document id"`
	Mode         string    `json:"mode" about:"markdown or html"`
	Notebook     kernel.ID `json:"notebook" about:"notebook id"`
	NotebookName string    `json:"notebookName" about:"its name"`
	HPath        string    `json:"hPath" about:"human path in the notebook"`
}

// loadStatus describes how much of a document was read as HTML.
type loadStatus struct {
	BlockCount int64 `json:"blockCount" about:"blocks of the document, of html"`
	EOF        bool  `json:"eof" about:"whether all of them are there, of html"`
}

// getDoc returns the action get_doc of the tool document.
func getDoc() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_doc", Purpose: "Read a document as Markdown, window by window, or as HTML",
		Guide: "Whole blocks from blockStart on, as many as blockLimit and tokenBudget allow; nextWindow has the " +
			"arguments for what follows. html is the editor's own form.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"block/getChildBlocks", "block/getBlockKramdowns", "block/getBlockKramdown", "filetree/getDoc", "filetree/getHPathByID", "notebook/lsNotebooks", "query/sql"},
		Positional: []string{"id"},
		Result: struct {
			header
			content.Window
			loadStatus
		}{},
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

// asHTML returns a document in the editor's form.
func asHTML(ctx context.Context, r *action.Request, head header, size int) (any, error) {
	raw, err := r.Kernel.DocumentHTML(ctx, head.ID, size)
	if err != nil {
		return nil, err
	}
	got := gjson.ParseBytes(raw)
	text, err := content.Redact(ctx, r, got.Get("content").String())
	return struct {
		header
		Content string `json:"content"`
		loadStatus
	}{head, text, loadStatus{got.Get("blockCount").Int(), got.Get("eof").Bool()}}, err
}
