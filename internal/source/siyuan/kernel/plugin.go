package kernel

import "context"

// This file has the endpoints for SiYuan's plugins.

// SwitchPlugin switches a plugin of the workspace on or off. Open windows of SiYuan notice it when they are loaded again. If there
// is no plugin of that name, the error is of kind api_error.
func (c *Client) SwitchPlugin(ctx context.Context, name string, on bool) error {
	return c.call(ctx, "/api/petal/setPetalEnabled", requestKind{write: true, data: true}, map[string]any{"packageName": name, "enabled": on, "app": "collie"}, nil)
}

// LoadsPlugins reports whether SiYuan loads plugins at all: a person has trusted them, and has not switched all of them off.
func (c *Client) LoadsPlugins(ctx context.Context) (bool, error) {
	type bazaar struct {
		Trust         bool `json:"trust"`
		PetalDisabled bool `json:"petalDisabled"`
	}
	b, err := callFor[bazaar](ctx, c, "/api/system/getConf", readData.withMember("conf.bazaar"), nil)
	return b.Trust && !b.PetalDisabled, err
}
