package block

import (
	"context"
	"encoding/json"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type docsInfoArgs struct {
	ID       kernel.ID   `json:"id" about:"one document"`
	IDs      []kernel.ID `json:"ids" about:"documents" min:"1" max:"200"`
	RefCount bool        `json:"refCount" about:"also count and list references to them" default:"false"`
	AV       bool        `json:"av" about:"also list databases that they stand in" default:"false"`
}

func docsInfo() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "docs_info",
		Purpose:    "Read title, icon, attributes and reference counts of documents",
		Guide:      "The id of a block means its document. References from notebooks that may not be read are not counted.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnDocument(access.Read, "id"), action.OnDocument(access.Read, "ids")},
		Endpoints:  []string{"block/getDocsInfo"},
		Positional: []string{"ids"},
		Result:     []kernel.DocInfo{},
		Example:    `{"ids":["20260102030405-abcdefg"]}`,
	}, runDocsInfo)
}

func runDocsInfo(ctx context.Context, r *action.Request, a docsInfoArgs) (any, error) {
	switch {
	case a.ID == "" && len(a.IDs) == 0:
		return nil, r.Conflicting("give id or ids", "id", "ids")
	case a.ID != "" && len(a.IDs) > 0:
		return nil, r.Conflicting("give id or ids, not both", "id", "ids")
	}
	var roots []kernel.ID
	for _, t := range append(r.Targets("id"), r.Targets("ids")...) {
		roots = append(roots, t.Root)
	}
	docs, err := r.Kernel.DocsInfo(ctx, distinct(roots), a.RefCount, a.AV)
	if err != nil {
		return nil, err
	}
	return docs, visibleDocs(ctx, r, docs)
}

// visibleDocs takes out of docs what is in notebooks that may not be read: referring blocks, and
// all databases if there may be such notebooks, since nothing says where a database is.
func visibleDocs(ctx context.Context, r *action.Request, docs []kernel.DocInfo) error {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return err
	}
	var refs []kernel.ID
	for i := range docs {
		if docs[i].RefIDs == nil {
			docs[i].RefIDs = []kernel.ID{}
		}
		if len(docs[i].AttrViews) == 0 || restricted {
			docs[i].AttrViews = json.RawMessage("null")
		}
		refs = append(refs, docs[i].RefIDs...)
		if err := content.UnboundAttrs(ctx, r, docs[i].IAL); err != nil {
			return err
		}
	}
	if !restricted || len(refs) == 0 {
		return nil
	}
	places, err := r.Places(ctx, refs)
	if err != nil {
		return err
	}
	for i := range docs {
		kept := []kernel.ID{}
		for _, id := range docs[i].RefIDs {
			if t, found := places[id]; found && r.Readable(t.Notebook) {
				kept = append(kept, id)
			}
		}
		docs[i].RefIDs, docs[i].RefCount = kept, len(kept) // without a word about the others: they are references to this very document
	}
	return nil
}
