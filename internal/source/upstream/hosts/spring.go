package hosts

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/units"
)

// This file has the settings of applications that use Spring AI.

// spring describes an application with Spring AI's MCP client. Its settings are YAML, in which each name has several
// spellings. They may refer to a JSON file of servers.
var spring = Host{
	Name: "spring", Title: "Spring AI", Key: "spring.ai.mcp.client",
	After:  "Start the application again.",
	format: yamlText,
	places: func(s System) []Place {
		return []Place{
			s.project("src", "main", "resources", "application.yml"), s.project("src", "main", "resources", "application.yaml"),
			s.project("application.yml"), s.project("application.yaml"),
		}
	},
	hints:     []string{"/application.y", "/application-"},
	isOwnFile: func(d *document) bool { return len(springTree(d).at("spring", "ai", "mcp", "client").children) > 0 },

	vars: colons,
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"url", "url", text},
	},
	read: func(r *hostReading) {
		if s, ok := r.string("args"); ok { // a list may be one text with commas
			r.set("args", r.texts(strings.Split(s, ",")))
		}
		endpoint, ok := r.string("endpoint")
		if !ok {
			endpoint, ok = r.string("sseendpoint")
		}
		if address, given := r.string("url"); given {
			if !ok {
				endpoint = map[any]string{"http": "/mcp", "sse": "/sse"}[r.entry.values["type"]]
			}
			r.set("url", r.text(strings.TrimRight(address, "/")+"/"+strings.TrimLeft(endpoint, "/")))
		}
	},
	write: func(w *hostWriting) {
		t := w.entry.Transport()
		w.takeField("type")
		if address, ok := w.takeField("url").(string); ok {
			base, endpoint := splitURL(w.text(address))
			w.set("url", base)
			w.set(map[string]string{"http": "endpoint", "sse": "sse-endpoint"}[t], endpoint)
		}
	},
	list: listSpring,
}

// splitURL splits a URL before its path.
func splitURL(s string) (base, path string) {
	scheme := strings.Index(s, "://")
	if scheme < 0 {
		return s, "/"
	}
	rest := s[scheme+3:]
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return s[:scheme+3+i], rest[i:]
	}
	return s, "/"
}

// springJSON describes the JSON file of servers to which the settings of spring may refer. It has no variables.
var springJSON = Host{
	Name: "spring", Title: "Spring AI", Key: "mcpServers",
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"url", "url", text},
	},
}

// listSpring returns the servers of all three sections of the settings, and those in the JSON file that they name.
func listSpring(d *document) []listedServer {
	client := springTree(d).at("spring", "ai", "mcp", "client")
	general := client.commonSettings()
	var list []listedServer
	for _, of := range []struct{ section, transport string }{{"stdio", ""}, {"sse", "sse"}, {"streamablehttp", "http"}} {
		for _, c := range client.at(of.section, "connections").children {
			list = append(list, listedServer{name: c.name, raw: c.object().json(), adapt: func(r *hostReading) {
				if of.transport != "" {
					r.set("type", of.transport)
				}
				general(r)
			}})
		}
	}
	if s, ok := client.at("stdio", "serversconfiguration").value.(string); ok {
		list = append(list, d.springServers(s, general)...)
	}
	return list
}

// springServers reads the JSON file of servers that the settings name.
func (d *document) springServers(resource string, general func(*hostReading)) []listedServer {
	fail := func(err error) []listedServer {
		return []listedServer{{name: resource, skip: fmt.Sprintf("its servers cannot be read: %v", err)}}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(resource, "classpath:"), "file:")
	if strings.HasPrefix(resource, "classpath:") {
		name = strings.TrimLeft(name, "/")
	} else if u, err := url.Parse(resource); err == nil && u.Scheme == "file" && u.Path != "" {
		name = filepath.FromSlash(u.Path)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.dir, name)
	}
	text, err := d.read(name)
	if err != nil {
		return fail(err)
	}
	inner, err := jsonText.parse(text)
	if err != nil {
		return fail(err)
	}
	list := inner.servers("mcpServers")
	for i := range list {
		list[i].as, list[i].adapt = &springJSON, general
	}
	return list
}

// commonSettings returns a function that applies the settings for all servers.
func (n *springNode) commonSettings() func(*hostReading) {
	return func(r *hostReading) {
		if n.at("enabled").value == false {
			r.set("disabled", true)
		}
		if n.at("initialized").value == false {
			r.set("lifecycle", "lazy")
		}
		if v := n.at("requesttimeout").value; v != nil {
			if d, err := springDuration(fmt.Sprint(v)); err == nil {
				r.set("toolTimeout", durationText(d))
			} else {
				r.addNote("request-timeout: %v; not carried", err)
			}
		}
		if n.at("toolcallback", "enabled").value == false {
			r.addNote("toolcallback.enabled: false: not carried; leave the server out of the agent's profile")
		}
		if n.at("rootchangenotification").value == false {
			r.addNote("root-change-notification: false: not carried")
		}
		if n.at("name").value != nil || n.at("version").value != nil {
			r.addNote("name, version: not carried; the gateway says who it is")
		}
	}
}

// springNode is one property with those below it. Names compare without case, dashes and underscores.
type springNode struct {
	name     string
	value    any // string, json.Number, bool or nil
	raw      json.RawMessage
	children []*springNode
}

func springTree(d *document) *springNode {
	root := &springNode{}
	root.add(d.members)
	return root
}

func (n *springNode) add(members []member) {
	for _, m := range members {
		at := n
		for _, name := range springPath(m.name) {
			at = at.make(name)
		}
		if kindOf(m.value) == '{' {
			at.add(membersOf(m.value))
			continue
		}
		at.raw, at.value = m.value, nil
		if s, ok := stringOf(m.value); ok {
			at.value = s
		} else if b, ok := boolOf(m.value); ok {
			at.value = b
		} else if k := kindOf(m.value); k == '-' || '0' <= k && k <= '9' {
			at.value = json.Number(m.value)
		}
	}
}

// springPath splits a name such as spring.ai.mcp at its dots. A part in brackets is not split.
func springPath(name string) []string {
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		return []string{name[1 : len(name)-1]}
	}
	return strings.Split(name, ".")
}

func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}

func (n *springNode) make(name string) *springNode {
	for _, k := range n.children {
		if k.name == name {
			return k
		}
	}
	k := &springNode{name: name}
	n.children = append(n.children, k)
	return k
}

// at returns the node at path, an empty one if there is none. Children of different spellings of a name are joined.
func (n *springNode) at(path ...string) *springNode {
	if len(path) == 0 {
		return n
	}
	joined := &springNode{}
	for _, k := range n.children {
		if plainName(k.name) == path[0] {
			joined.value, joined.raw = k.value, k.raw
			joined.children = append(joined.children, k.children...)
		}
	}
	return joined.at(path[1:]...)
}

// object returns a connection with its names in plain spelling, except the names of environment variables.
func (n *springNode) object() *orderedObject {
	out := &orderedObject{}
	for _, k := range n.children {
		switch {
		case len(k.children) == 0:
			out.set(plainName(k.name), k.raw)
		default:
			inner := &orderedObject{}
			for _, v := range k.children {
				if v.raw != nil {
					inner.set(v.name, v.raw)
				}
			}
			out.set(plainName(k.name), inner)
		}
	}
	return out
}

var isoDuration = lazyregexp.New(`(?i)^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$`)

// springDuration parses 30s, PT30S and a bare number of milliseconds.
func springDuration(s string) (time.Duration, error) {
	if m := isoDuration.FindStringSubmatch(s); m != nil && len(s) > 2 {
		var text strings.Builder
		for i, letter := range []string{"h", "m", "s"} {
			if m[i+1] != "" {
				text.WriteString(m[i+1] + letter)
			}
		}
		return time.ParseDuration(text.String())
	}
	if d, err := time.ParseDuration(s + "ms"); err == nil && d > 0 {
		return d, nil
	}
	d, err := units.Duration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a length of time", s)
	}
	return d, nil
}

// colons is the syntax ${NAME} and ${NAME:text}. The name of a property is replaced by the variable from which Spring
// reads it.
var colons = syntax{
	find: lazyregexp.New(`\$\{([^{}:]+)(?::([^{}]*))?\}`),
	read: func(r *hostReading, m []string) string {
		name := m[1]
		if !isName(name) {
			name = strings.ToUpper(strings.NewReplacer("-", "", ".", "_").Replace(name))
			if !isName(name) {
				return r.toInput(m[0], m[1])
			}
			r.addNote("${%s}: a property; here it is the variable %s", m[1], name)
		}
		if strings.Contains(m[0], ":") {
			return "${" + name + ":-" + m[2] + "}"
		}
		return "${" + name + "}"
	},
	write: func(v variable) (string, bool) {
		switch {
		case v.name == "":
			return "", false
		case v.defaulted:
			return "${" + v.name + ":" + v.fallback + "}", true
		}
		return "${" + v.name + "}", true
	},
}
