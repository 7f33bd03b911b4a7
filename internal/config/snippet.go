package config

import (
	"path/filepath"

	"collie/internal/jsonc"
)

// Snippet reads servers from a text as web pages show it: {"mcpServers": {…}}, {"servers": {…}}, {"name":
// {…}}, or a single entry, whose Name is then empty. Comments and trailing commas are allowed. Positions are
// reported for a file called name in the absolute folder dir, against which relative paths are resolved. The
// error is an [*Error].
func Snippet(name, dir string, text []byte) ([]ServerEntry, error) {
	c := defaultConfig(Paths{})
	var d decoder
	if len(text) <= MaxSize {
		if parsed, err := jsonc.Parse(text); err == nil && looksLikeServer(parsed.Root()) {
			root := node{&document{Document: parsed, file: name, dir: dir}, parsed.Root(), ""}
			if d.reportDuplicates(root); hasErrors(d.findings) {
				return nil, &Error{d.findings}
			}
			return []ServerEntry{{Raw: jsonc.Standard(root.value), File: name, Dir: dir, at: root}}, nil
		}
	}
	if err := c.read(&d, filepath.Join(dir, name), text); err != nil {
		return nil, err
	}
	for i := range d.findings {
		d.findings[i].File = name
	}
	for i := range c.Servers {
		c.Servers[i].File = name
	}
	if len(c.Servers) == 0 && !hasErrors(d.findings) {
		d.findings = append(d.findings, Finding{
			File: name, Rule: "shape", Severity: SeverityError,
			Message: `no server found; expected {"mcpServers": {"name": {…}}}, {"name": {…}} or one entry with a command or a url`,
		})
	}
	if hasErrors(d.findings) {
		return nil, &Error{d.findings}
	}
	return c.Servers, nil
}
