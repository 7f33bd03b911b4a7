package document

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.doc_to_heading, which makes a document a section of another one.

type docToHeadingArgs struct {
	SrcID    kernel.ID `json:"srcID" about:"document that becomes a heading" req:"true"`
	TargetID kernel.ID `json:"targetID" about:"block of another document to put it beside" req:"true"`
	After    bool      `json:"after" about:"after the block, not before it" default:"false"`
}

type docToHeadingResult struct {
	Success bool      `json:"success" about:"true"`
	ID      kernel.ID `json:"id" about:"block id of the heading, that of the document before"`
	RootID  kernel.ID `json:"rootID" about:"the document it is in now"`
	kernel.MergedFrom
}

// docToHeading returns the action doc_to_heading of the tool document.
func docToHeading() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "doc_to_heading", Purpose: "Put a document as a heading into another document",
		Guide: "The document goes away, so rwd is needed where it is. It must have no documents below it. targetID " +
			"is a block inside the other document, never the document itself.",
		Dangerous: true, Class: action.Structure, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs: []action.Need{
			needsDocument(access.Delete, "srcID"),
			action.OnBlock(access.Write, "targetID"),
		},
		Endpoints: []string{"filetree/doc2Heading", "filetree/listDocsByPath", "block/getBlockInfo"},
		Result:    docToHeadingResult{},
		Example:   `{"srcID":"20240101120000-abcdefg","targetID":"20240101120000-hijklmn","after":true}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("remove this document and put what it holds into the document of %s", r.Target("targetID").ID)
		},
	}, func(ctx context.Context, r *action.Request, a docToHeadingArgs) (any, error) {
		src, to := r.Target("srcID"), r.Target("targetID")
		if err := checkMergeable(ctx, r, src, to); err != nil {
			return nil, err
		}
		from, err := r.Kernel.DocumentToHeading(ctx, src.ID, to.ID, a.After)
		if err != nil {
			return nil, err
		}
		p, err := currentPlace(ctx, r, src.ID)
		switch {
		case err != nil:
			return nil, err
		case p == nil || p.Root != to.Root:
			return nil, mismatchError(src.ID, "the kernel accepted the request, and the heading is not in the target's document")
		}
		r.RefreshDocument(src.ID)
		r.RefreshDocument(to.Root)
		r.RefreshTree()
		return docToHeadingResult{true, src.ID, to.Root, from}, nil
	})
}

// checkMergeable refuses merges that would lose data: into a document, whose file the kernel would destroy; into a part
// of itself; and of a document with child documents.
func checkMergeable(ctx context.Context, r *action.Request, src, to action.Target) error {
	switch {
	case to.ID == to.Root:
		e := r.Invalid("targetID", fmt.Sprintf("%s is a document: it must be a block inside one", to.ID))
		e.Hint = `document(action="get_child_blocks") lists the blocks of a document`
		return e
	case to.Root == src.ID:
		return r.Conflicting("targetID is in the document that would become a heading", "srcID", "targetID")
	}
	below, err := r.Kernel.Documents(ctx, src.Notebook, src.Path)
	if err != nil {
		return err
	}
	if len(below) > 0 {
		e := r.Conflicting(fmt.Sprintf("%d documents are below %s and would lose their place", len(below), src.ID), "srcID")
		e.Hint = `move them first: document(action="move")`
		return e
	}
	return nil
}
