package system

import (
	"context"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

func workspaceInfo() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "workspace_info", Purpose: "Show the folder of the workspace on the kernel's machine",
		Off: true, Dangerous: true, Class: action.Reads, Unguarded: noNotes,
		Endpoints: []string{"system/getWorkspaceInfo"},
		Result:    kernel.WorkspaceInfo{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		info, err := r.Kernel.WorkspaceInfo(ctx)
		return info, err
	})
}

type networkResult struct {
	Proxy      kernel.Proxy `json:"proxy" about:"scheme, host and port; empty without one"`
	Configured bool         `json:"configured" about:"whether there is one"`
}

func network() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "network", Purpose: "Show whether the kernel uses a proxy, without its credentials",
		Class: action.Reads, Unguarded: noNotes,
		Endpoints: []string{"system/getNetwork"},
		Result:    networkResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		p, err := r.Kernel.Network(ctx)
		p.Host = withoutUser(p.Host)
		return networkResult{p, p.Scheme != ""}, err
	})
}

type getVersionResult struct {
	Version string `json:"version" about:"such as 3.7.3"`
}

func getVersion() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "get_version", Purpose: "Show the version of the kernel", Common: true, Class: action.Reads, Unguarded: noNotes,
		Endpoints: []string{"system/version"},
		Result:    getVersionResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		v, err := r.Kernel.Version(ctx)
		return getVersionResult{v}, err
	})
}

type getCurrentTimeResult struct {
	Time int64  `json:"currentTime" about:"milliseconds since 1970"`
	ISO  string `json:"iso" about:"the same in words, UTC"`
}

func getCurrentTime() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "get_current_time", Purpose: "Show the kernel's clock", Common: true, Class: action.Reads, Unguarded: noNotes,
		Endpoints: []string{"system/currentTime"},
		Result:    getCurrentTimeResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		ms, err := r.Kernel.CurrentTime(ctx)
		return getCurrentTimeResult{ms, time.UnixMilli(ms).UTC().Format(time.RFC3339)}, err
	})
}
