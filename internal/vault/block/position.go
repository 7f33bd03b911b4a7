package block

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that tell where a block is.

// unknownBlock returns the error for a block that does not exist. id is from the request.
func unknownBlock(id string) api.Reply {
	return api.Fail(-1, fmt.Sprintf("Content block with id [%s] not found", id))
}

// getBlockInfo returns the document and the notebook of a block.
func getBlockInfo(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.ID("id")
	b := tx.Block(id)
	switch {
	case b == nil && tx.BlockExists(id): // its notebook is closed
		return api.Fail(-1, "")
	case b == nil:
		return unknownBlock(id)
	}
	d := b.Doc
	return api.OK(map[string]any{
		"box": d.Box.ID, "path": d.Path(), "rootChildID": d.ID(), "rootID": d.ID(), "rootIcon": d.Root.Attrs["icon"],
		"rootTitle": d.Title(), "rootTitleEmpty": d.Root.Attrs["title-empty"] == "true",
	})
}

// crumb is one step on the path from a document down to a block.
type crumb struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	SubType  string `json:"subType"`
	Children any    `json:"children"` // always null
}

// getBlockBreadcrumb lists the document, headings and list items that contain a block, and the block itself, without a
// name. Headings beside a block in a list item are skipped. The parameter excludeTypes has no effect, as in
// SiYuan.
func getBlockBreadcrumb(tx *workspace.Tx, req api.Request) api.Reply {
	list := []crumb{}
	b := tx.Block(req.ID("id"))
	for up := b; up != nil; {
		switch {
		case up == b || up.Kind == tree.Doc || up.Kind == tree.Heading || up.Kind == tree.Item:
			list = append(list, newCrumb(up, up == b))
		}
		if up.Parent != nil && up.Parent.Kind == tree.Item {
			up = up.Parent
		} else {
			up = up.Above()
		}
	}
	slices.Reverse(list)
	return api.OK(list)
}

// newCrumb returns the breadcrumb of a block. The last one of a path has no name, unless it is a document.
func newCrumb(b *tree.Block, last bool) crumb {
	c := crumb{ID: b.ID, Type: tree.NodeType(b.Kind), SubType: b.Subtype()}
	name := ""
	switch {
	case b.Kind == tree.Doc:
		name = b.Doc.Box.Conf.Name + b.Doc.HPath()
	case last:
	case b.Kind == tree.Item && len(b.Children) > 0: // its own text without that of further blocks in it
		name = markup.Content(b.Children[0])
	default:
		name = markup.Content(b)
	}
	c.Name = html.EscapeString(strings.TrimSpace(name))
	return c
}

// position is the place of a block among others. Fields are empty where there is no such block.
type position struct {
	ID           string `json:"id"`
	Type         string `json:"type"`
	ParentID     string `json:"parentID"`
	ParentType   string `json:"parentType"`
	PreviousID   string `json:"previousID"`
	PreviousType string `json:"previousType"`
	NextID       string `json:"nextID"`
	NextType     string `json:"nextType"`
}

// getBlockTreeInfos returns the positions of blocks. Blocks that do not exist are left out.
func getBlockTreeInfos(tx *workspace.Tx, req api.Request) api.Reply {
	positions := map[string]position{}
	for _, id := range req.Strs("ids") {
		b := tx.Block(id)
		if b == nil {
			continue
		}
		previous, next := b.Sibling(-1), b.Sibling(1)
		positions[id] = position{
			ID: id, Type: typeOf(b), ParentID: idOf(b.Parent), ParentType: typeOf(b.Parent),
			PreviousID: idOf(previous), PreviousType: typeOf(previous), NextID: idOf(next), NextType: typeOf(next),
		}
	}
	return api.OK(positions)
}
