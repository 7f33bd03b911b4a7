package kernel

import "context"

// Version is the kernel's version, such as "3.7.3". It needs no token.
func (c *Client) Version(ctx context.Context) (string, error) {
	var out string
	err := c.call(ctx, "/api/system/version", readData, nil, &out)
	return out, err
}

// WorkspaceInfo is where the workspace is, and the kernel's version.
type WorkspaceInfo struct {
	Dir     string `json:"workspaceDir" about:"absolute path"`
	Version string `json:"siyuanVer" about:"version of the kernel"`
}

// WorkspaceInfo tells where the workspace is on the kernel's machine.
func (c *Client) WorkspaceInfo(ctx context.Context) (WorkspaceInfo, error) {
	var out WorkspaceInfo
	err := c.call(ctx, "/api/system/getWorkspaceInfo", readData, nil, &out)
	return out, err
}

// CurrentTime is the kernel's clock in milliseconds. It needs no token.
func (c *Client) CurrentTime(ctx context.Context) (int64, error) {
	var out int64
	err := c.call(ctx, "/api/system/currentTime", readData, nil, &out)
	return out, err
}

// Proxy is the network proxy that the kernel uses; all empty without one.
type Proxy struct {
	Scheme string `json:"scheme"`
	Host   string `json:"host"`
	Port   string `json:"port"`
}

// Network returns the kernel's proxy.
func (c *Client) Network(ctx context.Context) (Proxy, error) {
	var out struct{ Proxy Proxy }
	err := c.call(ctx, "/api/system/getNetwork", readData, nil, &out)
	return out.Proxy, err
}

// Notify shows a message in SiYuan for timeout milliseconds, as an error if failed is set, and
// returns its id.
func (c *Client) Notify(ctx context.Context, msg string, timeout int, failed bool) (string, error) {
	endpoint := "/api/notification/pushMsg"
	if failed {
		endpoint = "/api/notification/pushErrMsg"
	}
	var out struct{ ID string }
	err := c.call(ctx, endpoint, kind{write: true, data: true}, map[string]any{"msg": msg, "timeout": timeout}, &out)
	return out.ID, err
}
