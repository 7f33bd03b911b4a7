package hosts

import (
	"slices"

	"collie/internal/lazyregexp"
)

// claudeCode describes Claude Code, which keeps the servers of all projects in one file with much else. A project's
// .mcp.json holds servers that a team shares; it is read, but collie mcp connect never changes it.
var claudeCode = Host{
	Name: "claude-code", Title: "Claude Code", Program: "claude", Key: "mcpServers",
	After: "Start a new session of Claude Code.",
	file: func(s System) string {
		if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
			return pathBelow(dir, []string{".claude.json"})
		}
		return s.home(".claude.json")
	},
	places: func(s System) []Place {
		file := s.home(".claude.json")
		if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
			file = pathBelow(dir, []string{".claude.json"})
		}
		return []Place{userPlace(file), s.project(".mcp.json")}
	},
	hints:     []string{"/.claude.json", "/.mcp.json"},
	isOwnFile: func(d *document) bool { return d.has("mcpServers") },

	vars:  braces,
	types: types{stdio: "stdio", http: "http", sse: "sse"},
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"oauth.clientId", "auth.clientId", text},
		{"oauth.callbackPort", "auth.redirectPort", count},
		{"timeout", "toolTimeout", milliseconds},
	},
	read: func(r *hostReading) {
		if script, ok := r.string("headersHelper"); ok {
			r.set("headersCommand.command", "sh")
			r.set("headersCommand.args", []string{"-c", r.text(script)})
		}
	},
	write: func(w *hostWriting) {
		args, _ := w.entry.values["headersCommand.args"].([]string)
		if w.entry.values["headersCommand.command"] == "sh" && len(args) == 2 && args[0] == "-c" {
			w.takeField("headersCommand.command")
			w.takeField("headersCommand.args")
			w.set("headersHelper", w.text(args[1]))
		}
	},
	list: func(d *document) []listedServer {
		list := d.servers("mcpServers")
		for _, project := range membersOf(d.get("projects")) {
			of := object{members: membersOf(project.value)}
			disabled, _ := stringsOf(of.get("disabledMcpServers"))
			for _, l := range serversIn(of.get("mcpServers"), project.name, "projects", project.name, "mcpServers") {
				if slices.Contains(disabled, l.name) {
					l.adapt = func(r *hostReading) { r.set("disabled", true) }
				}
				list = append(list, l)
			}
		}
		return list
	},
}

// braces is the syntax ${NAME} and ${NAME:-text}, as in our own files.
var braces = syntax{
	find: lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}$]*)?)\}`),
	read: func(_ *hostReading, m []string) string { return "${" + m[1] + "}" },
	write: func(v variable) (string, bool) {
		if v.name == "" {
			return "", false
		}
		return "${" + v.name + v.suffix() + "}", true
	},
}
