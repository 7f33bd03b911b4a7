package connection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/tool"
)

// This file reads saved connections from the settings.

// Settings are the saved connections.
type Settings struct {
	// Enabled is siyuan.enabled; default true. [Resolve] ignores it.
	Enabled bool
	// Current is the name of the connection used by default; empty if the settings name none.
	Current string
	// Connections are sorted by name. Invalid ones are left out; choosing one of those fails with what is wrong in
	// it.
	Connections []Connection
	// File is the old file that was read; empty for collie.json.
	File string

	broken map[string]Problem // errors of invalid connections, by name
}

// Connection is one saved kernel.
type Connection struct {
	Name string
	// URL is the address of the kernel, without a trailing slash, or a text with ${…}.
	URL string
	// Workspace is the folder or id that the kernel must report as its workspace; empty if none is recorded.
	Workspace string
	// Written is the token as written in the file, see [Parse]. [Resolve] finds the real token; TokenShown describes
	// it to people.
	Written Token

	literal bool // Written is the token itself, whatever it looks like
}

// TokenShown describes the token to people: "empty", "configured", or its origin, such as "env:SIYUAN_WORK" or
// "${secret:work}".
func (c Connection) TokenShown() string {
	if s := c.Written.text; !c.literal && isReference(s) {
		if strings.HasPrefix(s, fromCommand) {
			return fromCommand + "…" // without the command, since people write tokens into commands too
		}
		return s
	}
	return c.Written.String()
}

// Vault stands for the built-in vault where a current connection is named.
const Vault = "vault"

// UsesVault reports whether the built-in vault is chosen, whatever connections are saved.
func (s *Settings) UsesVault() bool {
	_, saved := s.Get(Vault)
	_, broken := s.broken[Vault]
	return s.Current == Vault && !saved && !broken
}

// Names returns the names of the connections, sorted.
func (s *Settings) Names() []string {
	var out []string
	for _, c := range s.Connections {
		out = append(out, c.Name)
	}
	return out
}

// currentOrOnly returns the name of the current connection, else of the only one, else "".
func (s *Settings) currentOrOnly() string {
	if s.Current != "" || len(s.Connections)+len(s.broken) != 1 {
		return s.Current
	}
	for name := range s.broken {
		return name
	}
	return s.Connections[0].Name
}

// Get returns a connection by its name.
func (s *Settings) Get(name string) (Connection, bool) {
	for _, c := range s.Connections {
		if c.Name == name {
			return c, true
		}
	}
	return Connection{}, false
}

// Parse parses the section "siyuan" of collie.json, standard JSON:
//
//	{"enabled": true, "current": "work", "connections": {
//	  "work": {"url": "http://127.0.0.1:6806", "token": "${secret:siyuan}", "workspace": "/home/me/SiYuan"}}}
//
// A token may also be env:NAME, cmd:PROGRAM WITH ARGUMENTS, or the token itself. also names further members of the
// section, which other parts read. It returns what could be read even if there are problems, which come in a fixed
// order. A nil or empty section is a missing one.
func Parse(raw json.RawMessage, also ...string) (Settings, []Problem) {
	s := Settings{Enabled: true}
	if len(bytes.TrimSpace(raw)) == 0 {
		return s, nil
	}
	var ps problems
	section, ok := parseObject(&ps, "", raw, "an object with connections")
	if !ok {
		return s, ps
	}
	names := append([]string{"enabled", "current", "connections"}, also...)
	warnUnknown(&ps, "", section, names)
	if v, present := section["enabled"]; present && json.Unmarshal(v, &s.Enabled) != nil {
		ps.addError("/enabled", "type", "expected true or false, got %s", jsonKind(v))
	}
	s.Current, _ = readString(&ps, "/current", section["current"], "the name of a connection")
	s.readConnections(&ps, "/connections", section["connections"], layout{url: "url", token: "token", workspace: "workspace"})
	s.checkCurrent(&ps, "/current")
	return s, ps
}

// checkCurrent reports a current connection that does not exist.
func (s *Settings) checkCurrent(ps *problems, pointer string) {
	_, known := s.Get(s.Current)
	if _, broken := s.broken[s.Current]; s.Current != "" && !known && !broken && !s.UsesVault() {
		ps.addError(pointer, "value", "%s", unknownConnectionMessage(s.Current, s.Names()))
	}
}

// layout describes how a file writes a connection.
type layout struct {
	url, token, workspace string // names of the fields; workspace may be empty
	literal               bool   // texts have no variables and references
}

// readConnections reads an object of connections by name.
func (s *Settings) readConnections(ps *problems, pointer string, raw json.RawMessage, l layout) {
	if raw == nil {
		return
	}
	all, _ := parseObject(ps, pointer, raw, "an object of connections by name")
	s.broken = map[string]Problem{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		before := len(*ps)
		if c, ok := l.readConnection(ps, pointer+"/"+escapePointer(name), name, all[name]); ok {
			s.Connections = append(s.Connections, c)
			continue
		}
		for _, p := range (*ps)[before:] {
			if p.Severity == SeverityError {
				s.broken[name] = p
			}
		}
	}
}

// readConnection reads one connection.
func (l layout) readConnection(ps *problems, at, name string, raw json.RawMessage) (Connection, bool) {
	c := Connection{Name: name, literal: l.literal}
	fields, ok := parseObject(ps, at, raw, `an object such as {"`+l.url+`": "`+Proposed+`"}`)
	if !ok {
		return c, false
	}
	if strings.TrimSpace(name) == "" {
		ps.addError(at, "value", "a connection needs a name")
		return c, false
	}
	if !l.literal {
		warnUnknown(ps, at, fields, []string{l.url, l.token, l.workspace})
	}
	var okURL, okToken, okWorkspace bool
	c.URL, okURL = l.readAddress(ps, at+"/"+l.url, fields[l.url])
	c.Written.text, okToken = readString(ps, at+"/"+l.token, fields[l.token], "a token")
	okWorkspace = true
	if l.workspace != "" {
		c.Workspace, okWorkspace = readString(ps, at+"/"+l.workspace, fields[l.workspace], "the folder or the id of a workspace")
	}
	return c, okURL && okToken && okWorkspace
}

// readAddress reads a URL. One with variables is checked after they are expanded.
func (l layout) readAddress(ps *problems, at string, raw json.RawMessage) (string, bool) {
	s, ok := readString(ps, at, raw, "a URL")
	switch {
	case !ok:
		return "", false
	case s == "":
		ps.addError(at, "value", "expected the address of the kernel, such as %s", Proposed)
		return "", false
	case strings.Contains(s, readVariable) && !l.literal:
		return s, true
	}
	checked, err := Address(s)
	if err != nil {
		ps.addError(at, "value", "%v", err)
	}
	return checked, err == nil
}

// readString reads a string that may be missing.
func readString(ps *problems, pointer string, raw json.RawMessage, expected string) (s string, ok bool) {
	if raw == nil {
		return "", true
	}
	if err := json.Unmarshal(raw, &s); err != nil || jsonKind(raw) == "null" {
		ps.addError(pointer, "type", "expected %s as a string, got %s", expected, jsonKind(raw))
		return "", false
	}
	return strings.TrimSpace(s), true
}

func parseObject(ps *problems, pointer string, raw json.RawMessage, expected string) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	switch err := json.Unmarshal(raw, &m); {
	case !json.Valid(raw):
		ps.addError(pointer, "json", "it is not valid JSON")
	case err != nil || m == nil:
		ps.addError(pointer, "type", "expected %s, got %s", expected, jsonKind(raw))
	default:
		return m, true
	}
	return nil, false
}

// warnUnknown warns about unknown members. Names that start with "x-" are the user's own.
func warnUnknown(ps *problems, pointer string, fields map[string]json.RawMessage, known []string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(known, name) || strings.HasPrefix(name, "x-") {
			continue
		}
		meant := ""
		if near, ok := tool.Nearest(name, known); ok {
			meant = `; did you mean "` + near + `"?`
		}
		ps.addWarning(pointer+"/"+escapePointer(name), "unknown", "unknown field%s", meant)
	}
}

func jsonKind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// escapePointer returns a name as a part of a JSON pointer.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Severity is how bad a [Problem] is.
type Severity string

// The severities. A connection with an error is not used.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one thing that is wrong in the settings.
type Problem struct {
	Pointer  string // JSON pointer into the section or the old file; "" is the whole
	Rule     string // stable id: "type", "value", "unknown", "json", or "read" for an old file that cannot be read
	Severity Severity
	Message  string
}

// String returns "pointer: message".
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// problems collects problems.
type problems []Problem

func (ps *problems) addError(pointer, rule, format string, args ...any) {
	*ps = append(*ps, Problem{pointer, rule, SeverityError, fmt.Sprintf(format, args...)})
}

func (ps *problems) addWarning(pointer, rule, format string, args ...any) {
	*ps = append(*ps, Problem{pointer, rule, SeverityWarning, fmt.Sprintf(format, args...)})
}
