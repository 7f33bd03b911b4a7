package kernel

import (
	"context"
	"encoding/json"
)

// FoundDocument is a document that a search of titles found.
type FoundDocument struct {
	Notebook ID     `json:"box"`
	HPath    string `json:"hPath"` // with the notebook's name before it, without a slash at the start
	Path     string `json:"path"`  // storage path; "/" is the notebook itself
	Icon     string `json:"boxIcon"`
}

// SearchDocuments finds documents of all open notebooks by words of their human paths. It reads
// the index, which is flushed first if this client has written. Hits may repeat.
func (c *Client) SearchDocuments(ctx context.Context, words string) ([]FoundDocument, error) {
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	var out []FoundDocument
	err := c.call(ctx, "/api/filetree/searchDocs", readData, map[string]any{"k": words}, &out)
	return out, err
}

// DocumentHTML returns a document as the editor shows it: {content, blockCount, eof, …}. size
// bounds the blocks that are loaded.
func (c *Client) DocumentHTML(ctx context.Context, id ID, size int) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.call(ctx, "/api/filetree/getDoc", readData, map[string]any{"id": id, "mode": 0, "size": size}, &raw)
	return raw, err
}

// DocumentInfo returns what the kernel knows of a block's document: {rootID, name, refCount,
// subFileCount, ial, …}.
func (c *Client) DocumentInfo(ctx context.Context, id ID) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.call(ctx, "/api/block/getDocInfo", readData, map[string]any{"id": id}, &raw)
	return raw, err
}

// Outline returns the headings of a document as a tree: null if there are none. preview takes
// in the document's own title. Names are escaped as HTML.
func (c *Client) Outline(ctx context.Context, id ID, preview bool) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.call(ctx, "/api/outline/getDocOutline", read, map[string]any{"id": id, "preview": preview}, &raw)
	return raw, err
}

// DailyNote makes today's note of a notebook, or finds it. app names the window that
// is left alone; it may be empty.
func (c *Client) DailyNote(ctx context.Context, notebook ID, app string) (ID, error) {
	body := map[string]any{"notebook": notebook}
	if app != "" {
		body["app"] = app
	}
	var out struct{ ID ID }
	err := c.call(ctx, "/api/filetree/createDailyNote", writeData, body, &out)
	return out.ID, err
}
