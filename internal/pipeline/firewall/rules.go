package firewall

// Rule is a built-in rule.
type Rule struct {
	Name     string
	Decision Decision
	About    string // what the rule looks for
}

// Rules returns the built-in rules. Those that depend on settings have no effect until these are set.
func Rules() []Rule {
	return []Rule{
		{"text.orders", Allow, "calls after a text that tries to give orders to the model: they count as one risk higher"},
		{"tool.changed", Ask, "a tool whose definition is not the accepted one"},
		{"rate.session", Deny, "more than 120 calls a minute in one session"},
		{"shape.*", Deny, "arguments too large or too deep, duplicate members, text that is not UTF-8"},
		{"path.secret", Deny, "files with keys, passwords or sessions of browsers"},
		{"path.memory", Deny, "memory and environment of programs"},
		{"path.device", Deny, "disks and other devices"},
		{"path.nul", Deny, "a zero byte in a path"},
		{"path.own", Deny, "settings, records and notes of Collie itself"},
		{"path.system", Deny, "writing to folders of the system"},
		{"path.starts", Deny, "writing files that run automatically later: shell start files, autostart, git hooks"},
		{"path.notes", Deny, "writing to the files behind notes"},
		{"path.everything", Deny, "deleting the root, a home or a folder of the system"},
		{"path.outside", Deny, "paths outside of guard.roots"},
		{"path.denied", Deny, "paths that guard.paths.deny names"},
		{"path.many", Ask, "more than 100 paths"},
		{"command.everything", Deny, "deleting or changing the root, a home or a folder of the system"},
		{"command.disk", Deny, "writing to disks, making file systems"},
		{"command.bomb", Deny, "functions that call themselves endlessly"},
		{"command.download", Deny, "running what was just fetched"},
		{"command.reverse", Deny, "giving another machine a shell"},
		{"command.security", Deny, "switching off what protects this machine"},
		{"command.traces", Deny, "removing logs and the history of commands"},
		{"command.denied", Deny, "commands that guard.commands.deny names"},
		{"command.unknown", Ask, "commands that are not known to only read"},
		{"command.dynamic", Ask, "commands made of variables, patterns or the output of others"},
		{"command.walk", Ask, "commands that read whole folders in which there are keys or passwords"},
		{"command.*", Ask, "commands that write, delete, set variables, or cannot be read"},
		{"command.many", Ask, "more than 64 commands or 256 words; denied where a command is made so that it takes long to judge"},
		{"command.known", Allow, "commands that only read: such a call is of low risk"},
		{"url.metadata", Deny, "metadata addresses of cloud machines"},
		{"url.userinfo", Deny, "names and passwords in URLs"},
		{"url.scheme", Deny, "javascript, gopher, ldap and the like; ftp, ssh and the like ask"},
		{"url.denied", Deny, "hosts that guard.hosts.deny names"},
		{"url.private", Ask, "this machine and private networks"},
		{"url.plain", Ask, "http without encryption"},
		{"sql.escape", Deny, "SQL that reaches files, programs or other servers; files read by name ask"},
		{"sql.write", Ask, "SQL that may change the database"},
		{"sql.unreadable", Ask, "SQL that cannot be read for sure"},
	}
}
