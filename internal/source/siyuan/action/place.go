package action

import (
	"context"
	"errors"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file finds the notebook and document that blocks are in.

// Place returns where a block or document is. If it does not exist or is hidden, the error is [access.NotFound]. Results
// are remembered for the rest of the call. The caller checks whether the level is high enough.
func (r *Request) Place(ctx context.Context, what access.What, id string) (Target, error) {
	found, err := r.resolveBlocks(ctx, what, []string{id})
	if err != nil {
		return Target{}, err
	}
	return found[0], nil
}

// Places finds many blocks with few requests. Blocks that do not exist are left out.
func (r *Request) Places(ctx context.Context, ids []kernel.ID) (map[kernel.ID]Target, error) {
	out, missing := r.cachedPlaces(ids)
	if len(missing) > 1 {
		for chunk := range slices.Chunk(missing, 200) {
			rows, err := kernel.SQL[blockRow](ctx, r.Kernel, "SELECT DISTINCT id, root_id, box, path, hpath FROM blocks WHERE id IN ("+
				kernel.QuoteIDs(chunk)+") LIMIT 1000")
			if isSQLRefused(err) {
				break // requested one by one below
			}
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				if row.Box != "" {
					out[row.ID] = r.cachePlace(row.target())
				}
			}
		}
		_, missing = r.cachedPlaces(missing)
	}
	for _, id := range missing { // a single one, or blocks that are not in the index yet
		t, err := r.lookUpPlace(ctx, id)
		switch {
		case err == nil:
			out[id] = t
		case tool.KindOf(err) != tool.NotFound:
			return nil, err
		}
	}
	return out, nil
}

// isSQLRefused reports whether a kernel refused SQL because it runs read-only.
func isSQLRefused(err error) bool {
	e, ok := errors.AsType[*tool.Error](err)
	return ok && e.Code == kernel.CodeReadOnly
}

// blockRow is a block in a result of SQL.
type blockRow struct {
	ID    kernel.ID `json:"id"`
	Root  kernel.ID `json:"root_id"`
	Box   kernel.ID `json:"box"`
	Path  string    `json:"path"`
	HPath string    `json:"hpath"`
}

func (w *blockRow) target() Target {
	t := Target{What: access.Block, Subject: string(w.ID), ID: w.ID, Notebook: w.Box, Root: w.Root, Path: w.Path, HPath: w.HPath}
	if t.Root == "" {
		t.Root = w.ID
	}
	if t.ID == t.Root {
		t.What = access.Document
	}
	return t
}

// cachedPlaces returns the places that are remembered, and the ids of the others.
func (r *Request) cachedPlaces(ids []kernel.ID) (found map[kernel.ID]Target, missing []kernel.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found = map[kernel.ID]Target{}
	for _, id := range ids {
		if t, ok := r.places[id]; ok {
			found[id] = t
		} else if id.Valid() && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	return found, missing
}

func (r *Request) cachePlace(t Target) Target {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places[t.ID] = t
	return t
}

// lookUpPlace asks the kernel where one block is. A block in a closed or locked notebook is not found.
func (r *Request) lookUpPlace(ctx context.Context, id kernel.ID) (Target, error) {
	p, err := r.Kernel.Place(ctx, id)
	if err != nil {
		e, ok := errors.AsType[*tool.Error](err)
		if ok && (e.Kind == tool.NotFound || e.Kind == kernel.API && e.Facts["kernelCode"] == -1) { // with other codes the answer is not about the id
			return Target{}, access.NotFound(access.Block, string(id))
		}
		return Target{}, err
	}
	t := Target{What: access.Block, Subject: string(id), ID: id, Notebook: p.Notebook, Root: p.Root, Path: p.Path, Title: p.Title}
	if id == p.Root {
		t.What = access.Document
	}
	return r.cachePlace(t), nil
}

// resolveBlocks resolves ids in order. It fails for the first that does not exist or is hidden.
func (r *Request) resolveBlocks(ctx context.Context, what access.What, ids []string) ([]Target, error) {
	typed := make([]kernel.ID, len(ids))
	for i, id := range ids {
		typed[i] = kernel.ID(id)
	}
	found, err := r.Places(ctx, typed)
	if err != nil {
		return nil, err
	}
	var out []Target
	for i, id := range typed {
		t, ok := found[id]
		if !ok || !r.Readable(t.Notebook) { // in the caller's words for both, so that hidden and missing are the same
			return nil, access.NotFound(what, ids[i])
		}
		out = append(out, t)
	}
	return out, nil
}

// resolveNotebooks resolves notebook ids. It fails for the first that does not exist.
func (r *Request) resolveNotebooks(ctx context.Context, ids []string) ([]Target, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := r.Levels.All(ctx)
	if err != nil {
		return nil, err
	}
	var out []Target
	for _, id := range ids {
		i := slices.IndexFunc(all, func(n kernel.Notebook) bool { return string(n.ID) == id })
		if i < 0 {
			return nil, access.NotFound(access.Notebook, id)
		}
		out = append(out, NotebookTarget(&all[i]))
	}
	return out, nil
}

// NotebookTarget returns a notebook as a target.
func NotebookTarget(n *kernel.Notebook) Target {
	return Target{What: access.Notebook, Subject: string(n.ID), ID: n.ID, Notebook: n.ID, Path: "/", HPath: "/", Title: n.Name}
}
