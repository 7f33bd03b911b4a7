package notebook

import (
	"context"
	"fmt"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool notebook that open, close and remove a notebook.

type setOpenStateArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Opened   bool      `json:"opened" about:"true opens, false closes" req:"true"`
}

type setOpenStateResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Opened   bool      `json:"opened" about:"whether it is open now"`
	Changed  bool      `json:"changed" about:"whether it was not before"`
	Indexing bool      `json:"indexing,omitempty" about:"true where SiYuan has not yet changed its index: what is not found may be there"`
}

// setOpenState returns the action set_open_state of the tool notebook.
func setOpenState() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_open_state", Purpose: "Open or close a notebook",
		Guide: "Nothing in a closed notebook can be read or found. The call waits until SiYuan has changed its " +
			"index, 10 seconds at most.",
		Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite | tool.EffectUI,
		Needs:      []action.Need{action.OnNotebook(access.Write, "notebook")},
		Endpoints:  []string{"notebook/openNotebook", "notebook/closeNotebook", "notebook/lsNotebooks", "sqlite/flushTransaction", "system/bootProgress", "filetree/listDocsByPath", "block/getBlockTreeInfos"},
		Positional: []string{"notebook", "opened"},
		Result:     setOpenStateResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","opened":true}`,
	}, func(ctx context.Context, r *action.Request, a setOpenStateArgs) (any, error) {
		before, err := notebookBefore(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		changed, indexing := before.Closed == a.Opened, false
		if changed {
			if indexing, err = setOpen(ctx, r, a.Notebook, a.Opened); err != nil {
				return nil, err
			}
			r.RefreshTree()
		}
		return setOpenStateResult{true, a.Notebook, a.Opened, changed, indexing}, nil
	})
}

// setOpen opens or closes a notebook, makes sure that it is, and waits for the kernel's index.
// indexing says that this is not done yet.
func setOpen(ctx context.Context, r *action.Request, id kernel.ID, open bool) (indexing bool, err error) {
	done := func(n *kernel.Notebook) bool { return n != nil && n.Closed != open }
	if open {
		if err := resolveOutcome(ctx, r, id, r.Kernel.OpenNotebook(ctx, id), done); err != nil {
			return false, err
		}
		ids, err := topDocuments(ctx, r, id)
		return err != nil || !awaitIndexed(ctx, r, ids, true), nil //nolint:nilerr // it is open
	}
	ids, err := topDocuments(ctx, r, id) // a closed one lists none
	if err == nil {
		err = r.Kernel.FlushNow(ctx)
	}
	if err != nil {
		return false, err // nothing was closed
	}
	if err := resolveOutcome(ctx, r, id, r.Kernel.CloseNotebook(ctx, id), done); err != nil {
		return false, err
	}
	return !awaitIndexed(ctx, r, ids, false), nil
}

type removeArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
}

type removeResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"id that the notebook had"`
	Name     string    `json:"name" about:"its name"`
}

// remove returns the action remove of the tool notebook.
func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "remove", Purpose: "Delete a notebook with all its documents",
		Guide:     "SiYuan keeps a copy in its history.",
		Off:       true,
		Dangerous: true,
		Class:     action.State, Risk: tool.RiskCritical, Effects: tool.EffectWrite | tool.EffectDelete,
		Needs:     []action.Need{action.OnNotebook(access.Delete, "notebook")},
		Endpoints: []string{"notebook/removeNotebook", "notebook/lsNotebooks", "sqlite/flushTransaction", "system/bootProgress"},
		Result:    removeResult{},
		Example:   `{"notebook":"20240101120000-abcdefg"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("delete notebook %q with all its documents", r.Target("notebook").Title)
		},
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		if err := r.Kernel.FlushNow(ctx); err != nil {
			return nil, err
		}
		err := r.Kernel.RemoveNotebook(ctx, a.Notebook)
		if err = resolveOutcome(ctx, r, a.Notebook, err, func(n *kernel.Notebook) bool { return n == nil }); err != nil {
			return nil, err
		}
		r.RefreshTree()
		return removeResult{true, a.Notebook, r.Target("notebook").Title}, nil
	})
}

const (
	waitLimit    = 10 * time.Second       // for a kernel that starts again, or makes an index
	pollInterval = 100 * time.Millisecond // between two looks at it
)

// resolveOutcome decides the outcome of a write that closes, opens or removes a notebook and was answered with err. It
// returns nil if done is true for the notebook as it is now; done gets nil if the notebook is gone. The write may
// crash the kernel, which is then restarted, so a lost response does not say whether it happened.
func resolveOutcome(ctx context.Context, r *action.Request, id kernel.ID, err error, done func(*kernel.Notebook) bool) error {
	lost := tool.KindOf(err) == kernel.OutcomeUnknown
	if err != nil && !lost {
		return err
	}
	n, lookErr := awaitNotebook(ctx, r, id)
	switch {
	case lookErr != nil:
		return unknownOutcome(id, lookErr)
	case done(n):
		return nil
	case lost:
		return unknownOutcome(id, err)
	}
	return mismatchError(id, "the kernel accepted the request, and the notebook is as it was")
}

// awaitNotebook waits until the kernel has started, and returns a notebook as the kernel then lists it; nil if it is gone.
func awaitNotebook(ctx context.Context, r *action.Request, id kernel.ID) (*kernel.Notebook, error) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for {
		booted, err := r.Kernel.Booted(ctx)
		if err == nil && booted {
			return now(ctx, r, id)
		}
		if err == nil {
			err = &tool.Error{Op: "ask SiYuan", Kind: tool.Unavailable, Message: "the kernel is still starting"}
		}
		if !waitInterval(ctx) {
			return nil, err
		}
	}
}

// waitInterval waits a moment and reports whether there is time for another look.
func waitInterval(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollInterval):
		return true
	}
}

// topDocuments returns the documents at the top of a notebook. [awaitIndexed] uses them to see how far the kernel's
// index is. The kernel adds and removes the documents of a notebook in the background: meanwhile documents of an open
// notebook seem to be missing, and those of a closed one can still be written to.
func topDocuments(ctx context.Context, r *action.Request, id kernel.ID) ([]kernel.ID, error) {
	docs, err := r.Kernel.Documents(ctx, id, "/")
	ids := make([]kernel.ID, 0, len(docs))
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids, err
}

// awaitIndexed waits until documents are in the index, or out of it, and reports whether they are.
func awaitIndexed(ctx context.Context, r *action.Request, ids []kernel.ID, in bool) bool {
	want := 0
	if in {
		want = len(ids)
	}
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for {
		indexed, err := r.Kernel.Nodes(ctx, ids)
		switch {
		case err != nil:
			return false
		case len(indexed) == want:
			return r.Kernel.FlushNow(ctx) == nil // the SQL index follows only after a flush
		case !waitInterval(ctx):
			return false
		}
	}
}
