package api

import (
	"maps"
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// FoundBlock is a block as searches, bookmarks, outlines, card lists and the recent list show it. Lists that show less
// of it, or mark words in its texts, change the fields.
type FoundBlock struct {
	Box        string            `json:"box"`
	Path       string            `json:"path"`
	HPath      string            `json:"hPath"` // of its document, without the notebook's name
	ID         string            `json:"id"`
	RootID     string            `json:"rootID"`
	ParentID   string            `json:"parentID"` // the heading or container it lies under
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

// Found shows a block of a document. Created and Updated stay empty, as they do in SiYuan; the values are in IAL and
// in the id. IAL is a copy.
func Found(b *tree.Block) *FoundBlock {
	d := b.Doc
	found := &FoundBlock{
		Box: d.Box.ID, Path: d.Path(), HPath: d.HPath(), ID: b.ID, RootID: d.ID(),
		Name: b.Attrs["name"], Alias: b.Attrs["alias"], Memo: b.Attrs["memo"], Tag: strings.Join(tags(b), " "),
		Content: markup.Content(b), FContent: markup.FirstContent(b), Markdown: markup.Markdown(b),
		Folded: b.Attrs["fold"] == "1", Type: tree.NodeType(b.Kind), SubType: b.Subtype(), IAL: maps.Clone(b.Attrs),
		Sort: tree.Sort(b.Kind),
	}
	if above := b.Above(); above != nil {
		found.ParentID = above.ID
	}
	return found
}

// tags returns the tags of a block as blocks.tag holds them: those in the text of a leaf, those of a document in its
// attribute.
func tags(b *tree.Block) []string {
	switch b.Kind {
	case tree.Paragraph, tree.Heading, tree.Table:
		return markup.Tags(b.Text)
	case tree.Doc:
		var found []string
		for tag := range strings.SplitSeq(b.Attrs["tags"], ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				found = append(found, "#"+tag+"#")
			}
		}
		return found
	}
	return nil
}
