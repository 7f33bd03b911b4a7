package fs

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

type writeArgs struct {
	Path      string `json:"path" about:"document to create or overwrite; its parent exists" req:"true"`
	Markdown  string `json:"markdown" about:"the whole new text" req:"true"`
	Overwrite bool   `json:"overwrite" about:"replace the text of a document that exists" default:"false"`
}

type writeResult struct {
	Success     bool      `json:"success"`
	Path        string    `json:"path"`
	ID          kernel.ID `json:"id,omitempty"`
	Created     bool      `json:"created,omitempty"`
	Overwritten bool      `json:"overwritten,omitempty"`
	Warnings    []string  `json:"warnings,omitempty"`
}

func write() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "write", Purpose: "Create a document, or overwrite its text", Common: true, Class: action.State, Saves: action.SavesBlocks,
		Guide: "References to blocks are ((id 'anchor')). Overwriting is refused where it would lose more than text: " +
			"databases and embeds, names, bookmarks and other attributes of blocks, blocks that other documents refer to. Use replace there. " +
			action.AgentsFile + " takes your own notes on how to work here.",
		Needs: []action.Need{action.OnNewPath(access.Write, "path", action.PathVirtual)},
		Endpoints: []string{
			"filetree/createDocWithMd", "filetree/getPathByID", "filetree/moveDocsByID", "block/getChildBlocks", "attr/batchGetBlockAttrs",
			"query/sql", "block/getBlockKramdown", "block/getBlockKramdowns", "block/getBlockInfo", "block/appendBlock", "block/deleteBlock", "transactions",
		},
		Positional: []string{"path", "markdown"},
		Returns: []action.Field{
			{Name: "success", About: "always true"}, {Name: "path", About: "path of the document"},
			{Name: "id", About: "its id"}, {Name: "created", About: "it is new"}, {Name: "overwritten", About: "it was there"},
			{Name: "warnings", About: "what became of references"},
		},
		Example: `{"path":"/Work notes/Plan","markdown":"## Goals\n\n- one"}`,
	}, runWrite)
}

func runWrite(ctx context.Context, r *action.Request, a writeArgs) (any, error) {
	targets := r.Targets("path")
	if len(targets) == 0 {
		return writeVirtual(ctx, r, a)
	}
	t := targets[0]
	exists := t.ID != ""
	if exists && !a.Overwrite {
		return nil, &tool.Error{
			Op: "write", Kind: tool.Exists, Subject: t.Subject, Message: "there is a document at this path",
			Hint: `fs(action="replace") changes a part of it; fs(action="write", path=…, markdown=…, overwrite=true) replaces all of its text`, Facts: map[string]any{"id": t.ID},
		}
	}
	text := content.RenewIDs(a.Markdown, nil)
	if !exists {
		text = content.WithoutTitle(text, t.Title)
	}
	markdown, warnings, err := content.Normalize(ctx, r, text)
	if err != nil {
		return nil, err
	}
	out := writeResult{Success: true, Path: shown(ctx, r, t), ID: t.ID, Overwritten: exists, Created: !exists, Warnings: warnings}
	if exists {
		err = content.Overwrite(ctx, r, t, markdown)
	} else {
		out.ID, err = create(ctx, r, t, markdown)
	}
	if err != nil {
		return nil, err
	}
	r.RefreshDocument(out.ID)
	r.RefreshTree()
	return out, nil
}

// create makes a document with an id of our own, so that it is known even if the answer is lost
// (R-1-7), and makes sure that it is where it belongs.
func create(ctx context.Context, r *action.Request, t action.Target, markdown string) (kernel.ID, error) {
	id := kernel.NewID()
	if _, err := r.Kernel.CreateDocument(ctx, t.Notebook, t.HPath, markdown, id); err != nil {
		if e, ok := err.(*tool.Error); ok && e.OutcomeUnknown { //nolint:errorlint // our own, not wrapped
			if e.Facts == nil {
				e.Facts = map[string]any{}
			}
			e.Facts["id"], e.Facts["path"] = id, t.Subject
			e.Hint = `look whether it is there: fs(action="read", path=…)`
		}
		return "", err
	}
	notebook, path, err := r.Kernel.PathByID(ctx, id)
	if err != nil || notebook != t.Notebook {
		return "", &tool.Error{
			Op: "create", Kind: tool.Mismatch, Subject: t.Subject, Err: err,
			Message: "the kernel accepted the document, but it is not there", Hint: `fs(action="ls") shows what is`,
			Facts: map[string]any{"id": id},
		}
	}
	if t.Root != "" && !strings.HasSuffix(path, "/"+string(t.Root)+"/"+string(id)+".sy") {
		// Another document has the parent's path, too, and the kernel took that one.
		if err := r.Kernel.MoveDocuments(ctx, []kernel.ID{id}, t.Root); err != nil {
			return "", err
		}
	}
	return id, nil
}

func writeVirtual(ctx context.Context, r *action.Request, a writeArgs) (any, error) {
	path, text := virtualFile(r, a.Path)
	if err := writable(path); err != nil {
		return nil, err
	}
	if text != "" && !a.Overwrite {
		return nil, &tool.Error{
			Op: "write", Kind: tool.Exists, Subject: path, Message: "there is a text already",
			Hint: `read it first; fs(action="replace") changes a part of it, fs(action="write", path=…, markdown=…, overwrite=true) replaces all of it`,
		}
	}
	if err := remember(ctx, r, a.Markdown); err != nil {
		return nil, err
	}
	return writeResult{Success: true, Path: path, Overwritten: text != "", Created: text == ""}, nil
}
