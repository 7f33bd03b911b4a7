package document

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.lookup, which finds a document by any of its names.

type lookupArgs struct {
	ID       kernel.ID `json:"id" about:"id of a document, or of a block in it"`
	Notebook kernel.ID `json:"notebook" about:"notebook id, with path or hpath"`
	Path     string    `json:"path" about:"storage path, with notebook"`
	HPath    string    `json:"hpath" about:"human path, with notebook"`
	Include  []string  `json:"include" about:"what to return" enum:"id,ids,path,hpath,docInfo" default:"[\"path\",\"hpath\"]" list:"no"`
}

// lookupResult is what a lookup returns.
type lookupResult struct {
	HumanPath *humanPath      `json:"humanPath,omitempty" about:"if hpath is included"`
	IDPath    idPath          `json:"idPath" about:"the document by ids"`
	DocInfo   json.RawMessage `json:"docInfo,omitempty" about:"what SiYuan knows of the document, if docInfo is included"`
}

type humanPath struct {
	NotebookName string `json:"notebookName" about:"name of the notebook"`
	HPath        string `json:"hPath" about:"human path in the notebook"`
}

type idPath struct {
	ID       kernel.ID   `json:"id" about:"document id"`
	IDs      []kernel.ID `json:"ids,omitempty" about:"all documents of the human path, if there are several or ids is included"`
	Notebook kernel.ID   `json:"notebook" about:"notebook id"`
	Path     string      `json:"path,omitempty" about:"storage path, if path is included"`
}

// lookup returns the action lookup of the tool document.
func lookup() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "lookup", Purpose: "Turn a document's id, storage path or human path into the others",
		Guide: "Give exactly one of id, notebook and path, notebook and hpath. A human path may be that of several " +
			"documents: ids has all of them then, and id is the first.",
		Common: true,
		Class:  action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.On(access.Read, "the document", "id", lookupTargets)},
		Endpoints:  []string{"filetree/getIDsByHPath", "filetree/getHPathByID", "block/getBlockInfo", "block/getDocInfo", "notebook/lsNotebooks", "query/sql", "sqlite/flushTransaction"},
		Aliases:    map[string]string{"hPath": "hpath"},
		Positional: []string{"id"},
		Result:     lookupResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","hpath":"/Projects/Alpha"}`,
	}, func(ctx context.Context, r *action.Request, a lookupArgs) (any, error) {
		var err error
		targets := r.Targets("id")
		t := targets[0]
		out := lookupResult{IDPath: idPath{ID: documentID(t), Notebook: t.Notebook}}
		if slices.Contains(a.Include, "path") {
			out.IDPath.Path = t.Path
		}
		if len(targets) > 1 || slices.Contains(a.Include, "ids") {
			for _, one := range targets {
				out.IDPath.IDs = append(out.IDPath.IDs, documentID(one))
			}
		}
		if slices.Contains(a.Include, "hpath") {
			if out.HumanPath, err = humanPathOf(ctx, r, t); err != nil {
				return nil, err
			}
		}
		if slices.Contains(a.Include, "docInfo") {
			if out.DocInfo, err = redactedInfo(ctx, r, documentID(t)); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// humanPathOf returns the human path of a target.
func humanPathOf(ctx context.Context, r *action.Request, t action.Target) (*humanPath, error) {
	name, err := notebookName(ctx, r, t.Notebook)
	if err != nil {
		return nil, err
	}
	hpath, err := indexedHPath(ctx, r, t)
	return &humanPath{name, hpath}, err
}

// redactedInfo returns what the kernel knows about a document, without references from hidden notebooks, and without
// databases if there may be hidden notebooks.
func redactedInfo(ctx context.Context, r *action.Request, id kernel.ID) (json.RawMessage, error) {
	raw, err := r.Kernel.DocumentInfo(ctx, id)
	if err != nil {
		return nil, err
	}
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return raw, err
	}
	for _, name := range []string{"attrViews", "ial.custom-avs", "ial.av-names"} { // it is unknown where a database is
		if raw, err = sjson.DeleteBytes(raw, name); err != nil {
			return nil, err
		}
	}
	var refs struct{ RefIDs []kernel.ID }
	if err := json.Unmarshal(raw, &refs); err != nil || len(refs.RefIDs) == 0 {
		return raw, nil //nolint:nilerr // without references there is nothing to filter
	}
	places, err := r.Places(ctx, refs.RefIDs)
	if err != nil {
		return nil, err
	}
	visible := slices.DeleteFunc(slices.Clone(refs.RefIDs), func(id kernel.ID) bool {
		return !r.Readable(places[id].Notebook)
	})
	if len(visible) == len(refs.RefIDs) {
		return raw, nil
	}
	if raw, err = sjson.SetBytes(raw, "refIDs", visible); err != nil {
		return nil, err
	}
	return sjson.SetBytes(raw, "refCount", len(visible))
}

// documentID returns the id of the document a target is in; a notebook has a page of the same id.
func documentID(t action.Target) kernel.ID {
	if t.Root == "" {
		return t.ID
	}
	return t.Root
}

// lookupTargets returns the documents that match a lookup. The first one is the result.
func lookupTargets(ctx context.Context, r *action.Request) ([]action.Target, error) {
	id, notebook, path, hpath := r.Strings("id"), r.Strings("notebook"), r.Strings("path"), r.Strings("hpath")
	switch {
	case len(id) == 1 && len(notebook)+len(path)+len(hpath) == 0:
		if n, err := listedNotebook(ctx, r, id[0]); err == nil && n.Closed { // its page may remain visible for a moment
			_, err = openNotebook(ctx, r, id[0])
			return nil, err
		}
		t, err := r.Place(ctx, access.Document, id[0])
		return []action.Target{t}, err
	case len(id) == 0 && len(notebook) == 1 && len(path) == 1 && len(hpath) == 0:
		if path[0] != "/" && !strings.HasSuffix(path[0], ".sy") { // a human path given as path
			return byHPath(ctx, r, notebook[0], path[0])
		}
		return byPathOrTop(ctx, r, notebook[0], path[0])
	case len(id) == 0 && len(notebook) == 1 && len(path) == 0 && len(hpath) == 1:
		if storagePath.MatchString(hpath[0]) { // a storage path given as hpath
			return byPathOrTop(ctx, r, notebook[0], hpath[0])
		}
		return byHPath(ctx, r, notebook[0], hpath[0])
	}
	return nil, r.Conflicting("give exactly one of id, notebook and path, notebook and hpath", "id", "notebook", "path", "hpath")
}

// byPathOrTop returns the document at a storage path, or the notebook, which may be closed.
func byPathOrTop(ctx context.Context, r *action.Request, notebook, path string) ([]action.Target, error) {
	if path == "/" {
		n, err := notebookOf(ctx, r, notebook)
		return []action.Target{n}, err
	}
	t, err := atPath(ctx, r, notebook, path)
	return []action.Target{t}, err
}

// byHPath returns the documents of a human path, which needs no slash at its start.
func byHPath(ctx context.Context, r *action.Request, notebook, hpath string) ([]action.Target, error) {
	titles := slices.DeleteFunc(strings.Split(hpath, "/"), func(title string) bool { return title == "" })
	if len(titles) == 0 {
		return byPathOrTop(ctx, r, notebook, "/")
	}
	n, err := openNotebook(ctx, r, notebook)
	if err != nil {
		return nil, err
	}
	hpath = "/" + strings.Join(titles, "/")
	ids, err := r.Kernel.IDsByHPath(ctx, n.ID, hpath)
	if err != nil {
		return nil, err
	}
	places, err := r.Places(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []action.Target
	for _, id := range ids {
		if t, ok := places[id]; ok && t.Notebook == n.ID {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		e := access.NotFound(access.Document, hpath)
		if titles[0] == n.Title {
			e.Hint = fmt.Sprintf("a human path has no name of a notebook here: hpath=%q", "/"+strings.Join(titles[1:], "/"))
		}
		return nil, e
	}
	return out, nil
}

// indexedHPath returns the human path of a target. If the kernel is still indexing, it asks again after a moment.
func indexedHPath(ctx context.Context, r *action.Request, t action.Target) (string, error) {
	for _, wait := range []time.Duration{120 * time.Millisecond, 240 * time.Millisecond} {
		hpath, err := hpathOf(ctx, r, t)
		if tool.KindOf(err) != tool.NotFound || err == nil {
			return hpath, err
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(wait):
		}
	}
	return hpathOf(ctx, r, t)
}
