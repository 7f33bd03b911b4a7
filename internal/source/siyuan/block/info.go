package block

import (
	"context"
	"encoding/json"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions block.info, block.breadcrumb, block.word_count and block.docs_info.

// infoResult is the result of info.
type infoResult struct {
	Box            kernel.ID `json:"box" about:"notebook"`
	Path           string    `json:"path" about:"storage path of the document"`
	RootID         kernel.ID `json:"rootID" about:"document"`
	RootTitle      string    `json:"rootTitle" about:"title of the document"`
	RootIcon       string    `json:"rootIcon" about:"its icon" verbose:"yes"`
	RootTitleEmpty bool      `json:"rootTitleEmpty" about:"whether the title is empty" verbose:"yes"`
	RootChildID    kernel.ID `json:"rootChildID" about:"the block right below the document" verbose:"yes"`
}

// info returns the action info of the tool block.
func info() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "info",
		Purpose: "Say in which notebook and document a block is",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockInfo"},
		Positional: []string{"id"},
		Result:     infoResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a idArgs) (any, error) {
		return r.Kernel.BlockInfo(ctx, a.ID)
	})
}

type breadcrumbArgs struct {
	ID           kernel.ID `json:"id" about:"block or document" req:"true"`
	ExcludeTypes []string  `json:"excludeTypes" about:"node types to leave out, such as NodeTextMark-mark"`
}

// breadcrumb returns the action breadcrumb of the tool block.
func breadcrumb() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "breadcrumb",
		Purpose: "Show the way from its document down to a block",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getBlockBreadcrumb", "block/getBlockKramdowns", "query/sql"},
		Positional: []string{"id"},
		Result:     []kernel.Crumb{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a breadcrumbArgs) (any, error) {
		crumbs, err := r.Kernel.Breadcrumb(ctx, a.ID, a.ExcludeTypes)
		if err != nil {
			return nil, err
		}
		if len(crumbs) == 0 {
			return nil, access.NotFound(access.Block, string(a.ID))
		}
		if err := redactCrumbs(ctx, r, crumbs); err != nil {
			return nil, err
		}
		for i := range crumbs {
			crumbs[i].Name = content.Clean(crumbs[i].Name)
		}
		return crumbs, nil
	})
}

// redactCrumbs removes text of unreadable blocks from the names in a breadcrumb path.
func redactCrumbs(ctx context.Context, r *action.Request, crumbs []kernel.Crumb) error {
	ids := make([]kernel.ID, 0, len(crumbs))
	for _, c := range crumbs {
		if c.Type != "NodeDocument" { // for a document it is the title
			ids = append(ids, c.ID)
		}
	}
	texts, err := content.PlainTexts(ctx, r, ids)
	for i := range crumbs {
		if text, changed := texts[crumbs[i].ID]; changed {
			crumbs[i].Name = content.Clip(text, 64)
		}
	}
	return err
}

type wordCountArgs struct {
	IDs []kernel.ID `json:"ids" about:"blocks or documents" req:"true" min:"1" max:"500"`
}

type wordCountResult struct {
	kernel.Stat
	// RuneCount is missing if the kernel's count includes hidden text.
	RuneCount *int   `json:"runeCount,omitempty" about:"characters"`
	WordCount *int   `json:"wordCount,omitempty" about:"words; of Chinese each character"`
	Hint      string `json:"hint,omitempty" about:"why words and characters are missing"`
}

// wordCount returns the action word_count of the tool block.
func wordCount() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "word_count",
		Purpose: "Count words, characters, links, images and references in blocks",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "ids")},
		Endpoints:  []string{"block/getBlocksWordCount", "block/getBlockKramdowns", "query/sql"},
		Aliases:    map[string]string{"id": "ids"},
		Positional: []string{"ids"},
		Result:     wordCountResult{},
		Example:    `{"ids":["20260102030405-abcdefg"]}`,
	}, func(ctx context.Context, r *action.Request, a wordCountArgs) (any, error) {
		stat, err := r.Kernel.WordCount(ctx, a.IDs)
		if err != nil {
			return nil, err
		}
		out := wordCountResult{Stat: stat, RuneCount: &stat.RuneCount, WordCount: &stat.WordCount}
		copied, err := content.ShowCopies(ctx, r, a.IDs)
		if copied {
			out.RuneCount, out.WordCount = nil, nil
			out.Hint = "a reference in there shows a text that cannot be read, so that words and characters are not counted"
		}
		return out, err
	})
}

type docsInfoArgs struct {
	ID       kernel.ID   `json:"id" about:"one document"`
	IDs      []kernel.ID `json:"ids" about:"documents" min:"1" max:"200"`
	RefCount bool        `json:"refCount" about:"also count and list references to them" default:"false"`
	AV       bool        `json:"av" about:"also list databases that they stand in" default:"false"`
}

// docsInfo returns the action docs_info of the tool block.
func docsInfo() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "docs_info",
		Purpose: "Read title, icon, attributes and reference counts of documents",
		Guide:   "The id of a block means its document. References from notebooks that may not be read are not counted.",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
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
	docs, err := r.Kernel.DocsInfo(ctx, action.Distinct(roots), a.RefCount, a.AV)
	if err != nil {
		return nil, err
	}
	return docs, redactDocs(ctx, r, docs)
}

// redactDocs removes from docs the referring blocks in hidden notebooks. It removes all databases if there may be
// hidden notebooks, since nothing says where a database belongs.
func redactDocs(ctx context.Context, r *action.Request, docs []kernel.DocInfo) error {
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
		if err := content.RedactAttrs(ctx, r, docs[i].IAL); err != nil {
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
		visible := []kernel.ID{}
		for _, id := range docs[i].RefIDs {
			if t, found := places[id]; found && r.Readable(t.Notebook) {
				visible = append(visible, id)
			}
		}
		docs[i].RefIDs, docs[i].RefCount = visible, len(visible) // the number of hidden references is not revealed
	}
	return nil
}
