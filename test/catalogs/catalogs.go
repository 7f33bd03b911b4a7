// Package catalogs holds the tools that public MCP servers list, recorded unchanged. They serve to measure
// Collie's views, search and limits. The servers are those in package.json; their licences, in LICENSES,
// allow copying the definitions. The program in the folder record records them again.
package catalogs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/tool"
)

// A Server is a public MCP server.
type Server struct {
	Name  string            // name of its npm package
	Tools []json.RawMessage // definitions in the order of the server's list, byte for byte
}

//go:embed servers/*.jsonl
var recorded embed.FS

// Servers returns the recorded servers, sorted by name. A name that ends in "-zh" means that the tools are
// described in Chinese. The definitions must not be changed.
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

// Fifty returns fifty servers with twenty tools each, made from the recorded ones, for measuring the sizes of
// lists. Since there are fewer than a thousand definitions, some occur in two servers, with a different name
// in the second.
func Fifty() []Server {
	var all []json.RawMessage
	for _, s := range Servers() {
		all = append(all, s.Tools...)
	}
	out := make([]Server, 50)
	for i := range out {
		s := Server{Name: fmt.Sprintf("server%02d", i)}
		for j := range 20 {
			n := i*20 + j
			name := gjson.GetBytes(all[n%len(all)], "name").String()
			s.Tools = append(s.Tools, withName(all[n%len(all)], fmt.Sprintf("%s_%d", name, n)))
		}
		out[i] = s
	}
	return out
}

// withName returns a copy of the definition with that name.
func withName(def json.RawMessage, name string) json.RawMessage {
	out, err := sjson.SetBytes(def, "name", name)
	if err != nil {
		panic(err) // the definitions are JSON
	}
	return out
}

// Tool returns the server as one tool with an action for each definition, the form in which sources offer servers.
func (s Server) Tool() tool.Tool {
	t := tool.Tool{Name: s.Name, Prefix: s.Name + "__"}
	for _, def := range s.Tools {
		g := gjson.ParseBytes(def)
		t.Actions = append(t.Actions, tool.Action{
			Name: g.Get("name").String(), Title: g.Get("title").String(), Description: g.Get("description").String(),
			Definition: def, InputSchema: json.RawMessage(g.Get("inputSchema").Raw), ReadOnly: g.Get("annotations.readOnlyHint").Bool(),
		})
	}
	return t
}
