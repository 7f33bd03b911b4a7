package hosts

// zed describes Zed, which keeps its servers, called "context servers", among all its settings. Those of an extension are
// started by the extension and cannot be carried over.
var zed = Host{
	Name: "zed", Title: "Zed", Program: "zed", Key: "context_servers",
	After: "Zed sees it at once; the agent's settings list it.",
	file:  zedFile,
	places: func(s System) []Place {
		return []Place{userPlace(zedFile(s)), s.project(".zed", "settings.json")}
	},
	hints:     []string{"/zed/settings.json", "/.zed/"},
	isOwnFile: func(d *document) bool { return d.has("context_servers") },

	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"enabled", "disabled", negated},
		{"timeout", "toolTimeout", milliseconds},
	},
	read: func(r *hostReading) {
		r.ignoreFields("source")
		if r.isObject("command") { // the older form
			for theirs, ours := range map[string]field{
				"command.path": {"command.path", "command", program},
				"command.args": {"command.args", "args", texts},
				"command.env":  {"command.env", "env", dict},
			} {
				r.field(theirs, ours)
			}
		}
	},
	list: func(d *document) []listedServer {
		list := d.servers("context_servers")
		for i, l := range list {
			if o := (object{members: membersOf(l.raw)}); !o.has("command") && !o.has("url") {
				list[i].skip = "an extension of Zed starts it"
			}
		}
		return list
	},
}

func zedFile(s System) string {
	if s.OS == "windows" {
		return s.settings("Zed", "settings.json")
	}
	return s.dotConfig("zed", "settings.json")
}
