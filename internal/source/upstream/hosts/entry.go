package hosts

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Entry is a server in our words: those of its fields that any host has too, in their one
// form and without aliases. The zero value is an empty entry.
type Entry struct {
	// values by the names in order. A value is a string, a []string, a bool, an int, a
	// map[string]*string, in which nil takes a variable away, or a map[string]override.
	values map[string]any
	// preferred are names that secrets in it should have, by the secrets.
	preferred map[string]string
}

// override is what differs for one tool.
type override struct {
	Enabled     *bool  `json:"enabled,omitempty"`
	Alias       string `json:"alias,omitempty"`
	Description string `json:"description,omitempty"`
	Retry       bool   `json:"retry,omitempty"`
}

// order is how the fields of an entry are written. What has a dot stands in an object.
var order = []string{
	"displayName", "description", "type", "command", "args", "env", "envFile", "inheritEnv", "cwd",
	"url", "headers", "headersCommand.command", "headersCommand.args",
	"auth.type", "auth.token", "auth.username", "auth.password", "auth.clientId", "auth.clientSecret",
	"auth.clientMetadataUrl", "auth.grantType", "auth.scopes", "auth.redirectPort",
	"disabled", "lifecycle", "startTimeout", "toolTimeout",
	"tools.include", "tools.exclude", "tools.override", "autoApprove",
}

// identity are the fields that say which server it is, rather than how it is treated.
var identity = []string{"type", "command", "args", "env", "envFile", "inheritEnv", "cwd", "url", "headers", "headersCommand", "auth"}

func (e *Entry) set(name string, v any) {
	if e.values == nil {
		e.values = map[string]any{}
	}
	if !slices.Contains(order, name) {
		panic("hosts: no such field: " + name)
	}
	e.values[name] = v
}

func (e *Entry) prefer(secret, name string) {
	if e.preferred == nil {
		e.preferred = map[string]string{}
	}
	e.preferred[secret] = name
}

func (e Entry) clone() Entry {
	return Entry{maps.Clone(e.values), maps.Clone(e.preferred)}
}

// JSON is the entry as it is written into our settings: standard JSON, fields in a fixed order.
func (e Entry) JSON() json.RawMessage { return e.object().json() }

func (e Entry) object() *ordered {
	out := &ordered{}
	for _, name := range order {
		v, ok := e.values[name]
		if !ok {
			continue
		}
		outer, inner, nested := strings.Cut(name, ".")
		if !nested {
			out.set(name, v)
			continue
		}
		if !out.has(outer) {
			out.set(outer, &ordered{})
		}
		out.list[out.find(outer)].value.(*ordered).set(inner, v)
	}
	return out
}

// Transport is stdio, http or sse.
func (e Entry) Transport() string {
	if t, ok := e.values["type"].(string); ok {
		return t
	}
	return "stdio"
}

// IsGateway reports whether the entry starts Collie itself, or asks one over HTTP as connect has written it.
func (e Entry) IsGateway() bool {
	if e.asksHTTP() {
		return true
	}
	command, _ := e.values["command"].(string)
	args, _ := e.values["args"].([]string)
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") == "collie" && slices.Contains(args, "stdio")
}

// asksHTTP reports whether the entry has a token of Collie, or a variable that is called as one.
func (e Entry) asksHTTP() bool {
	token, _ := e.values["auth.token"].(string)
	if headers, ok := e.values["headers"].(map[string]*string); ok && headers["Authorization"] != nil {
		token = strings.TrimPrefix(*headers["Authorization"], "Bearer ")
	}
	return strings.HasPrefix(token, "collie_") || strings.HasPrefix(token, "${COLLIE_TOKEN")
}

// CommandLine is the program and its arguments; nil for a server at a URL.
func (e Entry) CommandLine() []string {
	command, ok := e.values["command"].(string)
	if !ok {
		return nil
	}
	return append([]string{command}, listOf(e.values["args"])...)
}

// Alike reports whether two entries start the same program with the same arguments, or reach the same
// address, whatever else they say.
func Alike(a, b Entry) bool {
	if x, ok := a.values["url"].(string); ok {
		y, _ := b.values["url"].(string)
		return strings.TrimSuffix(x, "/") == strings.TrimSuffix(y, "/")
	}
	x := a.CommandLine()
	return x != nil && slices.Equal(x, b.CommandLine())
}

// Approvals are the tools that run without asking a person, "*" for all; nil for none.
func (e Entry) Approvals() []string {
	if e.values["autoApprove"] == true {
		return []string{"*"}
	}
	list, _ := e.values["autoApprove"].([]string)
	return list
}

// WithoutApprovals is the entry without them.
func (e Entry) WithoutApprovals() Entry {
	e = e.clone()
	delete(e.values, "autoApprove")
	return e
}

// Named is the entry with a name for people.
func (e Entry) Named(title string) Entry {
	e = e.clone()
	e.set("displayName", title)
	return e
}

// Disabled reports whether the server is off.
func (e Entry) Disabled() bool { return e.values["disabled"] == true }

// Same reports whether two entries are the same server, however it is treated. Secrets are not
// compared: it does not matter whether they stand in the entry or in a store. looks is as in
// [Entry.Hide].
func Same(a, b Entry, looks func(string) bool) bool {
	x, y := a.identity(looks), b.identity(looks)
	return string(x) == string(y)
}

func (e Entry) identity(looks func(string) bool) json.RawMessage {
	e = e.Hide("", looks, func(string, string) string { return "" })
	out := &ordered{}
	for _, m := range e.object().list {
		if slices.Contains(identity, m.name) {
			out.set(m.name, m.value)
		}
	}
	return maskSecrets(out.json())
}

// ParseEntry reads an entry of our own settings, aliases of other hosts included. Relative paths
// start at dir; if that is empty they stay. It returns the names of the fields that no host has.
func ParseEntry(raw json.RawMessage, dir string) (e Entry, others []string, err error) {
	if kindOf(raw) != '{' {
		return Entry{}, nil, errors.New("expected an object with a command or a url")
	}
	r := newReading(&ours, raw, dir)
	r.finish()
	return r.entry, r.left, nil
}
