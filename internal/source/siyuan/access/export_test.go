package access

// FlatNames are the old flat names with "tool.action".
func FlatNames() map[string]string {
	out := map[string]string{}
	for name, t := range flatNames {
		out[name] = t.tool + "." + t.action
	}
	return out
}

// FormerNames are the former names, "tool.old", with the name of today.
func FormerNames() map[string]string {
	out := map[string]string{}
	for tool, names := range formerNames {
		for old, now := range names {
			out[tool+"."+old] = now
		}
	}
	return out
}
