package siyuan

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/guide"
	"collie/internal/tool"
)

// This file describes the tools of this source to the rest of the program.

// publish publishes the offer under a tool config.
func (s *Source) publish(cfg *access.Config) {
	offer := &tool.Offer{Softens: cfg.SoftErrors}
	for i := range s.tools {
		t := describeTool(&s.tools[i], cfg)
		t.Help = func(ctx context.Context, profile, topic string) (string, error) {
			return s.helpPage(ctx, profile, t.Name, topic)
		}
		offer.Tools = append(offer.Tools, t)
	}
	addGuide(offer)
	s.offer.Store(offer)
}

// describeTool returns a tool as the rest of the program sees it.
func describeTool(t *action.Tool, cfg *access.Config) tool.Tool {
	out := tool.Tool{
		Name: t.Name, Title: t.Title, Description: t.About, View: tool.Grouped, Prefix: t.Name + "__",
		Actions: make([]tool.Action, len(t.Actions)),
	}
	if !cfg.ToolOn[t.Name] {
		out.Off = offBecause("the tool config says so", t.Name)
	}
	for i, a := range t.Actions {
		out.Actions[i] = describeAction(a)
		if out.Actions[i].Off = offReason(a, cfg); out.Actions[i].Off != "" && !cfg.Unreadable && !cfg.ReadOnly {
			out.Actions[i].Off = offBecause(out.Actions[i].Off, a.Tool+"."+a.Name)
		}
	}
	return out
}

// offBecause adds to the reason why name is off what a person can do about it.
func offBecause(reason, name string) string {
	return fmt.Sprintf("%s; collie siyuan config set %s on changes that", reason, name)
}

// offReason returns why an action is off, "" if it is on.
func offReason(a *action.Action, cfg *access.Config) string {
	switch {
	case cfg.ReadOnly && a.Class != action.Reads:
		return "the tools are read-only"
	case cfg.On[a.Tool][a.Name]:
		return ""
	case cfg.Unreadable:
		return "the tool config of the workspace cannot be read, so nothing is written"
	case a.Off && cfg.Source == "":
		return "it is off by default"
	}
	return "the tool config says so"
}

// describeAction returns an action as the rest of the program sees it.
func describeAction(a *action.Action) tool.Action {
	about := a.Purpose + "."
	if a.Guide != "" {
		about += " " + a.Guide
	}
	switch {
	case a.Dangerous:
		about += " A person confirms it."
	case a.DangerousWith != "":
		about += " A person confirms it with " + a.DangerousWith + "."
	}
	out := tool.Action{
		Name: a.Name, Description: about, InputSchema: a.Schema(), Signature: a.Signature(),
		Common: a.Common, Listed: a.Listed(), Short: a.Short(), Positional: a.Positional, Aliases: a.Aliases, Example: guide.CommandLine(a),
		DirectOnly: a.DirectOnly, Strict: true, Adapt: a.Adapt,
		ReadOnly: a.Class == action.Reads, Idempotent: a.Class == action.Reads,
		Dangerous: a.Dangerous, DangerousWith: a.DangerousWith, Destructive: a.Dangerous || a.DangerousWith != "", Risk: a.Risk, Effects: a.Effects,
	}
	out.Definition = mcpDefinition(&out)
	return out
}

// mcpDefinition returns an action as an MCP tool definition.
func mcpDefinition(a *tool.Action) json.RawMessage {
	def := make([]byte, 0, len(a.Name)+len(a.Description)+len(a.InputSchema)+192)
	def = append(def, `{"name":`...)
	def = append(def, action.Quote(a.Name)...)
	def = append(def, `,"description":`...)
	def = append(def, action.Quote(a.Description)...)
	def = append(def, `,"inputSchema":`...)
	def = append(def, a.InputSchema...)
	def = append(def, `,"annotations":{"destructiveHint":`...)
	def = strconv.AppendBool(def, a.Destructive)
	def = append(def, `,"openWorldHint":false,"readOnlyHint":`...)
	def = strconv.AppendBool(def, a.ReadOnly)
	return append(def, `}}`...)
}
