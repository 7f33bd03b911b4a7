package listing

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"collie/internal/mcp"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// This file reads and checks the definition of one tool.

// The members that are read of a tool's definition, by position.
const (
	defName = iota
	defTitle
	defDescription
	defSchema
	defHints
	defFields
)

var definitionKeys = [defFields]string{"name", "title", "description", "inputSchema", "annotations"}

// action reads and checks a tool's definition, and applies the server's settings to it.
func (l *Listing) action(def json.RawMessage) (tool.Action, error) {
	if len(def) > toolcache.MaxDefinition {
		return tool.Action{}, tooLargeDefinition(def)
	}
	var v [defFields]json.RawMessage
	mcp.GetAll(def, definitionKeys[:], v[:])
	name, err := checkName(v[defName], def)
	if err != nil {
		return tool.Action{}, err
	}
	a := tool.Action{Name: name, Definition: def, InputSchema: v[defSchema], Changed: l.changed(name)}
	a.Title, _ = mcp.Text(v[defTitle])
	a.Description, _ = mcp.Text(v[defDescription])
	if hints := v[defHints]; hints != nil {
		a.ReadOnly = string(mcp.Get(hints, "readOnlyHint")) == "true"
		a.Destructive = string(mcp.Get(hints, "destructiveHint")) == "true"
		a.Idempotent = string(mcp.Get(hints, "idempotentHint")) == "true"
	}
	if isMissing(a.InputSchema) {
		a.InputSchema = json.RawMessage(`{"type":"object"}`)
		a.Definition = mcp.Edit(def, mcp.Field{Key: "inputSchema", Value: a.InputSchema})
	}
	if a.InputSchema[0] != '{' {
		return a, fmt.Errorf("tool %q: inputSchema is not an object", name)
	}
	if toolcache.Deeper(a.InputSchema, toolcache.MaxSchemaDepth) {
		return a, fmt.Errorf("tool %q: inputSchema is nested deeper than %d", name, toolcache.MaxSchemaDepth)
	}
	conf := l.opts.Settings()
	a.Off, a.Timeout, a.Unchecked = l.switchedOff(name), conf.MaxToolTimeout, conf.Unchecked
	own := conf.Tools.Override[name]
	a.Alias = own.Alias
	if own.Description != "" {
		a.Authored, a.Description = a.Description, own.Description
		a.Definition = mcp.Edit(a.Definition, mcp.Field{Key: "description", Value: mcp.Quote(own.Description)})
	}
	return a, nil
}

// dropTakenAliases removes aliases that are the name, or the alias, of another action.
func (l *Listing) dropTakenAliases(actions []tool.Action) {
	taken := make(map[string]bool, len(actions))
	for i := range actions {
		taken[actions[i].Name] = true
	}
	for i := range actions {
		a := &actions[i]
		if a.Alias == "" {
			continue
		}
		if taken[a.Alias] {
			l.opts.Log.Warn("the alias of a tool is the name of another one, it is not used", "tool", a.Name, "alias", a.Alias)
			a.Alias = ""
			continue
		}
		taken[a.Alias] = true
	}
}

func isMissing(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

func tooLargeDefinition(def json.RawMessage) error {
	return fmt.Errorf("definition of %q is larger than %d bytes", mcp.GetString(def, "name"), toolcache.MaxDefinition)
}

// entryName returns the name of a list entry.
func entryName(def json.RawMessage) (string, error) {
	if len(def) > toolcache.MaxDefinition {
		return "", tooLargeDefinition(def)
	}
	return checkName(mcp.Get(def, "name"), def)
}

// checkName returns the name in raw after checking it; def is the whole entry, for errors.
func checkName(raw, def json.RawMessage) (string, error) {
	name, ok := mcp.Text(raw)
	if !ok || name == "" {
		return "", fmt.Errorf("an entry without a name: %.80s", def)
	}
	return name, toolcache.CheckName(name)
}

// switchedOff returns why a tool is left out by its pins or by the entry's tools setting; empty if it is not. An
// exclude wins over an include, an override over both.
func (l *Listing) switchedOff(name string) string {
	if why := l.withheldReason(name); why != "" {
		return why
	}
	t := &l.opts.Settings().Tools
	if o, ok := t.Override[name]; ok && o.Enabled != nil {
		if *o.Enabled {
			return ""
		}
		return "it is switched off in the settings of server " + l.opts.Name
	}
	if anyMatch(t.Exclude, name) {
		return "the settings of server " + l.opts.Name + " leave it out (tools.exclude)"
	}
	if len(t.Include) > 0 && !anyMatch(t.Include, name) {
		return "the settings of server " + l.opts.Name + " offer only other tools (tools.include)"
	}
	return ""
}

// noSlash puts a character that no name has in place of the slash, which path.Match lets no star match.
var noSlash = strings.NewReplacer("/", "\x00")

func anyMatch(globs []string, name string) bool {
	for _, g := range globs {
		if ok, err := path.Match(noSlash.Replace(g), noSlash.Replace(name)); ok && err == nil {
			return true
		}
	}
	return false
}

// isMethodNotFound reports whether a server said that it does not know a method.
func isMethodNotFound(err error) bool {
	e, ok := errors.AsType[*mcp.RPCError](err)
	return ok && e.Code() == mcp.CodeMethodNotFound
}
