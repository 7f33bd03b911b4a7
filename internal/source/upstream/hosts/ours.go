package hosts

import "strings"

// This file has our own settings, treated like those of another program.

// ours treats our own settings, aliases included, as a host's.
var ours = Host{
	Name: "collie", Title: "Collie", Key: "mcpServers",
	types: types{stdio: "stdio", http: "http", sse: "sse"},
	fields: []field{
		{"displayName", "displayName", plain},
		{"description", "description", plain},
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"envFile", "envFile", file},
		{"inheritEnv", "inheritEnv", names},
		{"cwd", "cwd", folder},
		{"url", "url", text},
		{"serverUrl", "url", text},
		{"headers", "headers", dict},
		{"headersCommand.command", "headersCommand.command", text},
		{"headersCommand.args", "headersCommand.args", texts},
		{"auth.type", "auth.type", plain},
		{"auth.token", "auth.token", text},
		{"auth.apiKey", "auth.token", text},
		{"auth.username", "auth.username", text},
		{"auth.password", "auth.password", text},
		{"apiKey", "auth.token", text},
		{"disabled", "disabled", flag},
		{"enabled", "disabled", negated},
		{"lifecycle", "lifecycle", plain},
		{"startTimeout", "startTimeout", duration},
		{"toolTimeout", "toolTimeout", duration},
		{"includeTools", "tools.include", names},
		{"excludeTools", "tools.exclude", names},
		{"disabledTools", "tools.exclude", names},
		{"autoApprove", "autoApprove", approvals},
		{"alwaysAllow", "autoApprove", approvals},
	},
	read: readOurs,
}

func (h *Host) isOurs() bool { return h.Name == "collie" }

func readOurs(r *hostReading) {
	r.ignoreFields("type", "transport", "transportType")
	for _, name := range []string{"type", "transport", "transportType"} {
		if t, ok := r.peek(name); ok {
			r.set("type", strings.ToLower(t))
		}
	}
	if list, ok := r.strings("command"); ok && len(list) > 0 {
		args, _ := stringsOf(r.get("args"))
		r.ignoreFields("args")
		r.commandLine(append(list, args...))
	}
	if address, ok := r.string("httpUrl"); ok {
		r.set("url", r.text(address))
		r.set("type", "http")
	}
	if r.has("apiKey") {
		r.set("auth.type", "bearer")
	}
	for _, at := range []string{"auth.", "oauth."} {
		r.field(at+"clientId", field{"", "auth.clientId", text})
		r.field(at+"client_id", field{"", "auth.clientId", text})
		r.field(at+"clientSecret", field{"", "auth.clientSecret", text})
		r.field(at+"client_secret", field{"", "auth.clientSecret", text})
		r.field(at+"clientMetadataUrl", field{"", "auth.clientMetadataUrl", text})
		r.field(at+"grantType", field{"", "auth.grantType", plain})
		r.field(at+"scopes", field{"", "auth.scopes", names})
		r.field(at+"redirectPort", field{"", "auth.redirectPort", count})
	}
	if all, ok := r.bool("trust"); ok && all {
		r.set("autoApprove", true)
	}
	if kindOf(r.get("tools")) == '[' {
		r.field("tools", field{"tools", "tools.include", names})
		return
	}
	r.field("tools.include", field{"", "tools.include", names})
	r.field("tools.exclude", field{"", "tools.exclude", names})
	if raw := r.takeField("tools.override"); raw != nil {
		r.ownOverrides(membersOf(raw))
	}
}

func (r *hostReading) ownOverrides(tools []member) {
	all := map[string]override{}
	for _, t := range tools {
		o := object{members: membersOf(t.value)}
		var v override
		if on, ok := boolOf(firstOf(o.get("enabled"), o.get("enable"))); ok {
			v.Enabled = &on
		}
		v.Alias, _ = stringOf(o.get("alias"))
		v.Description, _ = stringOf(o.get("description"))
		v.Retry, _ = boolOf(o.get("retry"))
		all[t.name] = v
	}
	if len(all) > 0 {
		r.set("tools.override", all)
	}
}
