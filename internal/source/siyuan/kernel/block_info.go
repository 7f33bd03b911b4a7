package kernel

import (
	"context"
	"encoding/json"
	"html"
)

// Node says what a block is and where it stands in its document. Types are those of the DOM:
// NodeDocument, NodeParagraph, NodeListItem, NodeAttributeView, ….
type Node struct {
	ID         ID     `json:"id"`
	Type       string `json:"type"`
	ParentID   ID     `json:"parentID"`
	ParentType string `json:"parentType"`
	PreviousID ID     `json:"previousID"`
	NextID     ID     `json:"nextID"`
}

// Nodes returns where blocks stand (block/getBlockTreeInfos), up to date at once but for what is
// being deleted. Those that do not exist are left out.
func (c *Client) Nodes(ctx context.Context, ids []ID) (map[ID]Node, error) {
	out := map[ID]Node{}
	if len(ids) == 0 {
		return out, nil
	}
	err := c.call(ctx, "/api/block/getBlockTreeInfos", readData, map[string]any{"ids": ids}, &out)
	return out, err
}

// Crumb is one step on the way from a document to a block in it.
type Crumb struct {
	ID      ID     `json:"id" about:"the step; the document comes first"`
	Name    string `json:"name" about:"its text; of a document notebook and path"` // of a document: with its notebook and path
	Type    string `json:"type" about:"NodeDocument, NodeHeading, …"`              // NodeDocument, NodeHeading, …
	SubType string `json:"subType" about:"h1 to h6 of headings"`
}

// Breadcrumb returns the way to a block, its document first. Blocks of the types that are
// excluded are left out where the kernel can do without them.
func (c *Client) Breadcrumb(ctx context.Context, id ID, excludeTypes []string) ([]Crumb, error) {
	body := map[string]any{"id": id}
	if len(excludeTypes) > 0 {
		body["excludeTypes"] = excludeTypes
	}
	var out []Crumb
	err := c.call(ctx, "/api/block/getBlockBreadcrumb", readData, body, &out)
	for i := range out { // names are made for a web page
		out[i].Name = html.UnescapeString(out[i].Name)
	}
	return out, err
}

// DocInfo is a document as getDocsInfo describes it.
type DocInfo struct {
	ID           ID                `json:"id"`
	RootID       ID                `json:"rootID"`
	Name         string            `json:"name"`
	RefCount     int               `json:"refCount"`
	SubFileCount int               `json:"subFileCount"`
	RefIDs       []ID              `json:"refIDs"` // blocks that refer to it
	IAL          map[string]string `json:"ial"`
	Icon         string            `json:"icon"`
	AttrViews    json.RawMessage   `json:"attrViews"` // databases it stands in; null for none
}

// DocsInfo describes documents, in order; references and databases only if asked for. One that
// does not exist fails all.
func (c *Client) DocsInfo(ctx context.Context, ids []ID, references, databases bool) ([]DocInfo, error) {
	var out []DocInfo
	err := c.call(ctx, "/api/block/getDocsInfo", readData, map[string]any{"ids": ids, "refCount": references, "av": databases}, &out)
	return out, err
}

// Stat counts what is in blocks.
type Stat struct {
	RuneCount  int `json:"runeCount"`
	WordCount  int `json:"wordCount"`
	LinkCount  int `json:"linkCount"`
	ImageCount int `json:"imageCount"`
	RefCount   int `json:"refCount"`
	BlockCount int `json:"blockCount"`
}

// WordCount counts what is in all of the blocks together.
func (c *Client) WordCount(ctx context.Context, ids []ID) (Stat, error) {
	var out struct{ Stat Stat }
	err := c.call(ctx, "/api/block/getBlocksWordCount", readData, map[string]any{"ids": ids}, &out)
	return out.Stat, err
}

// RecentBlock is a block as getRecentUpdatedBlocks lists it.
type RecentBlock struct {
	ID       ID                `json:"id"`
	Notebook ID                `json:"box"`
	RootID   ID                `json:"rootID"`
	ParentID ID                `json:"parentID"`
	Path     string            `json:"path"`
	HPath    string            `json:"hPath"`
	Type     string            `json:"type"` // NodeParagraph, …
	SubType  string            `json:"subType"`
	Content  string            `json:"content"`
	Markdown string            `json:"markdown"`
	IAL      map[string]string `json:"ial"`
}

// RecentBlocks returns the paragraphs that were written last, the newest first; how many is the
// kernel's own small limit. One may be there twice.
func (c *Client) RecentBlocks(ctx context.Context) ([]RecentBlock, error) {
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	var out []RecentBlock
	err := c.call(ctx, "/api/block/getRecentUpdatedBlocks", read, nil, &out)
	for i := range out { // both are made for a web page
		out[i].Content, out[i].HPath = html.UnescapeString(out[i].Content), html.UnescapeString(out[i].HPath)
	}
	return out, err
}
