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

// This file has the action fs.write, which creates or overwrites a document.

type writeArgs struct {
	Path      string `json:"path" about:"document to create or overwrite; its parent exists" req:"true"`
	Markdown  string `json:"markdown" about:"the whole new text" req:"true"`
	Overwrite bool   `json:"overwrite" about:"replace the text of a document that exists" default:"false"`
}

type writeResult struct {
	Success     bool      `json:"success" about:"always true"`
	Path        string    `json:"path" about:"path of the document"`
	ID          kernel.ID `json:"id,omitempty" about:"its id"`
	Created     bool      `json:"created,omitempty" about:"it is new"`
	Overwritten bool      `json:"overwritten,omitempty" about:"it was there"`
	Warnings    []string  `json:"warnings,omitempty" about:"what became of references"`
}

// write returns the action write of the tool fs.
func write() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "write", Purpose: "Create a document, or overwrite its text", Common: true, Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite, Saves: action.SavesBlocks, AddsDocument: true,
		Guide: "References to blocks are ((id 'anchor')). Overwriting is refused where it would lose more than text: " +
			"databases and embeds, names, bookmarks and other attributes of blocks, blocks that other documents refer to. Use replace there. " +
			action.AgentsFile + " takes your own notes on how to work here.",
		Needs: []action.Need{action.OnNewPath(access.Write, "path", action.PathVirtual)},
		Endpoints: []string{
			"filetree/createDocWithMd", "filetree/getPathByID", "filetree/getHPathByID", "filetree/moveDocsByID", "filetree/renameDocByID",
			"block/getChildBlocks", "attr/batchGetBlockAttrs", "query/sql", "sqlite/flushTransaction", "block/getBlockKramdown", "block/getBlockKramdowns", "block/getBlockInfo", "block/appendBlock", "block/deleteBlock", "transactions",
		},
		Positional: []string{"path", "markdown"},
		Result:     writeResult{},
		Example:    `{"path":"/Work notes/Plan","markdown":"## Goals\n\n- one"}`,
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
	markdown, warnings, err := content.Normalize(ctx, r, text, t.ID)
	if err != nil {
		return nil, err
	}
	out := writeResult{Success: true, Overwritten: exists, Created: !exists, Warnings: warnings}
	if exists {
		err = content.Overwrite(ctx, r, t, markdown)
	} else {
		t, err = createChecked(ctx, r, t, markdown)
	}
	if err != nil {
		return nil, err
	}
	out.ID, out.Path = t.ID, callerPath(ctx, r, t)
	r.RefreshDocument(out.ID)
	r.RefreshTree()
	return out, nil
}

// createChecked makes a document with an id chosen here, so that the id is known even if the response is lost, and checks
// that the document is at its place. It returns t as stored: the kernel may normalize a title.
func createChecked(ctx context.Context, r *action.Request, t action.Target, markdown string) (action.Target, error) {
	id := kernel.NewID()
	if _, err := r.Kernel.CreateDocument(ctx, t.Notebook, t.HPath, markdown, id); err != nil {
		if e, ok := err.(*tool.Error); ok && e.OutcomeUnknown { //nolint:errorlint // our own, not wrapped
			if e.Facts == nil {
				e.Facts = map[string]any{}
			}
			e.Facts["id"], e.Facts["path"] = id, t.Subject
			e.Hint = `check whether it exists: fs(action="read", path=…)`
		}
		return t, err
	}
	notebook, path, err := r.Kernel.PathByID(ctx, id)
	if err != nil && tool.KindOf(err) != tool.NotFound {
		return t, createdElsewhereError(t, id, err)
	}
	if err != nil || notebook != t.Notebook {
		return t, &tool.Error{
			Op: "create", Kind: kernel.Mismatch, Subject: t.Subject, Err: err,
			Message: "the kernel accepted the document, but it is not there", Hint: `fs(action="ls") shows what is`,
			Facts: map[string]any{"id": id},
		}
	}
	t.ID = id
	if t.Root != "" && !strings.HasSuffix(path, "/"+string(t.Root)+"/"+string(id)+".sy") {
		// Another document has the same path as the parent, and the kernel chose that one.
		if err := r.Kernel.MoveDocuments(ctx, []kernel.ID{id}, t.Root); err != nil {
			return t, createdElsewhereError(t, id, err)
		}
	}
	if t, err = fixTitle(ctx, r, t); err != nil {
		return t, createdElsewhereError(t, id, err)
	}
	return t, nil
}

// createdElsewhereError returns the error for a document that was created but perhaps at a different path. Creating it again would
// make a duplicate.
func createdElsewhereError(t action.Target, id kernel.ID, err error) error {
	return &tool.Error{
		Op: "create", Kind: tool.KindOf(err), Subject: t.Subject, Err: err, OutcomeUnknown: true,
		Message: "the document was created, but its place or title may be another", Hint: `fs(action="ls") shows where it is`,
		Facts: map[string]any{"id": id},
	}
}

// fixTitle corrects the title of a new document whose path ends in ".sy": the kernel removes that ending, taking it for
// a file extension.
func fixTitle(ctx context.Context, r *action.Request, t action.Target) (action.Target, error) {
	now, err := r.Kernel.HPathByID(ctx, t.ID)
	if err == nil && strings.HasSuffix(t.Title, ".sy") && !strings.HasSuffix(now, ".sy") {
		if err = r.Kernel.RenameDocument(ctx, t.ID, t.Title); err == nil {
			now, err = r.Kernel.HPathByID(ctx, t.ID)
		}
	}
	t.HPath = now
	return t, err
}

func writeVirtual(ctx context.Context, r *action.Request, a writeArgs) (any, error) {
	path, _ := virtualFile(r, a.Path)
	if err := checkWritable(path); err != nil {
		return nil, err
	}
	exists := false
	err := changeMemory(ctx, r, func(old string) (string, error) {
		if exists = old != ""; exists && !a.Overwrite {
			return "", &tool.Error{
				Op: "write", Kind: tool.Exists, Subject: path, Message: "there is a text already",
				Hint: `read it first; fs(action="replace") changes a part of it, fs(action="write", path=…, markdown=…, overwrite=true) replaces all of it`,
			}
		}
		return a.Markdown, nil
	})
	if err != nil {
		return nil, err
	}
	return writeResult{Success: true, Path: path, Overwritten: exists, Created: !exists}, nil
}
