package kernel

import (
	"context"
	"fmt"
)

// BacklinkDocument is a document that refers to a block or mentions it.
type BacklinkDocument struct {
	ID       ID     `json:"id"`
	Notebook ID     `json:"box"`
	Name     string `json:"name"`
	HPath    string `json:"hPath"` // with the name of its notebook
	Count    int    `json:"count"` // blocks that do
}

// BacklinkDocuments lists the documents that refer to a block, or to anything in a document, and
// those that mention it by name without referring to it.
func (c *Client) BacklinkDocuments(ctx context.Context, id ID) (links, mentions []BacklinkDocument, err error) {
	if err := c.Flush(ctx); err != nil {
		return nil, nil, err
	}
	var out struct{ Backlinks, Backmentions []BacklinkDocument }
	err = c.call(ctx, "/api/ref/getBacklink2", readData, map[string]any{
		"id": id, "k": "", "mk": "", "sort": "3", "mSort": "3", "containChildren": true,
	}, &out)
	return out.Backlinks, out.Backmentions, err
}

// BacklinkBlock is a block that refers or mentions, in the editor's form.
type BacklinkBlock struct {
	DOM string `json:"dom"`
}

// BacklinksIn returns the blocks of the document ref that refer to a block, or to anything in a
// document. ok is false where the kernel gave no answer to speak of. There is no keyword, since the kernel makes SQL of
// one without care: what is in it could write.
func (c *Client) BacklinksIn(ctx context.Context, id, ref ID) (blocks []BacklinkBlock, ok bool, err error) {
	return c.backlinksIn(ctx, "/api/ref/getBacklinkDoc", id, ref)
}

// MentionsIn is [Client.BacklinksIn] for the blocks that mention without referring.
func (c *Client) MentionsIn(ctx context.Context, id, ref ID) (blocks []BacklinkBlock, ok bool, err error) {
	return c.backlinksIn(ctx, "/api/ref/getBackmentionDoc", id, ref)
}

func (c *Client) backlinksIn(ctx context.Context, endpoint string, id, ref ID) ([]BacklinkBlock, bool, error) {
	if err := c.Flush(ctx); err != nil {
		return nil, false, err
	}
	var out *struct{ Backlinks, Backmentions []BacklinkBlock }
	err := c.call(ctx, endpoint, read, map[string]any{"defID": id, "refTreeID": ref, "keyword": ""}, &out)
	if err != nil || out == nil {
		return nil, false, err
	}
	return append(out.Backlinks, out.Backmentions...), true, nil
}

// Reference is a block that refers to another.
type Reference struct {
	ID       ID     `json:"id"`
	Notebook ID     `json:"box"`
	Root     ID     `json:"root_id"`
	Path     string `json:"path"`
	HPath    string `json:"hpath"`
	Type     string `json:"type"` // p, h, …
	Content  string `json:"content"`
	Markdown string `json:"markdown"`
	Target   ID     `json:"target"` // what it refers to
	Anchor   string `json:"anchor"` // what it shows there
	// Reference is the reference itself, as Markdown.
	Reference string `json:"reference"`
}

// References returns the blocks that refer to a block, or to anything in a document if id is
// one, from the index and in no more than limit rows. Rows may come twice (README 30). A reference to what does not
// exist has no def_block_id there, and the document of something else.
func (c *Client) References(ctx context.Context, id ID, document bool, limit int) ([]Reference, error) {
	column := "def_block_id"
	if document {
		column = "def_block_root_id"
	}
	if !id.Valid() {
		return nil, nil
	}
	return SQL[Reference](ctx, c, fmt.Sprintf("SELECT DISTINCT b.id, b.box, b.root_id, b.path, b.hpath, b.type, b.content, b.markdown, "+
		"r.def_block_id AS target, r.content AS anchor, r.markdown AS reference FROM refs AS r JOIN blocks AS b ON b.id = r.block_id WHERE r.%s = %s AND r.def_block_id <> '' "+
		"ORDER BY b.updated DESC, b.id LIMIT %d", column, Quote(string(id)), limit))
}
