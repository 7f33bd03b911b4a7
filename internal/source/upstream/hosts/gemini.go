package hosts

import (
	"slices"

	"collie/internal/lazyregexp"
)

// gemini describes Gemini CLI, which keeps its servers among all its settings. "httpUrl" is Streamable HTTP and "url" is
// SSE, unless a type says otherwise. Timeouts are in milliseconds. A separate part of the file says which servers are on.
var gemini = Host{
	Name: "gemini", Title: "Gemini CLI", Program: "gemini", Key: "mcpServers",
	After: "Start Gemini CLI again in a folder that you trust (/permissions); /mcp lists its servers.",
	file:  func(s System) string { return s.home(".gemini", "settings.json") },
	places: func(s System) []Place {
		return []Place{userPlace(s.home(".gemini", "settings.json")), s.project(".gemini", "settings.json")}
	},
	hints: []string{"/.gemini/"},
	isOwnFile: func(d *document) bool {
		return d.anyEntry("mcpServers", "httpUrl", "trust", "includeTools", "excludeTools")
	},

	vars: dollars,
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"cwd", "cwd", folder},
		{"headers", "headers", dict},
		{"oauth.clientId", "auth.clientId", text},
		{"oauth.clientSecret", "auth.clientSecret", text},
		{"oauth.scopes", "auth.scopes", names},
		{"description", "description", plain},
		{"timeout", "toolTimeout", milliseconds},
		{"includeTools", "tools.include", names},
		{"excludeTools", "tools.exclude", names},
	},
	read: func(r *hostReading) {
		if url, ok := r.string("httpUrl"); ok {
			r.set("url", r.text(url))
			r.set("type", "http")
		} else if url, ok := r.string("url"); ok {
			r.set("url", r.text(url))
			r.set("type", "sse")
			if typed, ok := r.string("type"); ok {
				r.set("type", typed)
			}
		}
		if all, ok := r.bool("trust"); ok && all {
			r.set("autoApprove", true)
		}
		if on, ok := r.bool("oauth.enabled"); ok && on {
			r.set("auth.type", "oauth")
		}
	},
	write: func(w *hostWriting) {
		if url, ok := w.takeField("url").(string); ok {
			name := "httpUrl"
			if w.takeField("type") == "sse" {
				name = "url"
			}
			w.set(name, w.text(url))
		}
		if w.entry.values["autoApprove"] == true {
			w.takeField("autoApprove")
			w.set("trust", true)
		}
		if w.entry.values["auth.type"] == "oauth" {
			w.takeField("auth.type")
			w.set("oauth.enabled", true)
		}
	},
	list: func(d *document) []listedServer {
		mcp := object{members: membersOf(d.get("mcp"))}
		allowed, some := stringsOf(firstOf(mcp.get("allowed"), d.get("allowMCPServers")))
		excluded, _ := stringsOf(firstOf(mcp.get("excluded"), d.get("excludeMCPServers")))
		list := d.servers("mcpServers")
		for i := range list {
			if slices.Contains(excluded, list[i].name) || some && !slices.Contains(allowed, list[i].name) {
				list[i].adapt = func(r *hostReading) { r.set("disabled", true) }
			}
		}
		return list
	},
}

// dollars is the syntax $NAME, ${NAME} and ${NAME:-text}.
var dollars = syntax{
	find:  lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}$]*)?)\}|\$([A-Za-z_][A-Za-z0-9_]*)`),
	read:  func(_ *hostReading, m []string) string { return "${" + m[1] + m[2] + "}" },
	write: braces.write,
}
