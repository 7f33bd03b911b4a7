package kernel

import (
	"context"

	"collie/internal/tool"
)

// This file has the endpoints for the kernel itself, its messages to the user and its interface.

// Version returns the kernel's version, such as "3.7.3". It needs no token.
func (c *Client) Version(ctx context.Context) (string, error) {
	return callFor[string](ctx, c, "/api/system/version", readData, nil)
}

// WorkspaceInfo is where the workspace is, and the kernel's version.
type WorkspaceInfo struct {
	Dir     string `json:"workspaceDir" about:"absolute path"`
	Version string `json:"siyuanVer" about:"version of the kernel"`
}

// WorkspaceInfo returns where the workspace is on the kernel's machine, and the kernel's version.
func (c *Client) WorkspaceInfo(ctx context.Context) (WorkspaceInfo, error) {
	return callFor[WorkspaceInfo](ctx, c, "/api/system/getWorkspaceInfo", readData, nil)
}

// CurrentTime returns the kernel's clock in milliseconds since 1970. It needs no token.
func (c *Client) CurrentTime(ctx context.Context) (int64, error) {
	return callFor[int64](ctx, c, "/api/system/currentTime", readData, nil)
}

// Proxy is the network proxy that the kernel uses; all empty without one.
type Proxy struct {
	Scheme string `json:"scheme"`
	Host   string `json:"host"`
	Port   string `json:"port"`
}

// Network returns the kernel's proxy.
func (c *Client) Network(ctx context.Context) (Proxy, error) {
	return callFor[Proxy](ctx, c, "/api/system/getNetwork", readData.withMember("proxy"), nil)
}

// Notify shows a message in SiYuan for timeout milliseconds, as an error if failed is set, and returns its id.
func (c *Client) Notify(ctx context.Context, msg string, timeout int, failed bool) (string, error) {
	endpoint := "/api/notification/pushMsg"
	if failed {
		endpoint = "/api/notification/pushErrMsg"
	}
	return callFor[string](ctx, c, endpoint, requestKind{write: true, data: true}.withMember("id"), map[string]any{"msg": msg, "timeout": timeout})
}

// Booted reports whether a kernel has finished starting: before that, its answers may lack things that exist. A
// kernel without the endpoint counts as started.
func (c *Client) Booted(ctx context.Context) (bool, error) {
	progress, err := callFor[int](ctx, c, "/api/system/bootProgress", readData.withMember("progress"), nil)
	if tool.KindOf(err) == NotInKernel {
		return true, nil
	}
	return progress >= 100, err
}

// The following calls reload parts of SiYuan's interface: a document, a database, icons, the tree, the tags. They
// change no data.

// ReloadDocument reloads a document in the interface.
func (c *Client) ReloadDocument(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/ui/reloadProtyle", read, map[string]any{"id": id}, nil)
}

// ReloadDatabase reloads a database in the interface.
func (c *Client) ReloadDatabase(ctx context.Context, id ID) error {
	return c.call(ctx, "/api/ui/reloadAttributeView", read, map[string]any{"id": id}, nil)
}

// ReloadIcons reloads the icons.
func (c *Client) ReloadIcons(ctx context.Context) error {
	return c.call(ctx, "/api/ui/reloadIcon", read, nil, nil)
}

// ReloadTree reloads the tree of documents.
func (c *Client) ReloadTree(ctx context.Context) error {
	return c.call(ctx, "/api/ui/reloadFiletree", read, nil, nil)
}

// ReloadTags reloads the tags.
func (c *Client) ReloadTags(ctx context.Context) error {
	return c.call(ctx, "/api/ui/reloadTag", read, nil, nil)
}
