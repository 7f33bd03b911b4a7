package notebook

import (
	"context"
	"errors"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

type getChildDocsArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Page     int       `json:"page" about:"page of the result" default:"1" min:"1" list:"yes"`
	PageSize int       `json:"pageSize" about:"documents a page" default:"50" min:"1" max:"200"`
}

// child is a document at the top of a notebook.
type child struct {
	ID           kernel.ID `json:"id"`
	Notebook     kernel.ID `json:"notebook"`
	Path         string    `json:"path"`
	HPath        string    `json:"hPath"`
	Name         string    `json:"name"`
	Icon         string    `json:"icon"`
	SubFileCount int       `json:"subFileCount"`
}

func getChildDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_child_docs", Purpose: "List the documents at the top of a notebook",
		Guide:      `Deeper ones: document(action="get_child_docs") or document(action="list_tree").`,
		Class:      action.Reads,
		Needs:      []action.Need{action.OnNotebook(access.Read, "notebook")},
		Endpoints:  []string{"filetree/listDocsByPath", "notebook/lsNotebooks"},
		Positional: []string{"notebook"},
		Returns: []action.Field{
			{Name: "data", About: "documents in the order SiYuan shows"},
			{Name: "data[].id", About: "document id"},
			{Name: "data[].name", About: "title"},
			{Name: "data[].hPath", About: "human path in the notebook"},
			{Name: "data[].path", About: "storage path"},
			{Name: "data[].subFileCount", About: "documents right below it"},
			{Name: "data[].notebook", About: "notebook id", Verbose: true},
			{Name: "data[].icon", About: "icon", Verbose: true},
			{Name: "notebook", About: "notebook id"},
			{Name: "total", About: "how many there are"},
			{Name: "page", About: "this page"},
			{Name: "pageSize", About: "documents a page"},
			{Name: "pageCount", About: "how many pages"},
			{Name: "hasNextPage", About: "whether there is more"},
		},
		Example: `{"notebook":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getChildDocsArgs) (any, error) {
		was, err := before(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		if was.Closed {
			return nil, notReady(a.Notebook, 0, nil)
		}
		docs, err := patiently(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		out := make([]child, 0, len(docs))
		for _, d := range docs {
			out = append(out, child{d.ID, a.Notebook, d.Path, "/" + d.Name, d.Name, d.Icon, d.SubFileCount})
		}
		return struct {
			action.Page[child]
			Notebook kernel.ID `json:"notebook"`
		}{action.Paged(out, a.Page, a.PageSize), a.Notebook}, nil
	})
}

const (
	retries   = 2
	retryWait = 150 * time.Millisecond
)

// patiently lists the documents at the top of a notebook, again after a moment where the kernel
// says that it is not ready.
func patiently(ctx context.Context, r *action.Request, id kernel.ID) ([]kernel.Document, error) {
	for n := 0; ; n++ {
		docs, err := r.Kernel.Documents(ctx, id, "/")
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code != kernel.CodeNotebookClosed {
			return docs, err
		}
		if n == retries {
			return nil, notReady(id, n, err)
		}
		select {
		case <-ctx.Done():
			return nil, notReady(id, n, err)
		case <-time.After(retryWait):
		}
	}
}

// notReady is the error for a notebook that is closed, or that the kernel is still opening.
func notReady(id kernel.ID, attempts int, err error) error {
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
