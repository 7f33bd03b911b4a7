package admin

import (
	"encoding/json"
	"path"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/upstream/entry"
)

// NameFor proposes a name for a server whose entry has none: what a package runner runs,
// without scope and version; empty where that cannot be told.
func NameFor(raw json.RawMessage) string {
	e, _ := entry.Parse("", raw, entry.Options{Env: func(string) (string, bool) { return "", true }})
	name := path.Base(e.Package)
	if i := strings.LastIndexAny(name, "@:="); i > 0 {
		name = name[:i]
	}
	for _, prefix := range []string{"mcp-server-", "server-"} {
		if short, ok := strings.CutPrefix(name, prefix); ok && short != "" {
			name = short
			break
		}
	}
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-")
	return name[:min(len(name), longestName)]
}

// unfit is what a server's name cannot hold.
var unfit = lazyregexp.New(`[^A-Za-z0-9_-]+`)

const longestName = 64
