package kernel

import "context"

// The interface is told to show again what has changed: a document, a database, icons, the
// tree, the tags. Nothing of the data changes.

// ReloadDocument shows a document again.
func (c *Client) ReloadDocument(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/ui/reloadProtyle", read, map[string]any{"id": id}, nil)
}

// ReloadDatabase shows a database again.
func (c *Client) ReloadDatabase(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/ui/reloadAttributeView", read, map[string]any{"id": id}, nil)
}

// ReloadIcons shows the icons again.
func (c *Client) ReloadIcons(ctx context.Context) error {
	return c.call(ctx, "/api/ui/reloadIcon", read, nil, nil)
}

// ReloadTree shows the tree of documents again.
func (c *Client) ReloadTree(ctx context.Context) error {
	return c.call(ctx, "/api/ui/reloadFiletree", read, nil, nil)
}

// ReloadTags shows the tags again.
func (c *Client) ReloadTags(ctx context.Context) error {
	return c.call(ctx, "/api/ui/reloadTag", read, nil, nil)
}
