package access

// FlatNames returns the names of the flat format with "tool.action".
func FlatNames() map[string]string {
	out := map[string]string{}
	for name, t := range flatNames {
		out[name] = t.tool + "." + t.action
	}
	return out
}

// FormerNames returns the former names, as "tool.old", with the current name.
func FormerNames() map[string]string {
	out := map[string]string{}
	for tool, names := range formerNames {
		for old, now := range names {
			out[tool+"."+old] = now
		}
	}
	return out
}
