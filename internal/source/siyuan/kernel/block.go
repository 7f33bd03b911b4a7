package kernel

import (
	"context"
	"encoding/json"
	"html"
)

// This file has the endpoints for blocks.

// Block is a block as getChildBlocks lists it.
type Block struct {
	ID       ID     `json:"id" about:"the child"`
	Type     string `json:"type" about:"p, h, l, i, b, c, m, t, s, av, …"` // p, h, l, i, b, c, m, t, s, av, html, …
	SubType  string `json:"subType" about:"h1 to h6 of headings; u, o, t of lists"`
	Content  string `json:"content" about:"plain text"`              // plain text
	Markdown string `json:"markdown" about:"Markdown" verbose:"yes"` // without attributes
}

// ChildBlocks lists the children of a document or a container; for a heading, the blocks of its section. An id that
// does not exist has none.
func (c *Client) ChildBlocks(ctx context.Context, id ID) ([]Block, error) {
	return callFor[[]Block](ctx, c, "/api/block/getChildBlocks", readData, map[string]any{"id": id})
}

// Kramdown returns a block with its attributes; for a document, with all its blocks. An id that does not exist gives
// "".
func (c *Client) Kramdown(ctx context.Context, id ID) (string, error) {
	return callFor[string](ctx, c, "/api/block/getBlockKramdown", readData.withMember("kramdown"), map[string]any{"id": id})
}

// Kramdowns returns many blocks at once; missing ones are left out. mode is "md" or "textmark".
func (c *Client) Kramdowns(ctx context.Context, ids []ID, mode string) (map[ID]string, error) {
	if len(ids) == 0 {
		return map[ID]string{}, nil
	}
	out := map[ID]string{}
	err := c.call(ctx, "/api/block/getBlockKramdowns", readData, map[string]any{"ids": ids, "mode": mode}, &out)
	return out, err
}

// DOM returns the editor's form of a block; "" if it does not exist.
func (c *Client) DOM(ctx context.Context, id ID) (string, error) {
	return callFor[string](ctx, c, "/api/block/getBlockDOM", readData.withMember("dom"), map[string]any{"id": id})
}

// DOMs returns the editor's form of many blocks; missing ones are left out or "".
func (c *Client) DOMs(ctx context.Context, ids []ID) (map[ID]string, error) {
	if len(ids) == 0 {
		return map[ID]string{}, nil
	}
	out := map[ID]string{}
	err := c.call(ctx, "/api/block/getBlockDOMs", readData, map[string]any{"ids": ids}, &out)
	return out, err
}

// Attrs returns the attributes of a block, without the delay of an index; none if it does not exist.
func (c *Client) Attrs(ctx context.Context, id ID) (map[string]string, error) {
	return callFor[map[string]string](ctx, c, "/api/attr/getBlockAttrs", readData, map[string]any{"id": id})
}

// BatchAttrs returns the attributes of many blocks; missing ones are left out.
func (c *Client) BatchAttrs(ctx context.Context, ids []ID) (map[ID]map[string]string, error) {
	if len(ids) == 0 {
		return map[ID]map[string]string{}, nil
	}
	return callFor[map[ID]map[string]string](ctx, c, "/api/attr/batchGetBlockAttrs", readData, map[string]any{"ids": ids})
}

// SetAttrs merges attributes into those of a block; "" removes one (attr/setBlockAttrs).
func (c *Client) SetAttrs(ctx context.Context, id ID, attrs map[string]string) error {
	return c.call(ctx, "/api/attr/setBlockAttrs", write, map[string]any{"id": id, "attrs": attrs}, nil)
}

// Operation is one step of a transaction, in requests and answers.
type Operation map[string]any

// Transaction is the answer to a write of blocks: the operations that were done.
type Transaction struct {
	DoOperations []struct {
		Action   string          `json:"action"`
		ID       ID              `json:"id"`
		ParentID ID              `json:"parentID"`
		Data     json.RawMessage `json:"data"`
	} `json:"doOperations"`
}

// CreatedIDs returns the id of the first block of each insertion. Further blocks of one Markdown text are only in the
// insertion's DOM.
func CreatedIDs(done []Transaction) []ID {
	var ids []ID
	for _, t := range done {
		for _, op := range t.DoOperations {
			if op.Action == "insert" && op.ID != "" {
				ids = append(ids, op.ID)
			}
		}
	}
	return ids
}

// Transact runs operations as one transaction. The kernel echoes them whether they succeed or not, so the caller must
// read back the effect. now is the time in milliseconds.
func (c *Client) Transact(ctx context.Context, now int64, ops ...Operation) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/transactions", writeData, map[string]any{
		"transactions": []any{map[string]any{"doOperations": ops, "undoOperations": []any{}}},
		"reqId":        now, "app": "", "session": "",
	})
}

// Append adds content as the last child of a document or container. dataType is "markdown" or "dom".
func (c *Client) Append(ctx context.Context, parent ID, dataType, data string) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/block/appendBlock", writeData, map[string]any{"dataType": dataType, "data": data, "parentID": parent})
}

// Update replaces the content of a block by the first block of data. All other attributes are lost unless data
// contains them.
func (c *Client) Update(ctx context.Context, id ID, dataType, data string) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/block/updateBlock", writeData, map[string]any{"dataType": dataType, "data": data, "id": id})
}

// Delete removes a block. The kernel answers before it writes, so flush before reading.
func (c *Client) Delete(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/block/deleteBlock", writeData, map[string]any{"id": id}, nil)
}

// Node says what a block is and where it is in its document. Types are those of the DOM: NodeDocument, NodeParagraph,
// NodeListItem, NodeAttributeView, ….
type Node struct {
	ID         ID     `json:"id"`
	Type       string `json:"type"`
	ParentID   ID     `json:"parentID"`
	ParentType string `json:"parentType"`
	PreviousID ID     `json:"previousID"`
	NextID     ID     `json:"nextID"`
}

// Nodes returns where blocks are (block/getBlockTreeInfos), without delay except for deletions in progress. Missing
// ones are left out.
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
	Name    string `json:"name" about:"its text; of a document notebook and path"` // its text; for a document, notebook and path
	Type    string `json:"type" about:"NodeDocument, NodeHeading, …"`              // NodeDocument, NodeHeading, …
	SubType string `json:"subType" about:"h1 to h6 of headings"`
}

// Breadcrumb returns the way to a block, beginning with its document. Blocks of excludeTypes are left out if the
// kernel can.
func (c *Client) Breadcrumb(ctx context.Context, id ID, excludeTypes []string) ([]Crumb, error) {
	body := map[string]any{"id": id}
	if len(excludeTypes) > 0 {
		body["excludeTypes"] = excludeTypes
	}
	out, err := callFor[[]Crumb](ctx, c, "/api/block/getBlockBreadcrumb", readData, body)
	for i := range out { // the names are HTML
		out[i].Name = html.UnescapeString(out[i].Name)
	}
	return out, err
}

// DocInfo describes a document as getDocsInfo does.
type DocInfo struct {
	ID           ID                `json:"id" about:"document"`
	RootID       ID                `json:"rootID" about:"the same" verbose:"yes"`
	Name         string            `json:"name" about:"title"`
	RefCount     int               `json:"refCount" about:"references to it"`
	SubFileCount int               `json:"subFileCount" about:"documents right below it"`
	RefIDs       []ID              `json:"refIDs" about:"blocks that refer to it"`
	IAL          map[string]string `json:"ial" about:"attributes"`
	Icon         string            `json:"icon" about:"icon"`
	AttrViews    json.RawMessage   `json:"attrViews" about:"databases that it stands in"` // null for none
}

// DocsInfo describes documents in order, with references and databases only if asked. It fails if one does not exist.
func (c *Client) DocsInfo(ctx context.Context, ids []ID, references, databases bool) ([]DocInfo, error) {
	return callFor[[]DocInfo](ctx, c, "/api/block/getDocsInfo", readData, map[string]any{"ids": ids, "refCount": references, "av": databases})
}

// Stat counts the content of blocks.
type Stat struct {
	RuneCount  int `json:"runeCount"`
	WordCount  int `json:"wordCount"`
	LinkCount  int `json:"linkCount" about:"links"`
	ImageCount int `json:"imageCount" about:"images"`
	RefCount   int `json:"refCount" about:"block references"`
	BlockCount int `json:"blockCount" about:"blocks"`
}

// WordCount counts the content of all blocks together.
func (c *Client) WordCount(ctx context.Context, ids []ID) (Stat, error) {
	return callFor[Stat](ctx, c, "/api/block/getBlocksWordCount", readData.withMember("stat"), map[string]any{"ids": ids})
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

// RecentBlocks returns the most recently written paragraphs, newest first. The kernel limits their number, and may
// return one twice.
func (c *Client) RecentBlocks(ctx context.Context) ([]RecentBlock, error) {
	out, err := callFor[[]RecentBlock](ctx, c, "/api/block/getRecentUpdatedBlocks", readIndex, nil)
	for i := range out { // both are HTML
		out[i].Content, out[i].HPath = html.UnescapeString(out[i].Content), html.UnescapeString(out[i].HPath)
	}
	return out, err
}

// BlockContent is the content for one block. DataType is "markdown" or "dom"; the kernel takes anything else for DOM.
type BlockContent struct {
	DataType string `json:"dataType"`
	Data     string `json:"data"`
}

// Anchor says where content goes: before Next, else after Previous, else as the first child of Parent. With none of
// them the kernel writes nothing and answers code 0.
type Anchor struct {
	NextID     ID `json:"nextID,omitempty"`
	PreviousID ID `json:"previousID,omitempty"`
	ParentID   ID `json:"parentID,omitempty"`
}

// Insertion is one item of [Client.BatchInsert].
type Insertion struct {
	BlockContent
	Anchor
}

// Replacement is one item of [Client.BatchUpdate].
type Replacement struct {
	ID ID `json:"id"`
	BlockContent
}

// Attributes are the attributes of one block.
type Attributes struct {
	ID    ID                `json:"id"`
	Attrs map[string]string `json:"attrs"`
}

// Insert adds content at an anchor. If the anchor does not exist, the kernel writes nothing and answers code 0 with
// an empty id.
func (c *Client) Insert(ctx context.Context, in Insertion) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/block/insertBlock", writeData, in)
}

// BatchInsert is like [Client.Insert] for several insertions, in order, each in its own transaction.
func (c *Client) BatchInsert(ctx context.Context, in []Insertion) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/block/batchInsertBlock", writeData, map[string]any{"blocks": in})
}

// Prepend adds content as the first child of a document or container.
func (c *Client) Prepend(ctx context.Context, parent ID, dataType, data string) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/block/prependBlock", writeData, map[string]any{"dataType": dataType, "data": data, "parentID": parent})
}

// BatchUpdate is like [Client.Update] for several blocks. It fails as a whole if one does not exist.
func (c *Client) BatchUpdate(ctx context.Context, in []Replacement) ([]Transaction, error) {
	return callFor[[]Transaction](ctx, c, "/api/block/batchUpdateBlock", writeData, map[string]any{"blocks": in})
}

// BatchSetAttrs is like [Client.SetAttrs] for several blocks. It is not atomic: blocks before a missing one are written.
func (c *Client) BatchSetAttrs(ctx context.Context, in []Attributes) error {
	return c.call(ctx, "/api/attr/batchSetBlockAttrs", write, map[string]any{"blockAttrs": in}, nil)
}

// Move puts a block after previous or, if that is empty, makes it the first child of parent. A block moved after
// itself stays, with code 0.
func (c *Client) Move(ctx context.Context, id, previous, parent ID) error {
	body := map[string]any{"id": id}
	if previous != "" {
		body["previousID"] = previous
	} else {
		body["parentID"] = parent
	}
	return c.call(ctx, "/api/block/moveBlock", write, body, nil)
}

// Fold folds or unfolds a block.
func (c *Client) Fold(ctx context.Context, id ID, folded bool) error {
	endpoint := "/api/block/unfoldBlock"
	if folded {
		endpoint = "/api/block/foldBlock"
	}
	return c.call(ctx, endpoint, write, map[string]any{"id": id}, nil)
}

// TransferRefs makes the blocks in refs, which refer to from, refer to to. Ids that do not exist are answered with
// code 0.
func (c *Client) TransferRefs(ctx context.Context, from, to ID, refs []ID) error {
	return c.call(ctx, "/api/block/transferBlockRef", write, map[string]any{"fromID": from, "toID": to, "refIDs": refs}, nil)
}

// AddToDailyNote adds content at the end or the beginning of a notebook's daily note, which is created if it does not
// exist.
func (c *Client) AddToDailyNote(ctx context.Context, notebook ID, dataType, data string, atEnd bool) ([]Transaction, error) {
	endpoint := "/api/block/prependDailyNoteBlock"
	if atEnd {
		endpoint = "/api/block/appendDailyNoteBlock"
	}
	return callFor[[]Transaction](ctx, c, endpoint, writeData, map[string]any{"notebook": notebook, "dataType": dataType, "data": data})
}
