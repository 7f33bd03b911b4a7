package hosts

// kilo describes Kilo Code, which began as a copy of Roo Code: its extension reads a file of that form. Newer versions
// keep the servers under "mcp" in kilo.jsonc, in opencode's form.
var kilo = Host{
	Name: "kilo", Title: "Kilo Code", Key: "mcpServers",
	After: "Open the MCP servers in Kilo Code; the new one is listed there.",
	file:  func(s System) string { return s.extension("kilocode.kilo-code", "mcp_settings.json") },
	places: func(s System) []Place {
		return []Place{
			userPlace(s.extension("kilocode.kilo-code", "mcp_settings.json")),
			userPlace(s.home(".kilocode", "cli", "global", "settings", "mcp_settings.json")),
			userPlace(s.dotConfig("kilo", "kilo.jsonc")), userPlace(s.dotConfig("kilo", "kilo.json")),
			s.project(".kilocode", "mcp.json"),
			s.project("kilo.jsonc"), s.project("kilo.json"), s.project(".kilo", "kilo.jsonc"), s.project(".kilo", "kilo.json"),
		}
	},
	hints: []string{"/kilocode.kilo-code/", "/.kilocode/", "/kilo.json"},

	vars:   envBraces,
	types:  types{stdio: "stdio", http: "streamable-http", sse: "sse"},
	fields: rooFields,
	list: func(d *document) []listedServer {
		list := d.servers("mcpServers")
		for _, l := range d.servers("mcp") {
			l.as = &openCode
			list = append(list, l)
		}
		return list
	},
}
