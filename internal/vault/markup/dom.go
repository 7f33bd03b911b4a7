package markup

import (
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"

	"github.com/88250/lute/ast"
	"github.com/88250/lute/render"
)

// DOM returns a block and all below it in the form of getBlockDOM, with data-node-index="1" on the block itself.
func DOM(b *tree.Block) string { return DOMs([]*tree.Block{b}) }

// DOMs returns several blocks as the kernel returns them after a write, numbered from 1. A document has no element of
// its own, so its blocks are returned instead.
func DOMs(blocks []*tree.Block) string {
	if len(blocks) == 1 && blocks[0].Kind == tree.Doc {
		blocks = blocks[0].Children
	}
	var out string
	err := catchPanic(func() {
		r := render.NewProtyleRenderer(newTree(blocks...), luteEngine().RenderOptions, luteEngine().ParseOptions)
		out = string(r.Render())
	})
	if err != nil {
		return plainDOM(blocks)
	}
	return restoreDOM(out)
}

// plainDOM is like DOMs, for blocks that lute cannot render: paragraphs with their Markdown.
func plainDOM(blocks []*tree.Block) string {
	var out strings.Builder
	for _, b := range blocks {
		p := &ast.Node{Type: ast.NodeParagraph, ID: b.ID}
		p.AppendChild(&ast.Node{Type: ast.NodeText, Tokens: []byte(Markdown(b))})
		out.WriteString(luteEngine().RenderNodeBlockDOM(p))
	}
	return out.String()
}

// tags matches the tags of a DOM.
var tags = lazyregexp.New(`<[^<>]*>`)

// ParseDOM splits the editor's DOM into blocks, which keep data-node-id and attributes. It always returns at least one
// block, an empty paragraph if need be. Markdown typed as text is parsed.
func ParseDOM(dom string) []*tree.Block {
	dom = cleanNode(dom)
	if isDOMTooDeep(dom) {
		return []*tree.Block{{Kind: tree.Paragraph, Text: removeStandIns(strings.TrimSpace(tags.ReplaceAllString(dom, " ")))}}
	}
	var blocks []*tree.Block
	err := catchPanic(func() {
		if t := luteEngine().BlockDOM2Tree(dom); t != nil {
			unwrapDocuments(t.Root)
			blocks = converter{fromEditor: true}.children(t.Root, 0)
		}
	})
	if err != nil || len(blocks) == 0 {
		text := ""
		if catchPanic(func() { text = luteEngine().BlockDOM2Text(dom) }) != nil {
			text = dom
		}
		return []*tree.Block{{Kind: tree.Paragraph, Text: removeStandIns(strings.TrimSpace(text))}}
	}
	return blocks
}
