package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// child is a block in the answer of getChildBlocks; empty texts are left out.
type child struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	SubType  string `json:"subType,omitempty"`
	Content  string `json:"content,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

// getChildBlocks lists the blocks in a container or under a heading. Other blocks have no children.
func getChildBlocks(tx *workspace.Tx, req api.Request) api.Reply {
	list := []child{}
	if b := tx.Block(req.ID("id")); b != nil {
		for _, c := range childrenOf(b) {
			list = append(list, child{
				ID: c.ID, Type: c.Kind, SubType: c.Subtype(), Content: markup.Content(c), Markdown: markup.Markdown(c),
			})
		}
	}
	return api.OK(list)
}

// childrenOf returns the blocks in a container or under a heading.
func childrenOf(b *tree.Block) []*tree.Block {
	if b.Kind == tree.Heading {
		return b.Section()
	}
	return b.Children
}
