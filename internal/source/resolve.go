package source

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// This file finds the action, resource or prompt that a name in a request means.

// Resolve finds what r.Name means in the profile r.Profile. An exposed name takes precedence; "tool/action" with the
// source's own names works as well. An unknown name may belong to a server that is still starting, so Resolve waits
// for that server. The pipeline's interface Catalog has the contract.
func (c *Catalog) Resolve(ctx context.Context, r tool.Request) (*tool.Call, error) {
	call := &tool.Call{Request: r, Args: r.Args}
	err := c.resolve(call)
	found := err == nil && !(call.Kind == tool.KindRead && call.Source == tool.Source(c))
	kind := tool.ListTools
	if call.Kind != tool.KindCall {
		kind = tool.ListResources // sources tell resources and prompts together, after the tools
	}
	if !found && (err == nil || tool.KindOf(err) == tool.NotFound) && c.awaitOwner(ctx, kind, call.Name) {
		err = c.resolve(call)
	}
	if err != nil {
		call.Source, call.Action = nil, nil
	}
	return call, err
}

// resolve fills in the target of call from its name.
func (c *Catalog) resolve(call *tool.Call) error {
	v := c.snapshot().view(call.Profile)
	switch call.Kind {
	case tool.KindCall:
		return c.resolveTool(v, call)
	case tool.KindRead:
		return c.resolveURI(v, call)
	case tool.KindPrompt:
		t, ok := v.prompt(call.Name)
		if !ok {
			return unknownNameError("get prompt", "prompt", call.Name, keys(v.prompts))
		}
		call.Source, call.Target, call.Tool = t.source, t.original, t.source.Name()
		return nil
	case tool.KindComplete:
		return c.resolveRef(v, call)
	case tool.KindRequest:
		return c.resolveRequest(call)
	}
	return &tool.Error{Op: "call", Kind: tool.Internal, Subject: call.Name, Message: fmt.Sprintf("no such kind of call: %q", call.Kind)}
}

// prompt returns the target of a prompt by its exposed name, or by "SOURCE:PROMPT" in its source's own names.
func (v *view) prompt(name string) (target, bool) {
	if t, ok := v.prompts[name]; ok {
		return t, true
	}
	source, original, _ := strings.Cut(name, ":")
	for _, t := range v.prompts {
		if t.original == original && t.source.Name() == source {
			return t, true
		}
	}
	return target{}, false
}

func (c *Catalog) resolveTool(v *view, call *tool.Call) error {
	if v.search != nil && isSearch(call.Name) {
		return c.resolveSearch(v, call)
	}
	t, err := c.findNamed(v, call.Profile, call.Name)
	if err != nil {
		return err
	}
	return c.resolveTarget(v, call, t)
}

// findNamed returns the target of a tool's exposed name, or of "tool/action" in the source's own names.
func (c *Catalog) findNamed(v *view, profile, name string) (target, error) {
	if t, ok := v.tools[name]; ok {
		return t, nil
	}
	if t, ok := v.switchedOff[name]; ok {
		return t, nil
	}
	if t, ok := c.byOwnName(profile, name); ok {
		return t, nil
	}
	if t, ok := c.lookUpInOtherViews(v, name); ok {
		return t, nil
	}
	return target{}, unknownToolError(v, name)
}

// lookUpInOtherViews returns the target that a name has when the profile shows all Tools flat, or all grouped. A client
// may remember such a name from before the views changed.
func (c *Catalog) lookUpInOtherViews(v *view, name string) (target, bool) {
	for _, form := range []tool.View{tool.Flat, tool.Grouped} {
		otherView := c.snapshot().view(v.name + "@" + string(form))
		if t, ok := otherView.tools[name]; ok {
			return t, true
		}
		if t, ok := otherView.switchedOff[name]; ok {
			return t, true
		}
	}
	return target{}, false
}

// resolveTarget fills in source, tool, action and arguments of a call from its target.
func (c *Catalog) resolveTarget(v *view, call *tool.Call, t target) error {
	call.Source, call.Tool = t.source, t.tool.Name
	if !t.grouped {
		call.Action, call.Target, call.Args = t.action, t.original, adaptArguments(t.action, call.Args, "")
		return nil
	}
	return c.resolveAction(v, call, t)
}

// adaptArguments returns arguments for an action, converted as its source's Adapt does ("5" for 5, say) and without the
// argument named except, if that is not empty.
func adaptArguments(a *tool.Action, args json.RawMessage, except string) json.RawMessage {
	switch {
	case a.Adapt != nil:
		return a.Adapt(args, except)
	case except != "":
		return withoutMember(args, except)
	}
	return args
}

// actionName returns the action that a caller means. Our own tools accept several names for some actions.
func actionName(t *tool.Tool, name string) string {
	if name == "" || hasAction(t, name) || !slices.ContainsFunc(t.Actions, func(a tool.Action) bool { return a.Strict }) {
		return name
	}
	return tool.ActionName(name, func(name string) bool { return hasAction(t, name) })
}

// byOwnName resolves "tool/action" and "tool.action" to an action that the profile shows.
func (c *Catalog) byOwnName(profile, name string) (target, bool) {
	i := strings.IndexAny(name, "/.")
	if i < 0 {
		return target{}, false
	}
	src, t := c.snapshot().findTool(name[:i])
	if t == nil {
		return target{}, false
	}
	_, p := c.profile(profile)
	want := actionName(t, name[i+1:])
	for j := range t.Actions {
		if a := &t.Actions[j]; a.Is(want) && p.shows(t, a.Name) {
			return target{source: src, tool: t, action: a, original: a.Name}, true
		}
	}
	return target{}, false
}

// hasAction reports whether a Tool has an action of that name.
func hasAction(t *tool.Tool, name string) bool {
	return slices.ContainsFunc(t.Actions, func(a tool.Action) bool { return a.Is(name) })
}

// resolveAction fills in the action that a call of a grouped tool names.
func (c *Catalog) resolveAction(v *view, call *tool.Call, t target) error {
	name := actionName(t.tool, stringArgument(call.Args, "action"))
	off := t.isOff(&v.profile)
	if !off && (name == helpName(t.tool) || name == helpAction && !hasAction(t.tool, helpAction)) {
		call.Source, call.Target = c, helpURI+t.tool.Name
		if topic := stringArgument(call.Args, "topic"); topic != "" {
			call.Target += "/" + actionName(t.tool, topic)
		}
		return nil
	}
	for i := range t.tool.Actions {
		if a := &t.tool.Actions[i]; a.Is(name) && v.profile.shows(t.tool, a.Name) {
			call.Action, call.Target, call.Args = a, a.Name, ungroupedArguments(t.tool, a, call.Args)
			return nil
		}
	}
	if off { // the pipeline then refuses the call because the tool is off
		call.Action = &tool.Action{Off: "all of its actions are"}
		return nil
	}
	var valid []string
	for _, a := range shownActions(t.tool, &v.profile) {
		valid = append(valid, a.Shown())
	}
	msg := fmt.Sprintf("unknown action %q", name)
	if name == "" {
		msg = `the argument "action" is missing`
	} else if near, ok := tool.Nearest(name, valid); ok {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return &tool.Error{
		Op: "call", Kind: tool.Invalid, Code: "unknown_action", Subject: t.tool.Name, Message: msg,
		Hint:   fmt.Sprintf("actions of %s: %s, %s", t.tool.Name, strings.Join(valid, ", "), helpName(t.tool)),
		Fields: []tool.Field{{Path: "/action", Message: msg}}, Facts: map[string]any{"validActions": valid},
	}
}

// resolveURI finds the source that reads a URI: one that lists it, else one with a matching template. Without either,
// the call goes to the catalog itself, which asks the sources that may know the URI.
func (c *Catalog) resolveURI(v *view, call *tool.Call) error {
	call.Target = call.Name
	if t, ok := v.resources[call.Name]; ok {
		call.Source, call.Target, call.Tool = t.source, t.original, t.source.Name()
		if t.original != call.Name {
			call.Source = aliasedSource{t.source, t.original, call.Name}
		}
		return nil
	}
	if strings.HasPrefix(call.Name, ownScheme) {
		call.Source = c
		return nil
	}
	for _, t := range v.templates {
		if t.pattern.Match(call.Name) != nil {
			call.Source, call.Tool = t.source, t.source.Name()
			return nil
		}
	}
	if len(v.fallbackReaders) == 0 {
		return unknownNameError("read", "resource", call.Name, keys(v.resources))
	}
	call.Source = c
	return nil
}

// resolveRef finds the source that completes an argument: the owner of the prompt or resource in its ref.
func (c *Catalog) resolveRef(v *view, call *tool.Call) error {
	if gjson.GetBytes(call.Params, "ref.type").String() == "ref/prompt" {
		t, ok := v.prompts[call.Name]
		if !ok {
			return unknownNameError("complete", "prompt", call.Name, keys(v.prompts))
		}
		call.Source, call.Target, call.Tool = t.source, t.original, t.source.Name()
		return nil
	}
	if t, ok := v.resources[call.Name]; ok {
		call.Source, call.Target, call.Tool = t.source, t.original, t.source.Name()
		return nil
	}
	for _, t := range v.templates {
		if t.pattern.Raw() == call.Name || t.pattern.Match(call.Name) != nil {
			call.Source, call.Target, call.Tool = t.source, call.Name, t.source.Name()
			return nil
		}
	}
	return unknownNameError("complete", "resource template", call.Name, nil)
}

// unknownToolError returns the error for a tool that is not listed. For a name joined from a tool and an action, such as
// fs_read, the hint says how to call it.
func unknownToolError(v *view, name string) error {
	known := v.names
	if v.search != nil {
		known = slices.Concat(known, v.search.names)
	}
	e := notKnown("call", "unknown tool", name, known)
	if v.search != nil {
		e.Hint = strings.TrimPrefix(e.Hint+"; "+findName+" tells the names of tools", "; ")
	}
	for _, exposed := range v.names {
		t := v.tools[exposed]
		rest, ok := strings.CutPrefix(name, exposed)
		if !ok || !t.grouped {
			continue
		}
		if action := actionName(t.tool, strings.TrimLeft(rest, "_-:")); hasAction(t.tool, action) && v.profile.shows(t.tool, action) {
			e.Message += fmt.Sprintf("; call %q with action=%q", exposed, action)
			return e
		}
	}
	return e
}

// unknownNameError returns the error for a name that nothing has, with the nearest name that exists.
func unknownNameError(op, noun, name string, known []string) error {
	return notKnown(op, "unknown "+noun, name, known)
}

func notKnown(op, message, name string, known []string) *tool.Error {
	e := &tool.Error{Op: op, Kind: tool.NotFound, Subject: name, Message: message, Unresolved: true}
	if near, ok := tool.Nearest(name, known); ok {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}

func keys(m map[string]target) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// InputSchema returns the schema of the action that a call of name would run, nil if there is none. HTTP faces check
// Mcp-Param headers against it (MCP 2026-07-28).
func (c *Catalog) InputSchema(profile, name string) json.RawMessage {
	if t, err := c.findNamed(c.snapshot().view(profile), profile, name); err == nil && t.action != nil {
		return t.action.InputSchema
	}
	return nil
}
