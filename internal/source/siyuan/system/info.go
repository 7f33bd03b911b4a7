package system

import (
	"context"
	"strings"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the short actions of the tool system: the folder of the workspace; version, proxy and clock of the kernel; and a
// message to the person.

// workspaceInfo returns the action workspace_info of the tool system.
func workspaceInfo() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "workspace_info", Purpose: "Show the folder of the workspace on the kernel's machine",
		Off: true, Dangerous: true, Class: action.Reads, Risk: tool.RiskHigh, Effects: tool.EffectRead, Unguarded: noNotes,
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

// network returns the action network of the tool system.
func network() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "network", Purpose: "Show whether the kernel uses a proxy, without its credentials",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: noNotes,
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

// getVersion returns the action get_version of the tool system.
func getVersion() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "get_version", Purpose: "Show the version of the kernel", Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: noNotes,
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
	ISO  string `json:"iso" about:"the same in RFC 3339, UTC"`
}

// getCurrentTime returns the action get_current_time of the tool system.
func getCurrentTime() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "get_current_time", Purpose: "Show the kernel's clock", Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: noNotes,
		Endpoints: []string{"system/currentTime"},
		Result:    getCurrentTimeResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		ms, err := r.Kernel.CurrentTime(ctx)
		return getCurrentTimeResult{ms, time.UnixMilli(ms).UTC().Format(time.RFC3339)}, err
	})
}

type notifyArgs struct {
	Msg     string `json:"msg" about:"text" req:"true" min:"1" max:"2000"`
	Level   string `json:"level" about:"kind of message" req:"true" enum:"info,error"`
	Timeout int    `json:"timeout" about:"milliseconds" default:"7000" min:"0" max:"600000"`
}

type notifyResult struct {
	Level string `json:"level" about:"kind of message"`
	ID    string `json:"id" about:"of the message"`
}

// notify returns the action notify of the tool system.
func notify() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "notify", Purpose: "Show a message to the person in front of SiYuan",
		Class: action.External, Risk: tool.RiskLow, Effects: tool.EffectUI, Unguarded: noNotes,
		Endpoints: []string{"notification/pushMsg", "notification/pushErrMsg"},
		Aliases:   map[string]string{"message": "msg"},
		Result:    notifyResult{},
		Example:   `{"msg":"Done 完成","level":"info"}`,
	}, func(ctx context.Context, r *action.Request, a notifyArgs) (any, error) {
		if strings.TrimSpace(a.Msg) == "" {
			return nil, r.Invalid("msg", "must not be blank")
		}
		id, err := r.Kernel.Notify(ctx, escapeHTML(a.Msg), a.Timeout, a.Level == "error")
		return notifyResult{a.Level, id}, err
	})
}

// escapeHTML escapes a text, because SiYuan shows messages as HTML.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
