package kernel

import "context"

// BlockContent is what one block is to be made of. DataType is "markdown" or "dom"; the kernel
// takes anything else for DOM.
type BlockContent struct {
	DataType string `json:"dataType"`
	Data     string `json:"data"`
}

// Anchor says where content goes: before Next, else after Previous, else as the first child of
// Parent. With none the kernel writes nothing and answers code 0.
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

// Attributes are those of one block.
type Attributes struct {
	ID    ID                `json:"id"`
	Attrs map[string]string `json:"attrs"`
}

// Insert adds content at an anchor. An anchor that does not exist is answered with code 0, an
// empty id, and nothing written.
func (c *Client) Insert(ctx context.Context, in Insertion) ([]Transaction, error) {
	return c.putBody(ctx, "/api/block/insertBlock", in)
}

// BatchInsert is [Client.Insert] for several at once: one transaction each, in order.
func (c *Client) BatchInsert(ctx context.Context, in []Insertion) ([]Transaction, error) {
	return c.putBody(ctx, "/api/block/batchInsertBlock", map[string]any{"blocks": in})
}

// Prepend adds content as the first child of a document or container.
func (c *Client) Prepend(ctx context.Context, parent ID, dataType, data string) ([]Transaction, error) {
	return c.put(ctx, "/api/block/prependBlock", map[string]any{"dataType": dataType, "data": data, "parentID": parent})
}

// BatchUpdate is [Client.Update] for several blocks; one that does not exist fails all of them.
func (c *Client) BatchUpdate(ctx context.Context, in []Replacement) ([]Transaction, error) {
	return c.putBody(ctx, "/api/block/batchUpdateBlock", map[string]any{"blocks": in})
}

// BatchSetAttrs is [Client.SetAttrs] for several blocks. It is not atomic: those before one that
// does not exist are written.
func (c *Client) BatchSetAttrs(ctx context.Context, in []Attributes) error {
	return c.call(ctx, "/api/attr/batchSetBlockAttrs", write, map[string]any{"blockAttrs": in}, nil)
}

// Move puts a block after previous, or as the first child of parent where previous is empty. A
// block that is moved after itself stays, with code 0.
func (c *Client) Move(ctx context.Context, id, previous, parent ID) error {
	body := map[string]any{"id": id}
	if previous != "" {
		body["previousID"] = previous
	} else {
		body["parentID"] = parent
	}
	return c.call(ctx, "/api/block/moveBlock", write, body, nil)
}

// Fold folds a block, or unfolds it.
func (c *Client) Fold(ctx context.Context, id ID, folded bool) error {
	endpoint := "/api/block/unfoldBlock"
	if folded {
		endpoint = "/api/block/foldBlock"
	}
	return c.call(ctx, endpoint, write, map[string]any{"id": id}, nil)
}

// TransferRefs makes the blocks refs, which refer to from, refer to to. Ids that do not exist
// are answered with code 0.
func (c *Client) TransferRefs(ctx context.Context, from, to ID, refs []ID) error {
	return c.call(ctx, "/api/block/transferBlockRef", write, map[string]any{"fromID": from, "toID": to, "refIDs": refs}, nil)
}

// AddToDailyNote adds content to the end of a notebook's note of today, or to its beginning. The
// note is made if there is none.
func (c *Client) AddToDailyNote(ctx context.Context, notebook ID, dataType, data string, atEnd bool) ([]Transaction, error) {
	endpoint := "/api/block/prependDailyNoteBlock"
	if atEnd {
		endpoint = "/api/block/appendDailyNoteBlock"
	}
	return c.put(ctx, endpoint, map[string]any{"notebook": notebook, "dataType": dataType, "data": data})
}

func (c *Client) putBody(ctx context.Context, endpoint string, body any) ([]Transaction, error) {
	var out []Transaction
	err := c.call(ctx, endpoint, writeData, body, &out)
	return out, err
}
