package kernel

import (
	"context"
	"encoding/json"
	"strings"
)

// This file has the endpoints that find where a block or document is.

// Place says where a block is.
type Place struct {
	Notebook ID     `json:"box"`
	Path     string `json:"path"` // storage path of its document, "/…/<id>.sy"
	Root     ID     `json:"rootID"`
	Title    string `json:"rootTitle"` // of the document
}

// Place returns the document and notebook of a block or document (block/getBlockInfo), without the delay of an index.
// If the id does not exist, the error has kind not_found.
func (c *Client) Place(ctx context.Context, id ID) (Place, error) {
	return callFor[Place](ctx, c, "/api/block/getBlockInfo", readData, map[string]any{"id": id})
}

// BlockInfo returns the kernel's whole answer for Place.
func (c *Client) BlockInfo(ctx context.Context, id ID) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/block/getBlockInfo", readData, map[string]any{"id": id})
}

// PathByID returns notebook and storage path of a document, or of a block's document.
func (c *Client) PathByID(ctx context.Context, id ID) (notebook ID, path string, err error) {
	var out struct {
		Notebook ID
		Path     string
	}
	err = c.call(ctx, "/api/filetree/getPathByID", readData, map[string]any{"id": id}, &out)
	return out.Notebook, out.Path, err
}

// HPathByID returns the human path of a document, or of a block's document, without the notebook's name.
func (c *Client) HPathByID(ctx context.Context, id ID) (string, error) {
	return callFor[string](ctx, c, "/api/filetree/getHPathByID", readData, map[string]any{"id": id})
}

// IDsByHPath returns the documents of a notebook with that human path; there may be several or none.
func (c *Client) IDsByHPath(ctx context.Context, notebook ID, hpath string) ([]ID, error) {
	out, err := callFor[[]ID](ctx, c, "/api/filetree/getIDsByHPath", read, map[string]any{"notebook": notebook, "path": hpath})
	if err == nil && len(out) == 0 && strings.Contains(hpath, zeroWidthJoiner) {
		return c.indexedIDs(ctx, notebook, hpath)
	}
	return out, err
}
