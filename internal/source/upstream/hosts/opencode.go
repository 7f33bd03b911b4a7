package hosts

import (
	"encoding/json"
	"os"

	"collie/internal/lazyregexp"
)

// openCode describes opencode, which writes program and arguments as one list, and calls the transports local and remote.
var openCode = Host{
	Name: "opencode", Title: "opencode", Program: "opencode", Key: "mcp",
	After: "Start opencode again.",
	file:  openCodeFile,
	places: func(s System) []Place {
		return []Place{
			userPlace(s.dotConfig("opencode", "opencode.json")), userPlace(s.dotConfig("opencode", "opencode.jsonc")),
			s.project("opencode.json"), s.project("opencode.jsonc"),
		}
	},
	hints:     []string{"/opencode.json"},
	isOwnFile: func(d *document) bool { return d.anyEntry("mcp", "type") },

	vars:  curly,
	types: types{stdio: "local", http: "remote"},
	fields: []field{
		{"environment", "env", dict},
		{"cwd", "cwd", folder},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"enabled", "disabled", negated},
		{"disabled", "disabled", flag},
		{"oauth.clientId", "auth.clientId", text},
		{"oauth.clientSecret", "auth.clientSecret", text},
		{"oauth.client_id", "auth.clientId", text},
		{"oauth.client_secret", "auth.clientSecret", text},
	},
	read: func(r *hostReading) {
		if list, ok := r.strings("command"); ok && len(list) > 0 {
			r.commandLine(list)
		}
		if r.isObject("timeout") {
			r.field("timeout.startup", field{"", "startTimeout", milliseconds})
			r.field("timeout.request", field{"", "toolTimeout", milliseconds})
		} else {
			r.field("timeout", field{"timeout", "startTimeout", milliseconds})
		}
		if string(r.get("oauth")) == "false" {
			r.ignoreFields("oauth")
			r.set("auth.type", "none")
		}
	},
	write: func(w *hostWriting) {
		if command, ok := w.takeField("command").(string); ok {
			args, _ := w.takeField("args").([]string)
			w.set("command", w.texts(append([]string{command}, args...)))
		}
		if w.entry.values["auth.type"] == "none" {
			w.takeField("auth.type")
			w.set("oauth", json.RawMessage("false"))
		}
		w.field("startTimeout", field{"timeout", "startTimeout", milliseconds})
	},
}

// openCodeFile returns opencode.jsonc if only that exists, else opencode.json. opencode reads both.
func openCodeFile(s System) string {
	file := s.dotConfig("opencode", "opencode.json")
	if _, err := os.Stat(file); err != nil && file != "" {
		if _, err := os.Stat(file + "c"); err == nil {
			return file + "c"
		}
	}
	return file
}

// curly is the syntax {env:NAME} and {file:path}.
var curly = syntax{
	find: lazyregexp.New(`\{(env|file):([^{}]+)\}`),
	read: func(r *hostReading, m []string) string {
		if m[1] == "env" && isName(m[2]) {
			return "${" + m[2] + "}"
		}
		return r.toInput(m[0], m[1]+"-"+m[2])
	},
	write: func(v variable) (string, bool) {
		if v.name == "" || v.defaulted {
			return "", false
		}
		return "{env:" + v.name + "}", true
	},
}
