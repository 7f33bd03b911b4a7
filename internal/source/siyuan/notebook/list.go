package notebook

import (
	"context"
	"errors"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions notebook.list and notebook.get_child_docs.

// listedNotebook is a notebook in a list.
type listedNotebook struct {
	ID                kernel.ID `json:"id" about:"notebook id"`
	Name              string    `json:"name" about:"its name; names may repeat"`
	Icon              string    `json:"icon" about:"code points of an emoji" verbose:"yes"`
	Sort              int       `json:"sort" about:"its place in the list" verbose:"yes"`
	SortMode          int       `json:"sortMode" about:"order of its documents, 15 is that of the workspace" verbose:"yes"`
	Closed            bool      `json:"closed" about:"whether it is closed"`
	NewFlashcardCount int       `json:"newFlashcardCount" about:"new cards" verbose:"yes"`
	DueFlashcardCount int       `json:"dueFlashcardCount" about:"cards that are due" verbose:"yes"`
	FlashcardCount    int       `json:"flashcardCount" about:"cards" verbose:"yes"`
}

func toListed(n *kernel.Notebook) listedNotebook {
	return listedNotebook{
		ID: n.ID, Name: n.Name, Icon: n.Icon, Sort: n.Sort, SortMode: n.SortMode, Closed: n.Closed,
		NewFlashcardCount: n.NewFlashcardCount, DueFlashcardCount: n.DueFlashcardCount, FlashcardCount: n.FlashcardCount,
	}
}

// list returns the action list of the tool notebook.
func list() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "list", Purpose: "List the notebooks",
		Guide:  "Closed notebooks are listed too; open one with set_open_state before you read it.",
		Common: true,
		Class:  action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded: "lists only notebooks that may be read",
		Endpoints: []string{"notebook/lsNotebooks"},
		Result:    []listedNotebook{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		visible, err := r.Levels.Visible(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]listedNotebook, 0, len(visible))
		for i := range visible {
			out = append(out, toListed(&visible[i]))
		}
		return out, nil
	})
}

type getChildDocsArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Page     int       `json:"page" about:"page of the result" default:"1" min:"1" list:"yes"`
	PageSize int       `json:"pageSize" about:"documents a page" default:"50" min:"1" max:"200"`
}

type getChildDocsResult struct {
	action.Page[content.ListedDocument]
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
}

// getChildDocs returns the action get_child_docs of the tool notebook.
func getChildDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_child_docs", Purpose: "List the documents at the top of a notebook",
		Guide: `Deeper ones: document(action="get_child_docs") or document(action="list_tree").`,
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnNotebook(access.Read, "notebook")},
		Endpoints:  []string{"filetree/listDocsByPath", "notebook/lsNotebooks"},
		Positional: []string{"notebook"},
		Result:     getChildDocsResult{},
		Example:    `{"notebook":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getChildDocsArgs) (any, error) {
		before, err := notebookBefore(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		if before.Closed {
			return nil, notReadyError(a.Notebook, 0, nil)
		}
		docs, err := listWithRetry(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		return getChildDocsResult{action.Paged(content.ListDocuments(a.Notebook, "/", docs), a.Page, a.PageSize), a.Notebook}, nil
	})
}

// How often, and after which wait, the documents of a notebook are requested again.
const (
	retries   = 2
	retryWait = 150 * time.Millisecond
)

// listWithRetry lists the documents at the top of a notebook, again after a moment if the kernel
// says that it is not ready.
func listWithRetry(ctx context.Context, r *action.Request, id kernel.ID) ([]kernel.Document, error) {
	for n := 0; ; n++ {
		docs, err := r.Kernel.Documents(ctx, id, "/")
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code != kernel.CodeNotebookClosed {
			return docs, err
		}
		if n == retries {
			return nil, notReadyError(id, n, err)
		}
		select {
		case <-ctx.Done():
			return nil, notReadyError(id, n, err)
		case <-time.After(retryWait):
		}
	}
}

// notReadyError returns the error for a notebook that is closed, or that the kernel is still opening.
func notReadyError(id kernel.ID, attempts int, err error) error {
	const reason = "notebook_closed_or_initializing"
	return &tool.Error{
		Op: "list", Kind: tool.Internal, Code: kernel.CodeNotebookClosed, Subject: string(id), Err: err,
		Message: "the notebook is closed, or SiYuan is still opening it",
		Hint:    `open it with notebook(action="set_open_state", opened=true), or ask again a moment later`,
		Facts: map[string]any{
			"reason": reason, "retryable": true, "retryAttempts": attempts,
			"retryWindowMs": attempts * int(retryWait/time.Millisecond),
		},
	}
}
