package search

import (
	"context"
	"html"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action search.get_backlinks, which finds what refers to a block or mentions it.

const (
	maxReferences     = 200 // rows read from the index
	maxMentioningDocs = 20  // documents read for mentions
	maxMentions       = 64  // blocks that the kernel searches for mentions; it does not report whether there are more
)

type backlinksArgs struct {
	ID        string `json:"id" about:"block or document" req:"true"`
	Mode      string `json:"mode" about:"links refer to it, mentions only name it" enum:"links,mentions,both" default:"both"`
	Keyword   string `json:"keyword" about:"only what contains this text" max:"1000"`
	RefTreeID string `json:"refTreeID" about:"only what is in this document"`
}

// backlink is a block that refers to another, or mentions it.
type backlink struct {
	ID       kernel.ID `json:"id" about:"the block"`
	Type     string    `json:"type" about:"its type"`
	HPath    string    `json:"hPath" about:"human path of its document"`
	Content  string    `json:"content" about:"its text"`
	Target   kernel.ID `json:"target,omitempty" about:"the block that it refers to"`
	Anchor   string    `json:"anchor,omitempty" about:"what the reference shows" verbose:"yes"`
	Root     kernel.ID `json:"rootID" about:"its document"`
	Notebook kernel.ID `json:"box" about:"its notebook" verbose:"yes"`
}

type backlinksResult struct {
	Mode       string     `json:"mode" about:"what was looked for"`
	Links      []backlink `json:"backlinks" about:"blocks that refer to it"`
	Mentions   []backlink `json:"backmentions" about:"blocks that name it without referring to it, in the same form"`
	Fallback   bool       `json:"fallbackUsed,omitempty" about:"the links come from the index, since the kernel's own list was missing"`
	Missing    bool       `json:"sourcePayloadMissing,omitempty" about:"the kernel gave no list of its own"`
	Incomplete bool       `json:"incomplete,omitempty" about:"there are more"`
	Hint       string     `json:"hint,omitempty" about:"what to do about it"`
}

// getBacklinks returns the action get_backlinks of the tool search.
func getBacklinks() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_backlinks", Purpose: "List the blocks that refer to a block or document, or mention it",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide: "Of a document, references to any block in it count. Links come from the index, the latest first; mentions are searched in " +
			"20 documents at most. refTreeID looks into one document only.",
		Needs: []action.Need{action.OnBlock(access.Read, "id"), action.OnDocument(access.Read, "refTreeID")},
		Endpoints: []string{
			"query/sql", "filetree/getHPathByID", "ref/getBacklink2", "ref/getBacklinkDoc", "ref/getBackmentionDoc", "sqlite/flushTransaction",
		},
		Aliases:    map[string]string{"scopeRootId": "refTreeID"},
		Positional: []string{"id"},
		Adapt:      adaptArgs(map[string]string{"scopeRootId": "refTreeID"}, nil),
		Result:     backlinksResult{},
		Example:    `{"id":"20240101120000-abcdefg","mode":"links"}`,
	}, func(ctx context.Context, r *action.Request, a backlinksArgs) (any, error) {
		b := backlinks{r: r, target: r.Target("id"), args: a, out: backlinksResult{Mode: a.Mode, Links: []backlink{}, Mentions: []backlink{}}}
		if err := b.findScope(ctx); err != nil {
			return nil, err
		}
		if in := r.Targets("refTreeID"); len(in) > 0 {
			b.within = &in[0]
			var err error
			if b.within.HPath, err = r.Kernel.HPathByID(ctx, b.within.Root); err != nil {
				return nil, err
			}
		}
		if a.Mode != "mentions" {
			if err := b.collectLinks(ctx); err != nil {
				return nil, err
			}
		}
		if a.Mode != "links" {
			if err := b.collectMentions(ctx); err != nil {
				return nil, err
			}
		}
		if b.out.Incomplete {
			b.out.Hint = "there are more: give keyword, or refTreeID with one document after the other"
		}
		return b.out, nil
	})
}

// backlinks is one call of the action.
type backlinks struct {
	r      *action.Request
	target action.Target
	within *action.Target // the only document to search; nil means all
	// notebooks are the readable notebooks, nil if all are readable. Hidden blocks are excluded from the queries and
	// counts themselves: otherwise numbers would reveal that a hidden note refers to this block or contains its name.
	notebooks []kernel.Notebook
	args      backlinksArgs
	out       backlinksResult
}

// findScope sets the notebooks to search.
func (b *backlinks) findScope(ctx context.Context) error {
	restricted, err := b.r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return err
	}
	visible, err := b.r.Levels.Visible(ctx)
	b.notebooks = append([]kernel.Notebook{}, visible...)
	return err
}

// collectLinks adds the links to the result: those that the kernel lists in the one document to search, or else those in
// the index.
func (b *backlinks) collectLinks(ctx context.Context) error {
	if b.within == nil {
		return b.indexedLinks(ctx)
	}
	found, ok, err := b.r.Kernel.BacklinksIn(ctx, b.target.ID, b.within.Root)
	switch {
	case err != nil:
		return err
	case !ok:
		b.out.Missing, b.out.Fallback = true, true
		return b.indexedLinks(ctx)
	}
	links, err := b.backlinksInDoc(ctx, found, *b.within)
	b.out.Links = append(b.out.Links, links...)
	return err
}

// indexedLinks adds the links in the index to the result.
func (b *backlinks) indexedLinks(ctx context.Context) error {
	rows, err := b.r.Kernel.References(ctx, b.target.ID, b.target.What == access.Document, b.notebooks, maxReferences+1)
	if err != nil {
		return err
	}
	if len(rows) > maxReferences {
		rows, b.out.Incomplete = rows[:maxReferences], true
	}
	if err := redactReferences(ctx, b.r, rows); err != nil {
		return err
	}
	seen := map[[2]kernel.ID]bool{}
	for _, row := range rows {
		key := [2]kernel.ID{row.ID, row.Target}
		text := content.Clean(row.Content)
		switch {
		case seen[key], !b.r.Readable(row.Notebook):
		case b.within != nil && row.Root != b.within.Root, !containsFold(text, b.args.Keyword):
		default:
			b.out.Links = append(b.out.Links, backlink{
				ID: row.ID, Type: row.Type, HPath: row.HPath, Content: content.Clip(text, maxWholeRunes), Target: row.Target,
				Anchor: content.Clip(row.Anchor, excerptRunes), Root: row.Root, Notebook: row.Notebook,
			})
		}
		seen[key] = true
	}
	return nil
}

// collectMentions adds the mentions to the result. The kernel lists them for one document at a time.
func (b *backlinks) collectMentions(ctx context.Context) error {
	documents := []action.Target{}
	if b.within != nil {
		documents = append(documents, *b.within)
	} else {
		var err error
		if documents, err = b.mentioningDocs(ctx); err != nil {
			return err
		}
	}
	for _, d := range documents {
		found, ok, err := b.r.Kernel.MentionsIn(ctx, b.target.ID, d.Root)
		if err != nil {
			return err
		}
		b.out.Missing = b.out.Missing || !ok
		mentions, err := b.backlinksInDoc(ctx, found, d)
		if err != nil {
			return err
		}
		b.out.Mentions = append(b.out.Mentions, mentions...)
	}
	return nil
}

// mentioningDocs returns documents that mention the target by name, and records in the result if there may be more.
func (b *backlinks) mentioningDocs(ctx context.Context) (documents []action.Target, err error) {
	var found []kernel.BacklinkDocument
	if b.notebooks != nil {
		found, err = b.r.Kernel.MentioningDocuments(ctx, b.target.ID, b.target.Root, b.notebooks, maxMentioningDocs+1)
	} else {
		_, found, err = b.r.Kernel.BacklinkDocuments(ctx, b.target.ID)
	}
	if err != nil {
		return nil, err
	}
	blocks := 0
	for _, d := range found {
		blocks += d.Count
	}
	b.out.Incomplete = b.out.Incomplete || blocks >= maxMentions
	if len(found) > maxMentioningDocs {
		found, b.out.Incomplete = found[:maxMentioningDocs], true
	}
	for _, d := range found {
		hpath := d.HPath
		if b.notebooks == nil { // in this list of the kernel, the first element is the notebook
			_, after, _ := strings.Cut(hpath, "/")
			hpath = "/" + after
		}
		documents = append(documents, action.Target{Root: d.ID, Notebook: d.Notebook, HPath: hpath})
	}
	return documents, nil
}

// backlinksInDoc returns the blocks of one document that contain the keyword, as the kernel shows them. The kernel's own search
// matches keywords in another way, so it is not used here.
func (b *backlinks) backlinksInDoc(ctx context.Context, found []kernel.BacklinkBlock, in action.Target) ([]backlink, error) {
	var out []backlink
	doms := make([]string, len(found))
	for i, f := range found {
		doms[i] = f.DOM
	}
	redactor, err := content.NewRedactor(ctx, b.r, doms...)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		f.DOM = redactor.Text(f.DOM)
		blocks := kernel.ParseDOM(f.DOM)
		if len(blocks) == 0 {
			continue
		}
		if text := textOfDOM(f.DOM); containsFold(text, b.args.Keyword) {
			out = append(out, backlink{
				ID: blocks[0].ID, Type: blocks[0].Type, HPath: in.HPath, Content: content.Clip(text, maxWholeRunes), Root: in.Root, Notebook: in.Notebook,
			})
		}
	}
	return out, nil
}

// redactReferences removes text of hidden blocks from the texts of referring blocks, in place.
func redactReferences(ctx context.Context, r *action.Request, rows []kernel.Reference) error {
	texts := make([]string, len(rows))
	for i := range rows {
		texts[i] = rows[i].Markdown + " " + rows[i].Reference
	}
	redactor, err := content.NewRedactor(ctx, r, texts...)
	for i := range rows {
		row := &rows[i]
		if redactor.HidesAnchorIn(row.Reference) {
			row.Anchor = ""
		}
		row.Content, row.Markdown = redactor.TextAndMarkdown(row.Type, row.Content, row.Markdown)
	}
	return err
}

// containsFold reports whether a text contains a keyword, ignoring case.
func containsFold(text, keyword string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(keyword))
}

// textOfDOM returns the text of a block, given its HTML in the editor.
func textOfDOM(dom string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(dom, '<')
		if start < 0 {
			b.WriteString(dom)
			break
		}
		b.WriteString(dom[:start])
		if strings.HasPrefix(dom[start:], "</div") {
			b.WriteByte('\n')
		}
		dom = dom[kernel.TagEnd(dom, start):]
	}
	text := content.Clean(html.UnescapeString(b.String()))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n")
}
