package kernel

import (
	"context"
	"encoding/json"
)

// This file has the endpoints for tags, and for the configuration that holds their order.

// Tag is one tag of the tree of tags. Label is the whole path, Name its last part.
type Tag struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	Count    int    `json:"count"`
	Children []Tag  `json:"children,omitempty"`
}

// Tags returns the tree of all tags. The kernel stores sort in the user's settings, so pass the current
// [Client.TagSort] unless the user asked for another order.
func (c *Client) Tags(ctx context.Context, sort int, all bool) ([]Tag, error) {
	return callFor[[]Tag](ctx, c, "/api/tag/getTag", readIndex, map[string]any{"sort": sort, "ignoreMaxListHint": all, "app": "collie"})
}

// TagSort returns the order of tags in the user's settings.
func (c *Client) TagSort(ctx context.Context) (int, error) {
	return callFor[int](ctx, c, "/api/system/getConf", readData.withMember("conf.tag.sort"), nil)
}

// RenameTag renames a tag and those below it, in every notebook.
func (c *Client) RenameTag(ctx context.Context, old, label string) error {
	return c.call(ctx, "/api/tag/renameTag", write, map[string]any{"oldLabel": old, "newLabel": label}, nil)
}

// Conf returns the whole configuration of the kernel, including secrets.
func (c *Client) Conf(ctx context.Context) (json.RawMessage, error) {
	return callFor[json.RawMessage](ctx, c, "/api/system/getConf", readData.withMember("conf"), nil)
}
