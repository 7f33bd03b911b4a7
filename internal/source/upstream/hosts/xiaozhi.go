package hosts

import (
	"net/url"
	"strings"
)

// This file has the settings of Xiaozhi.

// xiaozhi describes xiaozhi-client, which keeps what tools are on, and the descriptions of tools, in an object beside
// the servers, and has one key for all servers of ModelScope.
var xiaozhi = Host{
	Name: "xiaozhi", Title: "xiaozhi-client", Key: "mcpServers",
	After: "Start xiaozhi-client again.",
	places: func(s System) []Place {
		if dir := s.env("XIAOZHI_CONFIG_DIR"); dir != "" {
			return []Place{{pathBelow(dir, []string{"xiaozhi.config.json"}), dir}}
		}
		return []Place{
			s.project("xiaozhi.config.json"), s.project("xiaozhi.config.jsonc"),
		}
	},
	hints:     []string{"/xiaozhi.config."},
	isOwnFile: func(d *document) bool { return d.has("mcpServerConfig") || d.has("mcpEndpoint") },

	types: types{http: "streamable-http", sse: "sse"},
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"apiKey", "auth.token", text},
	},
	read: func(r *hostReading) {
		if r.has("apiKey") {
			r.set("auth.type", "bearer")
		}
	},
	write: func(w *hostWriting) {
		if w.entry.values["auth.type"] == "bearer" {
			w.takeField("auth.type")
		}
		if all, ok := w.takeField("tools.override").(map[string]override); ok {
			tools := map[string]any{}
			for name, o := range all {
				tools[name] = writeXiaozhi(w, name, o)
			}
			w.extraParts = append(w.extraParts, placedValue{
				Path:  []string{"mcpServerConfig", w.name, "tools"},
				Value: encode(tools),
			})
		}
	},
	list: func(d *document) []listedServer {
		settings := object{members: membersOf(d.get("mcpServerConfig"))}
		key, _ := stringOf(object{members: membersOf(d.get("modelscope"))}.get("apiKey"))
		list := d.servers("mcpServers")
		for i := range list {
			of := object{members: membersOf(settings.get(list[i].name))}
			list[i].adapt = func(r *hostReading) {
				r.overrides(membersOf(of.get("tools")))
				r.modelScope(key)
			}
		}
		return list
	},
}

// overrides reads which tools are on, and their descriptions, as xiaozhi-client keeps them.
func (r *hostReading) overrides(tools []member) {
	all := map[string]override{}
	for _, t := range tools {
		o := object{members: membersOf(t.value)}
		var v override
		if on, ok := boolOf(o.get("enable")); ok {
			v.Enabled = &on
		}
		v.Description, _ = stringOf(o.get("description"))
		if v != (override{}) {
			all[t.name] = v
		}
	}
	if len(all) > 0 {
		r.set("tools.override", all)
	}
}

// writeXiaozhi returns the settings of one tool as xiaozhi-client keeps them.
func writeXiaozhi(w *hostWriting, name string, o override) map[string]any {
	t := map[string]any{"enable": o.Enabled == nil || *o.Enabled}
	if o.Description != "" {
		t["description"] = o.Description
	}
	if o.Alias != "" || o.Retry {
		w.addNote("tools.override.%s: only enabled and description are carried", name)
	}
	return t
}

// modelScope adds the shared key to a server of ModelScope.
func (r *hostReading) modelScope(key string) {
	address, _ := r.peek("url")
	u, err := url.Parse(address)
	if err != nil || key == "" || r.has("headers") || r.has("apiKey") {
		return
	}
	host := "." + u.Hostname()
	if strings.HasSuffix(host, ".modelscope.cn") || strings.HasSuffix(host, ".modelscope.net") {
		value := "Bearer " + escape(key)
		r.set("headers", map[string]*string{"Authorization": &value})
		r.entry.prefer(key, "MODELSCOPE")
	}
}
