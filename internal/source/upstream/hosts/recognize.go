package hosts

import (
	"path/filepath"
	"strings"

	"collie/internal/tool"
)

// Recognize returns the host to which a file belongs: by its name and folder, else by its content. A file that has
// only "mcpServers" is read as Claude Code's, which has all the common fields.
func Recognize(file string, text []byte) (Host, error) {
	path := "/" + strings.TrimPrefix(strings.ToLower(filepath.ToSlash(file)), "/")
	for _, h := range all {
		for _, hint := range h.hints {
			if strings.Contains(path, hint) && hasExtension(h, path) {
				return h, nil
			}
		}
	}
	var wrong error
	for _, f := range formatsOf(path) {
		d, err := f.parse(text)
		if err != nil {
			wrong = err
			continue
		}
		for _, name := range []string{
			"zed", "xiaozhi", "vscode", "opencode", "codex", "spring", "gemini", "windsurf", "roo", "cline", "cursor", "claude-code",
		} {
			if h, err := Find(name); err == nil && h.format == f && h.isOwnFile(d) {
				return h, nil
			}
		}
	}
	e := &tool.Error{
		Op: "read servers", Kind: tool.Invalid, Subject: file,
		Message: "no known program has a file that looks like this", Hint: "name it with --from", Err: wrong,
	}
	if wrong != nil {
		e.Message, e.Hint = "", ""
	}
	return Host{}, e
}

// hasExtension reports whether the ending of a path fits the host's format.
func hasExtension(h Host, path string) bool { return formatsOf(path)[0] == h.format }

// formatsOf returns the formats that a file of that name may have.
func formatsOf(path string) []format {
	switch filepath.Ext(path) {
	case ".toml":
		return []format{tomlText}
	case ".yml", ".yaml":
		return []format{yamlText}
	}
	return []format{jsonText}
}
