package document

import (
	"context"
	"fmt"
	"html"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.heading_to_doc, which makes a document of a heading with what is below it.

type headingToDocArgs struct {
	HeadingID      kernel.ID `json:"headingID" about:"block id of the heading" req:"true"`
	TargetNotebook kernel.ID `json:"targetNotebook" about:"notebook id" req:"true"`
	TargetPath     string    `json:"targetPath" about:"storage path of the parent, / for the top" default:"/"`
	PreviousPath   string    `json:"previousPath" about:"storage path of the document to put it after"`
}

type headingToDocResult struct {
	Success bool `json:"success" about:"true"`
	resultPlace
	SourceID kernel.ID `json:"sourceID" about:"the document that the heading was in"`
}

// headingToDoc returns the action heading_to_doc of the tool document.
func headingToDoc() *action.Action {
	from, to := action.OnBlock(access.Write, "headingID"), action.On(access.Write, "the parent of the new document", "targetPath", newParent)
	return action.New(action.Spec{
		Tool: "document", Name: "heading_to_doc", Purpose: "Make a heading and what is under it a document of its own",
		Guide: "The new document has the heading's id, so references to it go on working. In another notebook it needs rwd " +
			"where the heading is.",
		Dangerous: true, Class: action.Structure, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs: []action.Need{
			action.Leaving("blocks", from, to), from, to,
			action.On(access.Write, "the document before it", "previousPath", predecessorTarget),
		},
		Endpoints: []string{"filetree/heading2Doc", "filetree/renameDocByID", "block/getBlockDOM", "filetree/getHPathByID", "block/getBlockInfo", "query/sql"},
		Result:    headingToDocResult{},
		Example:   `{"headingID":"20240101120000-abcdefg","targetNotebook":"20240101120000-hijklmn"}`,
		Effect: func(r *action.Request) string {
			return "take this heading and what is under it out of its document, and make them a document of their own"
		},
	}, func(ctx context.Context, r *action.Request, a headingToDocArgs) (any, error) {
		h, to := r.Target("headingID"), r.Target("targetPath")
		dom, err := headingDOM(ctx, r, h)
		if err != nil {
			return nil, err
		}
		if err := refuseCopiedText(ctx, r, h, dom); err != nil {
			return nil, err
		}
		if err := r.Kernel.HeadingToDocument(ctx, h.ID, to.Notebook, to.Path, a.PreviousPath); err != nil {
			return nil, explainTooDeep(err, strings.Count(childrenPath(to.Path), "/")+1)
		}
		p, err := currentPlace(ctx, r, h.ID)
		switch {
		case err != nil:
			return nil, err
		case p == nil || p.Root != h.ID || p.Notebook != to.Notebook:
			return nil, mismatchError(h.ID, "the kernel accepted the request, and the heading is not a document")
		}
		if title := expectedTitle(p.Title, dom); title != p.Title {
			if err := r.Kernel.RenameDocument(ctx, h.ID, title); err != nil {
				return nil, err
			}
		}
		hpath, err := r.Kernel.HPathByID(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(h.Root)
		r.RefreshTree()
		return headingToDocResult{true, resultPlace{h.ID, p.Notebook, p.Path, hpath}, h.Root}, nil
	})
}

// newParent returns the parent of the new document.
func newParent(ctx context.Context, r *action.Request) ([]action.Target, error) {
	notebook, path := r.Strings("targetNotebook"), append(r.Strings("targetPath"), "/")
	if len(notebook) == 0 {
		return nil, r.Invalid("targetNotebook", "must not be empty")
	}
	t, err := atPath(ctx, r, notebook[0], path[0])
	return []action.Target{t}, err
}

// predecessorTarget returns the document after which the new one is inserted. It must have the same parent.
func predecessorTarget(ctx context.Context, r *action.Request) ([]action.Target, error) {
	path := r.Strings("previousPath")
	if len(path) == 0 {
		return nil, nil
	}
	to, err := newParent(ctx, r)
	if err != nil {
		return nil, err
	}
	t, err := documentAt(ctx, r, string(to[0].Notebook), path[0])
	if err != nil {
		return nil, err
	}
	if t.Path != childrenPath(to[0].Path)+"/"+string(t.Root)+".sy" {
		return nil, r.Conflicting(fmt.Sprintf("%s is not right below targetPath", t.Path), "previousPath", "targetPath")
	}
	return []action.Target{t}, nil
}

// headingDOM returns a heading in the editor's form. It refuses blocks that are not headings.
func headingDOM(ctx context.Context, r *action.Request, t action.Target) (string, error) {
	dom, err := r.Kernel.DOM(ctx, t.ID)
	if err != nil {
		return "", err
	}
	if tag, _, _ := strings.Cut(dom, ">"); !strings.Contains(tag, `"NodeHeading"`) {
		e := r.Invalid("headingID", fmt.Sprintf("%s is not a heading", t.ID))
		e.Hint = `document(action="get_outline") lists the headings of a document`
		return "", e
	}
	return dom, nil
}

// refuseCopiedText refuses a heading that shows the text of a hidden block: once in a title, that text could no longer
// be told from the heading's own.
func refuseCopiedText(ctx context.Context, r *action.Request, t action.Target, dom string) error {
	redactor, err := content.NewRedactor(ctx, r, dom)
	if err != nil || !redactor.HidesAnchorIn(dom) {
		return err
	}
	return &tool.Error{
		Op: "make a document of", Kind: tool.Denied, Subject: t.Subject,
		Message: "the heading refers to a block that cannot be read, and its title would be the text of that block",
		Hint:    `take the reference out of the heading first: block(action="update")`,
	}
}

// expectedTitle returns the title that a document should have, given the one that the kernel made of its heading. The kernel
// writes it with HTML entities ("R &amp; D") and with the zero-width spaces that its editor puts around code. If the heading itself contains such entities, the title
// stays as the kernel wrote it.
func expectedTitle(title, dom string) string {
	title = strings.ReplaceAll(title, "\u200b", "")
	if text := html.UnescapeString(dom); html.UnescapeString(text) != text {
		return title
	}
	return html.UnescapeString(title)
}
