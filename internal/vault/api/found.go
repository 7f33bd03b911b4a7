package api

import (
	"maps"
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// FoundBlock is a block in searches, bookmarks, outlines, card lists and the recent list. Lists that show less, or mark
// words in texts, change its fields.
type FoundBlock struct {
	Box        string            `json:"box"`
	Path       string            `json:"path"`
	HPath      string            `json:"hPath"` // of its document, without the notebook's name
	ID         string            `json:"id"`
	RootID     string            `json:"rootID"`
	ParentID   string            `json:"parentID"` // the heading or container above it
	Name       string            `json:"name"`
	Alias      string            `json:"alias"`
	Memo       string            `json:"memo"`
	Tag        string            `json:"tag"` // #a# #b#
	Content    string            `json:"content"`
	FContent   string            `json:"fcontent"`
	Markdown   string            `json:"markdown"`
	Folded     bool              `json:"folded"`
	Type       string            `json:"type"` // NodeParagraph
	SubType    string            `json:"subType"`
	RefText    string            `json:"refText"`
	Refs       any               `json:"refs"`
	DefID      string            `json:"defID"`
	DefPath    string            `json:"defPath"`
	IAL        map[string]string `json:"ial"`
	Children   []*FoundBlock     `json:"children"` // null where there are none
	Depth      int               `json:"depth"`
	Count      int               `json:"count"`
	RefCount   int               `json:"refCount"`
	Sort       int               `json:"sort"`
	Created    string            `json:"created"`
	Updated    string            `json:"updated"`
	RiffCardID string            `json:"riffCardID"`
	RiffCard   any               `json:"riffCard"`
}

// NewFoundBlock returns a block of a document for an answer. Created and Updated stay empty, as in SiYuan; IAL and the
// id have these times. IAL is a copy.
func NewFoundBlock(b *tree.Block) *FoundBlock {
	d := b.Doc
	block := &FoundBlock{
		Box: d.Box.ID, Path: d.Path(), HPath: d.HPath(), ID: b.ID, RootID: d.ID(),
		Name: b.Attrs["name"], Alias: b.Attrs["alias"], Memo: b.Attrs["memo"], Tag: strings.Join(tags(b), " "),
		Content: markup.Content(b), FContent: markup.FirstContent(b), Markdown: markup.Markdown(b),
		Folded: b.Attrs["fold"] == "1", Type: tree.NodeType(b.Kind), SubType: b.Subtype(), IAL: maps.Clone(b.Attrs),
		Sort: tree.Sort(b.Kind),
	}
	if above := b.Above(); above != nil {
		block.ParentID = above.ID
	}
	return block
}

// tags returns the tags of a block, as in blocks.tag: those in the text of a leaf, or those in the attribute of a
// document.
func tags(b *tree.Block) []string {
	switch b.Kind {
	case tree.Paragraph, tree.Heading, tree.Table:
		return markup.Tags(b.Text)
	case tree.Doc:
		var list []string
		for tag := range strings.SplitSeq(b.Attrs["tags"], ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				list = append(list, "#"+tag+"#")
			}
		}
		return list
	}
	return nil
}
