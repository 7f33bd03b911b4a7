package kernel

import (
	"context"
	"encoding/json"
)

// Tag is one tag of the tree of tags. Label is the whole path, Name its last part.
type Tag struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	Count    int    `json:"count"`
	Children []Tag  `json:"children,omitempty"`
}

// Tags returns the tree of all tags. The kernel keeps sort in the user's settings, so
// the caller passes what stands there, unless the user asked for another order.
func (c *Client) Tags(ctx context.Context, sort int, all bool) ([]Tag, error) {
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	var out []Tag
	err := c.call(ctx, "/api/tag/getTag", read, map[string]any{"sort": sort, "ignoreMaxListHint": all, "app": "collie"}, &out)
	return out, err
}

// TagSort is the order of tags in the user's settings.
func (c *Client) TagSort(ctx context.Context) (int, error) {
	var out struct {
		Conf struct{ Tag struct{ Sort int } }
	}
	err := c.call(ctx, "/api/system/getConf", readData, nil, &out)
	return out.Conf.Tag.Sort, err
}

// RenameTag renames a tag and those below it, in every notebook.
func (c *Client) RenameTag(ctx context.Context, old, label string) error {
	return c.call(ctx, "/api/tag/renameTag", write, map[string]any{"oldLabel": old, "newLabel": label}, nil)
}

// Conf is the whole configuration of the kernel, secrets included.
func (c *Client) Conf(ctx context.Context) (json.RawMessage, error) {
	var out struct{ Conf json.RawMessage }
	err := c.call(ctx, "/api/system/getConf", readData, nil, &out)
	return out.Conf, err
}
