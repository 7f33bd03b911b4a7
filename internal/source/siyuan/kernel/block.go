package kernel

import (
	"context"
	"encoding/json"
)

// Block is a block as getChildBlocks lists it.
type Block struct {
	ID       ID     `json:"id" about:"the child"`
	Type     string `json:"type" about:"p, h, l, i, b, c, m, t, s, av, …"` // p, h, l, i, b, c, m, t, s, av, html, …
	SubType  string `json:"subType" about:"h1 to h6 of headings; u, o, t of lists"`
	Content  string `json:"content" about:"plain text"`              // text
	Markdown string `json:"markdown" about:"Markdown" verbose:"yes"` // without attributes
}

// ChildBlocks lists the blocks right below a document or a container; those below a heading
// are its section. An id that does not exist has none.
func (c *Client) ChildBlocks(ctx context.Context, id ID) ([]Block, error) {
	var out []Block
	err := c.call(ctx, "/api/block/getChildBlocks", readData, map[string]any{"id": id}, &out)
	return out, err
}

// Kramdown returns a block with its attributes, a document with all its blocks. An id that does
// not exist gives "".
func (c *Client) Kramdown(ctx context.Context, id ID) (string, error) {
	var out struct{ Kramdown string }
	err := c.call(ctx, "/api/block/getBlockKramdown", readData, map[string]any{"id": id}, &out)
	return out.Kramdown, err
}

// Kramdowns returns many blocks at once; those that do not exist are left out. mode is "md" or
// "textmark".
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
	var out struct{ DOM string }
	err := c.call(ctx, "/api/block/getBlockDOM", readData, map[string]any{"id": id}, &out)
	return out.DOM, err
}

// DOMs returns the editor's form of many blocks; those that do not exist are left out or "".
func (c *Client) DOMs(ctx context.Context, ids []ID) (map[ID]string, error) {
	if len(ids) == 0 {
		return map[ID]string{}, nil
	}
	out := map[ID]string{}
	err := c.call(ctx, "/api/block/getBlockDOMs", readData, map[string]any{"ids": ids}, &out)
	return out, err
}

// Attrs returns the attributes of a block, up to date at once; none if it does not exist.
func (c *Client) Attrs(ctx context.Context, id ID) (map[string]string, error) {
	var out map[string]string
	err := c.call(ctx, "/api/attr/getBlockAttrs", readData, map[string]any{"id": id}, &out)
	return out, err
}

// BatchAttrs returns the attributes of many blocks; those that do not exist are left out.
func (c *Client) BatchAttrs(ctx context.Context, ids []ID) (map[ID]map[string]string, error) {
	if len(ids) == 0 {
		return map[ID]map[string]string{}, nil
	}
	var out map[ID]map[string]string
	err := c.call(ctx, "/api/attr/batchGetBlockAttrs", readData, map[string]any{"ids": ids}, &out)
	return out, err
}

// SetAttrs merges attributes into those of a block; "" removes one (attr/setBlockAttrs).
func (c *Client) SetAttrs(ctx context.Context, id ID, attrs map[string]string) error {
	return c.call(ctx, "/api/attr/setBlockAttrs", write, map[string]any{"id": id, "attrs": attrs}, nil)
}

// Operation is one step of a transaction, as the kernel takes it and answers it.
type Operation map[string]any

// Transaction is what a write to blocks answers: the operations that were done.
type Transaction struct {
	DoOperations []struct {
		Action   string          `json:"action"`
		ID       ID              `json:"id"`
		ParentID ID              `json:"parentID"`
		Data     json.RawMessage `json:"data"`
	} `json:"doOperations"`
}

// Created returns the ids of the first block of each insertion; further blocks of one Markdown
// text stand only in its DOM.
func Created(done []Transaction) []ID {
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

// Transact runs operations as one transaction. The kernel echoes them whatever becomes of them,
// so the effect has to be read back. now is the moment in milliseconds.
func (c *Client) Transact(ctx context.Context, now int64, ops ...Operation) ([]Transaction, error) {
	var out []Transaction
	err := c.call(ctx, "/api/transactions", writeData, map[string]any{
		"transactions": []any{map[string]any{"doOperations": ops, "undoOperations": []any{}}},
		"reqId":        now, "app": "", "session": "",
	}, &out)
	return out, err
}

// Append adds content as the last child of a document or container. dataType is "markdown" or
// "dom".
func (c *Client) Append(ctx context.Context, parent ID, dataType, data string) ([]Transaction, error) {
	return c.put(ctx, "/api/block/appendBlock", map[string]any{"dataType": dataType, "data": data, "parentID": parent})
}

// Update replaces the content of a block by the first block of data. All other attributes are
// lost unless data carries them.
func (c *Client) Update(ctx context.Context, id ID, dataType, data string) ([]Transaction, error) {
	return c.put(ctx, "/api/block/updateBlock", map[string]any{"dataType": dataType, "data": data, "id": id})
}

// Delete removes a block. The kernel answers before it writes: flush before reading.
func (c *Client) Delete(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/block/deleteBlock", writeData, map[string]any{"id": id}, nil)
}

func (c *Client) put(ctx context.Context, endpoint string, body map[string]any) ([]Transaction, error) {
	var out []Transaction
	err := c.call(ctx, endpoint, writeData, body, &out)
	return out, err
}
