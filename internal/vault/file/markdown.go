package file

import (
	"fmt"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint that exports a document as Markdown for other programs.

// What an export does with references (refMode) and with embedded queries (embedMode).
const (
	refLinks     = 2 // [anchor](siyuan://blocks/<id>)
	refAnchors   = 3 // the anchor alone
	refFootnotes = 4
	embedBlocks  = 0 // as plain blocks
	embedQuotes  = 1
)

// blockLink is the prefix of a link to a block, which an export treats like a reference.
const blockLink = "siyuan://blocks/"

// exportMdContent returns the whole document that contains a block as Markdown for other programs.
func exportMdContent(tx *workspace.Tx, req api.Request) api.Reply {
	b := tx.Block(req.NeedStr("id"))
	if b == nil {
		return api.OK(map[string]any{"content": "", "hPath": ""})
	}
	d := b.Doc
	e := export{tx: tx, refs: req.OptNum("refMode", refFootnotes), embeds: req.OptNum("embedMode", embedQuotes)}
	var out strings.Builder
	if req.OptFlag("yfm", true) {
		out.WriteString(frontMatter(d))
	}
	if req.OptFlag("addTitle", true) {
		out.WriteString("# " + d.Title() + "\n\n")
	}
	out.WriteString(e.document(d) + "\n")
	hpath := d.HPath()
	if d.Hidden() {
		hpath = "/" + d.Title()
	}
	return api.OK(map[string]any{"content": out.String(), "hPath": hpath})
}

func frontMatter(d *tree.Document) string {
	var out strings.Builder
	fmt.Fprintf(&out, "---\ntitle: %s\ndate: %s\nlastmod: %s\n", d.Title(), yamlTime(tree.IDTime(d.ID())), yamlTime(d.Changed))
	if tags := d.Root.Attrs["tags"]; tags != "" {
		out.WriteString("tags: [" + tags + "]\n")
	}
	return out.String() + "---\n\n"
}

func yamlTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// export converts the blocks of one document to Markdown.
type export struct {
	tx           *workspace.Tx
	refs, embeds int
	footnoteIDs  []string // ids of the blocks that have a footnote, in order
}

// Bounds for what an export adds to a document.
const (
	maxEmbedded  = 64       // blocks of one query
	maxFootnotes = 1000     // of one document
	maxAdded     = 16 << 20 // bytes of footnotes
)

func (e *export) document(d *tree.Document) string {
	root := d.Root.Clone()
	e.resolveEmbeds(root)
	unwrapSuperBlocks(root)
	e.rewriteReferences(root)
	text := markup.Export(root)
	if len(e.footnoteIDs) > 0 {
		text += "\n\n" + e.footnotes()
	}
	return text
}

// resolveEmbeds replaces embedded queries by the blocks that they find. Queries in those blocks stay as they are.
func (e *export) resolveEmbeds(b *tree.Block) {
	for _, child := range append([]*tree.Block{}, b.Children...) {
		if child.Kind != tree.Embed {
			e.resolveEmbeds(child)
			continue
		}
		at := child.Index()
		child.Cut()
		for _, blocks := range e.queryResults(child.Text) {
			if e.embeds == embedQuotes {
				quote := &tree.Block{Kind: tree.Quote, Attrs: map[string]string{}}
				quote.Insert(0, blocks...)
				blocks = []*tree.Block{quote}
			}
			b.Insert(at, blocks...)
			at += len(blocks)
		}
	}
}

// queryResults returns copies of the blocks that an embedded query finds. For a document it returns the document's
// blocks.
func (e *export) queryResults(text string) (list [][]*tree.Block) {
	statement := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "{{"), "}}")
	result, err := e.tx.Select(strings.TrimSpace(statement), maxEmbedded)
	if err != nil {
		return nil
	}
	for _, row := range fields(result) {
		id, _ := row["id"].(string)
		b := e.tx.Block(id)
		if b == nil {
			continue
		}
		c := b.Clone()
		if b.Kind != tree.Doc {
			list = append(list, []*tree.Block{c})
			continue
		}
		for _, child := range c.Children {
			child.Parent = nil
		}
		list = append(list, c.Children)
	}
	return list
}

// unwrapSuperBlocks replaces super blocks below b by their content, since other programs do not know them.
func unwrapSuperBlocks(b *tree.Block) {
	for _, child := range append([]*tree.Block{}, b.Children...) {
		unwrapSuperBlocks(child)
		if child.Kind != tree.Super {
			continue
		}
		at, children := child.Index(), append([]*tree.Block{}, child.Children...)
		for _, inner := range children {
			inner.Cut()
		}
		child.Cut()
		b.Insert(at, children...)
	}
}

// rewriteReferences writes the references in a block and below it in the mode of the export.
func (e *export) rewriteReferences(b *tree.Block) {
	b.Walk(func(b *tree.Block) {
		switch b.Kind {
		case tree.Paragraph, tree.Heading, tree.Table:
			b.Text = e.rewriteText(b.Text)
		}
	})
}

// rewriteText replaces the references and links to blocks in a text by links, footnotes or plain text, depending on the mode.
func (e *export) rewriteText(text string) string {
	if !strings.Contains(text, "((") && !strings.Contains(text, blockLink) {
		return text
	}
	var out strings.Builder
	for _, s := range markup.Spans(text) {
		id, isLink := strings.CutPrefix(s.Target, blockLink)
		switch {
		case s.Kind == "a" && isLink && tree.ValidID(id):
			s.Target = id
		case s.Kind != "block-ref":
			out.WriteString(s.Markdown)
			continue
		}
		switch e.refs {
		case refLinks:
			fmt.Fprintf(&out, "[%s](%s%s)", s.Content, blockLink, s.Target)
		case refFootnotes:
			out.WriteString(s.Content + e.footnoteMark(s.Target))
		default:
			out.WriteString(s.Content)
		}
	}
	return out.String()
}

// footnoteMark returns the footnote mark for a block, "" if there is no such block or there are too many footnotes.
func (e *export) footnoteMark(id string) string {
	if len(e.footnoteIDs) >= maxFootnotes || e.tx.Block(id) == nil {
		return ""
	}
	for i, noted := range e.footnoteIDs {
		if noted == id {
			return fmt.Sprintf("[^%d]", i+1)
		}
	}
	e.footnoteIDs = append(e.footnoteIDs, id)
	return fmt.Sprintf("[^%d]", len(e.footnoteIDs))
}

// footnotes returns the text of all footnotes: the blocks that are referred to. References in them become plain
// anchors.
func (e *export) footnotes() string {
	var out strings.Builder
	inner := export{tx: e.tx, refs: refAnchors, embeds: e.embeds}
	for i, id := range e.footnoteIDs {
		text := strings.ReplaceAll(inner.footnoteText(e.tx.Block(id)), "\n", "\n    ")
		if out.Len()+len(text) > maxAdded {
			break
		}
		if i > 0 {
			out.WriteString("\n\n")
		}
		fmt.Fprintf(&out, "[^%d]: %s\n", i+1, strings.ReplaceAll(text, "\n    \n", "\n\n"))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// footnoteText returns the text of a footnote: a block, or the title and blocks of a document.
func (e *export) footnoteText(b *tree.Block) string {
	root := &tree.Block{Kind: tree.Doc, Attrs: map[string]string{}}
	if b.Kind == tree.Doc {
		root = b.Clone()
	} else {
		root.Insert(0, b.Clone())
	}
	unwrapSuperBlocks(root)
	e.rewriteReferences(root)
	text := markup.Export(root)
	if b.Kind == tree.Doc {
		text = "# " + b.Attrs["title"] + "\n\n" + text
	}
	return text
}
