package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// This file lets a person see and change which tools and actions are on.

// ToolConfig is the tool config of a workspace.
type ToolConfig = access.Config

// ConfigMigration is the result of [Notes.Migrate].
type ConfigMigration = access.Migration

// ToolConfigFiles returns the files of a workspace that may hold its tool config, in order of precedence.
func ToolConfigFiles() []string { return access.ConfigFiles() }

// SwitchedTool is what a tool config says of one tool.
type SwitchedTool struct {
	Name    string           `json:"name"`
	On      bool             `json:"enabled"`
	Actions []SwitchedAction `json:"actions"`
}

// SwitchedAction is what a tool config says of one action.
type SwitchedAction struct {
	Name    string `json:"name"`
	On      bool   `json:"on"`
	Default bool   `json:"default"`
}

// Switches reads the tool config anew and returns it, with the switches of each tool in order. It fails if the config
// cannot be read.
func (n *Notes) Switches(ctx context.Context) (*ToolConfig, []SwitchedTool, error) {
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return nil, nil, err
	}
	source.Switches().Forget()
	cfg := source.Switches().Current(ctx)
	if cfg.Problem != nil {
		return nil, nil, cfg.Problem
	}
	return cfg, switchedTools(cfg), nil
}

func switchedTools(cfg *access.Config) []SwitchedTool {
	var out []SwitchedTool
	for _, t := range siyuan.Tools() {
		s := SwitchedTool{Name: t.Name, On: cfg.ToolOn[t.Name]}
		for _, a := range t.Actions {
			s.Actions = append(s.Actions, SwitchedAction{a.Name, cfg.On[t.Name][a.Name], !t.Off && !a.Off})
		}
		out = append(out, s)
	}
	return out
}

// flags are the boolean members of a tool config that are not tools, as people write them.
var flags = [][2]string{
	{"", "readOnlyTools"}, {"writeSafety", "strictMode"}, {"debug", "slimResponses"}, {"errorReporting", "softRecoverableErrors"},
}

// SwitchNames returns the names that [Notes.Switch] accepts: tools, "tool.action" and settings.
func SwitchNames() []string {
	var out []string
	for _, t := range siyuan.Tools() {
		out = append(out, t.Name)
		for _, a := range t.Actions {
			out = append(out, t.Name+"."+a.Name)
		}
	}
	for _, f := range flags {
		out = append(out, flagName(f))
	}
	return out
}

func flagName(f [2]string) string { return strings.TrimPrefix(f[0]+"."+f[1], ".") }

// Switch turns a tool, an action ("fs.rm") or a boolean setting on or off, and returns the config then in effect. A
// tool whose actions are all off gets its default actions. Turning on an action turns on its tool.
func (n *Notes) Switch(ctx context.Context, name string, on bool) (*ToolConfig, error) {
	edit, err := switchEdit(name, on)
	if err != nil {
		return nil, err
	}
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return nil, err
	}
	return source.Switches().Edit(ctx, edit)
}

// mostRules bounds the rules of a person, in bytes, because models read them as a whole.
const mostRules = 16 << 10

// Rules returns the rules that a person has given models for the notes, one a line.
func (n *Notes) Rules(ctx context.Context) (string, error) {
	cfg, _, err := n.Switches(ctx)
	if err != nil {
		return "", err
	}
	return cfg.UserRules, nil
}

// SetRules replaces the rules that [Notes.Rules] returns.
func (n *Notes) SetRules(ctx context.Context, text string) error {
	if len(text) > mostRules {
		return &tool.Error{Op: "set rules", Kind: tool.Invalid, Message: fmt.Sprintf("rules have at most %d bytes", mostRules), Hint: "keep what every turn needs, and put the rest into a note"}
	}
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return err
	}
	_, err = source.Switches().Edit(ctx, func(raw map[string]any) error {
		raw[rulesMember] = strings.TrimSpace(text)
		return nil
	})
	return err
}

// maxMemory bounds the memory of models, in bytes, as their tool does.
const maxMemory = 64 << 10

// Memory returns what models have kept for later in /AGENTS.md.
func (n *Notes) Memory(ctx context.Context) (string, error) {
	cfg, _, err := n.Switches(ctx)
	if err != nil {
		return "", err
	}
	return cfg.Memory, nil
}

// SetMemory replaces the memory that [Notes.Memory] returns.
func (n *Notes) SetMemory(ctx context.Context, text string) error {
	if len(text) > maxMemory {
		return &tool.Error{Op: "set memory", Kind: tool.Invalid, Message: fmt.Sprintf("the memory has at most %d bytes", maxMemory)}
	}
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return err
	}
	_, err = source.Switches().Edit(ctx, func(raw map[string]any) error {
		raw["agentSiyuanMemoryText"] = text
		raw["agentSiyuanMemoryUpdatedAt"] = ""
		if text != "" {
			raw["agentSiyuanMemoryUpdatedAt"] = time.Now().UTC().Format(time.RFC3339)
		}
		return nil
	})
	return err
}

func switchEdit(name string, on bool) (func(raw map[string]any) error, error) {
	for _, f := range flags {
		if name == flagName(f) {
			return func(raw map[string]any) error { setMember(raw, f[0], f[1], on); return nil }, nil
		}
	}
	toolName, actionName, isAction := strings.Cut(name, ".")
	tools := siyuan.Tools()
	i := slices.IndexFunc(tools, func(t action.Tool) bool { return t.Name == toolName })
	if i < 0 {
		return nil, unknownSwitch(name)
	}
	t := &tools[i]
	if isAction {
		actionName = strings.ReplaceAll(actionName, "-", "_")
		if !slices.ContainsFunc(t.Actions, func(a *action.Action) bool { return a.Name == actionName }) {
			return nil, unknownSwitch(name)
		}
	}
	return func(raw map[string]any) error {
		none := !anyOn(raw, t.Name)
		if isAction {
			setMember(raw, t.Name, "actions."+actionName, on)
			if on {
				setMember(raw, t.Name, "enabled", true)
			}
			return nil
		}
		setMember(raw, t.Name, "enabled", on)
		for _, a := range t.Actions {
			if on && none && !a.Off {
				setMember(raw, t.Name, "actions."+a.Name, true)
			}
		}
		return nil
	}, nil
}

func unknownSwitch(name string) error {
	e := &tool.Error{
		Op: "switch", Kind: tool.NotFound, Subject: name, Message: "there is no such tool, action or setting",
		Hint: "collie siyuan config show lists them",
	}
	if near, ok := tool.Nearest(name, SwitchNames()); ok {
		e.Hint = fmt.Sprintf("did you mean %s?", near)
	}
	return e
}

// anyOn reports whether an action of a tool is on in a canonical config.
func anyOn(raw map[string]any, toolName string) bool {
	object, _ := raw[toolName].(map[string]any)
	actions, _ := object["actions"].(map[string]any)
	for _, on := range actions {
		if on == true {
			return true
		}
	}
	return false
}

// setMember sets a member of the object in, or of raw if in is empty. A name "a.b" means the member b of the object
// a.
func setMember(raw map[string]any, in, name string, value any) {
	path := strings.Split(strings.TrimPrefix(in+"."+name, "."), ".")
	for _, key := range path[:len(path)-1] {
		next, ok := raw[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			raw[key] = next
		}
		raw = next
	}
	raw[path[len(path)-1]] = value
}

// Migrate converts a tool config of an older format, after a backup.
func (n *Notes) Migrate(ctx context.Context) (ConfigMigration, error) {
	source, err := n.verifiedSource(ctx)
	if err != nil {
		return ConfigMigration{}, err
	}
	return source.Switches().Migrate(ctx)
}
