// Package catalogs has the tools that public MCP servers list, as they list them: what Collie's views, its search and its
// bounds are measured with. The servers are those of package.json, under licences that let their definitions be copied,
// each of which lies in LICENSES; the program in record records them again.
package catalogs

import (
	"bytes"
	"embed"
	"encoding/json"
	"path"
	"strings"
)

// A Server is a public MCP server.
type Server struct {
	Name  string            // as in its npm package
	Tools []json.RawMessage // definitions in the order of its list, to the byte
}

//go:embed servers/*.jsonl
var recorded embed.FS

// Servers returns the recorded servers in the order of their names. Those whose tools are described in Chinese have names
// that end in "-zh". The definitions are not to be changed.
func Servers() []Server {
	files, err := recorded.ReadDir("servers")
	if err != nil {
		panic(err) // embedded
	}
	out := make([]Server, 0, len(files))
	for _, f := range files {
		text, err := recorded.ReadFile(path.Join("servers", f.Name()))
		if err != nil {
			panic(err) // embedded
		}
		s := Server{Name: strings.TrimSuffix(f.Name(), ".jsonl")}
		for line := range bytes.Lines(text) {
			s.Tools = append(s.Tools, json.RawMessage(bytes.TrimSuffix(line, []byte("\n"))))
		}
		out = append(out, s)
	}
	return out
}
