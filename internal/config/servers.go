package config

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// This file reads the entries of MCP servers as raw JSON; package entry interprets them.

// ServerEntry is one server as a file defines it. This package does not interpret the entry.
type ServerEntry struct {
	Name string
	// Raw is the entry as standard JSON of any type; order and numbers are as written.
	Raw json.RawMessage
	// File is the path, as given, of the file that defines the entry. Dir is that file's absolute folder,
	// against which relative paths in the entry are resolved.
	File, Dir string
	// Workspace is the value of ${workspaceFolder}: the folder of the project that defines the entry; empty
	// for the user's own servers.
	Workspace string
	// Untrusted marks a server of a project that is not trusted. It is listed as disabled for that reason and
	// never started. Raw then holds only what may be shown, switched off.
	Untrusted bool

	at node
}

// Position returns line and column, from 1, of the value at a JSON pointer into Raw, or of the nearest
// enclosing value.
func (s ServerEntry) Position(pointer string) (line, column int) {
	for {
		if v := s.at.value.Find(pointer); v != nil {
			return s.at.doc.Position(v.StartOffset)
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
}

// Finding returns a finding about the value at a JSON pointer into Raw.
func (s ServerEntry) Finding(pointer, rule string, severity Severity, message string) Finding {
	f := Finding{
		File: s.File, Pointer: s.at.pointer + pointer,
		Rule: rule, Severity: severity, Message: message,
	}
	f.Line, f.Column = s.Position(pointer)
	return f
}

// readServers reads "mcpServers", or "servers" as VS Code calls it.
func (c *Config) readServers(d *decoder, n node) {
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, "an object of servers by name")
		return
	}
	ms := n.members()
	for i := range ms {
		c.addServer(d, n.child(&ms[i]), jsonc.Name(&ms[i]))
	}
}

func (c *Config) addServer(d *decoder, n node, name string) {
	entry := ServerEntry{
		Name: name, Raw: jsonc.Standard(n.value),
		File: n.doc.file, Dir: n.doc.dir, at: n,
	}
	i := slices.IndexFunc(c.Servers, func(s ServerEntry) bool { return s.Name == name })
	switch {
	case i < 0:
		c.Servers = append(c.Servers, entry)
	case c.Servers[i].at.doc == n.doc: // duplicates within one object were already reported
		if c.Servers[i].at.pointer != n.pointer {
			d.fail(n, "R-CF-3", "server %q is defined under mcpServers and under servers; keep one of them", name)
		}
	default: // a later file overrides an earlier one
		c.Servers[i] = entry
	}
}

func (c *Config) serverValues() any {
	out := make(map[string]json.RawMessage, len(c.Servers))
	for _, s := range c.Servers {
		if !s.Untrusted { // an untrusted server has no effect
			out[s.Name] = s.Raw
		}
	}
	return out
}

// isBareList reports whether a file is {"name": entry, …} without any section, as the web pages of servers show it.
func (n node) isBareList(known fields) bool {
	ms := n.members()
	for i := range ms {
		if _, section := known[jsonc.Name(&ms[i])]; section || !looksLikeServer(&ms[i].Value) {
			return false
		}
	}
	return len(ms) > 0
}

func looksLikeServer(v *hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	return ok && slices.ContainsFunc([]string{"command", "url", "serverUrl", "httpUrl"}, func(name string) bool {
		return jsonc.Member(o, name) != nil
	})
}
