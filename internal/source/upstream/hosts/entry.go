package hosts

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// This file has a server in our own format, the form between all programs.

// Entry is a server in our own format, reduced to fields that some host has too, in one form without aliases. The
// zero value is empty.
type Entry struct {
	// values has the fields by their names in order. A value is a string, a []string, a bool, an int, a
	// map[string]*string, in which nil unsets a variable, or a map[string]override.
	values map[string]any
	// preferred has the wanted name for a secret, by the secret.
	preferred map[string]string
}

// override has the differences for one tool.
type override struct {
	Enabled     *bool  `json:"enabled,omitempty"`
	Alias       string `json:"alias,omitempty"`
	Description string `json:"description,omitempty"`
	Retry       bool   `json:"retry,omitempty"`
}

// fieldOrder is the order in which fields are written. A name with a dot is a member of an object.
var fieldOrder = []string{
	"displayName", "description", "type", "command", "args", "env", "envFile", "inheritEnv", "cwd",
	"url", "headers", "headersCommand.command", "headersCommand.args",
	"auth.type", "auth.token", "auth.username", "auth.password", "auth.clientId", "auth.clientSecret",
	"auth.clientMetadataUrl", "auth.grantType", "auth.scopes", "auth.redirectPort",
	"disabled", "lifecycle", "startTimeout", "toolTimeout",
	"tools.include", "tools.exclude", "tools.override", "autoApprove",
}

// identityFields has the fields that say which server it is, rather than how it is treated.
var identityFields = []string{"type", "command", "args", "env", "envFile", "inheritEnv", "cwd", "url", "headers", "headersCommand", "auth"}

func (e *Entry) set(name string, v any) {
	if e.values == nil {
		e.values = map[string]any{}
	}
	if !slices.Contains(fieldOrder, name) {
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

// JSON returns the entry for our settings: standard JSON with the fields in a fixed order.
func (e Entry) JSON() json.RawMessage { return e.object().json() }

func (e Entry) object() *orderedObject {
	out := &orderedObject{}
	for _, name := range fieldOrder {
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
			out.set(outer, &orderedObject{})
		}
		out.list[out.find(outer)].value.(*orderedObject).set(inner, v)
	}
	return out
}

// Transport returns stdio, http or sse.
func (e Entry) Transport() string {
	if t, ok := e.values["type"].(string); ok {
		return t
	}
	return "stdio"
}

// IsGateway reports whether the entry starts Collie, or uses its HTTP listener in the way that connect writes it.
func (e Entry) IsGateway() bool {
	if e.asksHTTP() {
		return true
	}
	command, _ := e.values["command"].(string)
	args, _ := e.values["args"].([]string)
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") == "collie" && slices.Contains(args, "stdio")
}

// asksHTTP reports whether the entry has a token of Collie, or a variable with the name that connect uses for one.
func (e Entry) asksHTTP() bool {
	token, _ := e.values["auth.token"].(string)
	if headers, ok := e.values["headers"].(map[string]*string); ok && headers["Authorization"] != nil {
		token = strings.TrimPrefix(*headers["Authorization"], "Bearer ")
	}
	return strings.HasPrefix(token, "collie_") || strings.HasPrefix(token, "${COLLIE_TOKEN")
}

// CommandLine returns the program and its arguments; nil for a server at a URL.
func (e Entry) CommandLine() []string {
	command, ok := e.values["command"].(string)
	if !ok {
		return nil
	}
	return append([]string{command}, listOf(e.values["args"])...)
}

// Alike reports whether two entries start the same program with the same arguments, or use the same address. Other
// fields do not matter.
func Alike(a, b Entry) bool {
	if x, ok := a.values["url"].(string); ok {
		y, _ := b.values["url"].(string)
		return strings.TrimSuffix(x, "/") == strings.TrimSuffix(y, "/")
	}
	x := a.CommandLine()
	return x != nil && slices.Equal(x, b.CommandLine())
}

// Approvals returns the tools that run without asking a person, "*" for all; nil for none.
func (e Entry) Approvals() []string {
	if e.values["autoApprove"] == true {
		return []string{"*"}
	}
	list, _ := e.values["autoApprove"].([]string)
	return list
}

// WithoutApprovals returns a copy of e in which no tool runs without asking.
func (e Entry) WithoutApprovals() Entry {
	e = e.clone()
	delete(e.values, "autoApprove")
	return e
}

// Named returns a copy of e with a display name.
func (e Entry) Named(title string) Entry {
	e = e.clone()
	e.set("displayName", title)
	return e
}

// Disabled reports whether the server is off.
func (e Entry) Disabled() bool { return e.values["disabled"] == true }

// Same reports whether two entries are the same server, however it is treated. Secrets are not compared, since one
// entry may hold them and the other refer to a store. looks is as in [Entry.Hide].
func Same(a, b Entry, looks func(string) bool) bool {
	x, y := a.identity(looks), b.identity(looks)
	return string(x) == string(y)
}

func (e Entry) identity(looks func(string) bool) json.RawMessage {
	e = e.Hide("", looks, func(string, string) string { return "" })
	out := &orderedObject{}
	for _, m := range e.object().list {
		if slices.Contains(identityFields, m.name) {
			out.set(m.name, m.value)
		}
	}
	return maskSecrets(out.json())
}

// ParseEntry reads an entry of our own settings, with aliases of other hosts. Relative paths are resolved against
// dir, unless dir is empty. foreign are the names of fields that no host has.
func ParseEntry(raw json.RawMessage, dir string) (e Entry, foreign []string, err error) {
	if kindOf(raw) != '{' {
		return Entry{}, nil, errors.New("expected an object with a command or a url")
	}
	r := newReading(&ours, raw, dir)
	r.finish()
	return r.entry, r.unread, nil
}
