package siyuan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/guide"
	"collie/internal/tool"
)

// This file serves help pages, as results of the action help, as resources and as prompts.

// The URIs of help.
const (
	helpURI      = "siyuan://help/"
	overviewURI  = helpURI + "tool-overview"
	rulesURI     = helpURI + "user-rules"
	shortPathURI = helpURI + "path-semantics" // an older name
)

// helpPage returns the page of an action or a tool, with what the current levels allow.
func (s *Source) helpPage(ctx context.Context, profile, name, topic string) (string, error) {
	i := slices.IndexFunc(s.tools, func(t action.Tool) bool { return t.Name == name })
	if i < 0 {
		return "", unknownPageError(helpURI + name)
	}
	t := &s.tools[i]
	if topic == "" {
		cfg := s.switches.Last()
		return guide.Overview(t, func(a *action.Action) bool { return offReason(a, cfg) == "" && !a.DirectOnly }), nil
	}
	a := s.index[name][topic]
	if a == nil {
		return "", unknownPageError(helpURI + name + "/" + topic)
	}
	page := guide.Page(a)
	if counts, capped, err := s.levelCounts(ctx, profile); err == nil { // without a kernel the page just lacks the counts
		page += "\n" + guide.Levels(a, counts, capped) + "\n"
	}
	return page, nil
}

// levelCounts returns how many notebooks have each level for the callers of a profile, without hidden ones, and whether
// the profile lowers levels.
func (s *Source) levelCounts(ctx context.Context, profile string) (map[access.Level]int, bool, error) {
	if err := s.opts.Verifier.Verify(ctx); err != nil {
		return nil, false, err
	}
	levels, err := s.levelsOf(ctx, profile, false)
	if err != nil {
		return nil, false, err
	}
	visible, err := levels.Visible(ctx)
	out := map[access.Level]int{}
	for _, n := range visible {
		out[levels.Of(n.ID)]++
	}
	return out, levels.Capped(), err
}

// unknownPageError returns the error for an address of help that has no page.
func unknownPageError(uri string) error {
	return &tool.Error{Op: "read", Kind: tool.NotFound, Subject: uri, Message: "unknown resource", Hint: overviewURI + " lists the pages"}
}

// addGuide adds the pages of advice, the help pages and the prompts to an offer.
func addGuide(o *tool.Offer) {
	add := func(uri, name string) {
		o.Resources = append(o.Resources, tool.Resource{URI: uri, Definition: resourceDefinition("uri", uri, name)})
	}
	add(overviewURI, "SiYuan tools and their actions")
	for _, t := range guide.Topics() {
		add(helpURI+t.Name, t.Title)
	}
	add(rulesURI, "The person's rules")
	for _, t := range []struct{ pattern, name string }{
		{helpURI + "action/{tool}/{action}", "Help for a SiYuan action"},
		{helpURI + "{tool}/{action}", "Help for a SiYuan action"},
		{helpURI + "{page}", "A page of help, or one of a SiYuan tool"},
	} {
		o.Templates = append(o.Templates, tool.Template{Pattern: t.pattern, Definition: resourceDefinition("uriTemplate", t.pattern, t.name)})
	}
	for _, p := range guide.Prompts() {
		def, err := json.Marshal(map[string]any{
			"name": p.Name, "title": p.Title, "description": p.Description,
			"arguments": []map[string]any{{"name": "task", "description": "what is to be done", "required": false}},
		})
		if err != nil {
			panic("siyuan: a prompt does not encode: " + err.Error())
		}
		o.Prompts = append(o.Prompts, tool.Prompt{Name: p.Name, Definition: def})
	}
}

// resourceDefinition returns the MCP definition of a resource or a template, whose address is in the member field.
func resourceDefinition(field, uri, name string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{field: uri, "name": name, "mimeType": "text/markdown"})
	if err != nil {
		panic("siyuan: a resource does not encode: " + err.Error())
	}
	return raw
}

// readHelp serves a help page as a resource.
func (s *Source) readHelp(ctx context.Context, c *tool.Call) (tool.Result, error) {
	text, err := s.helpText(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	raw, err := json.Marshal(map[string]any{"contents": []map[string]string{{"uri": c.Target, "mimeType": "text/markdown", "text": text}}})
	if err != nil {
		return tool.Result{}, &tool.Error{Op: "read", Kind: tool.Internal, Subject: c.Target, Err: err}
	}
	return tool.Result{Raw: raw}, nil
}

// helpText returns the page of help that a request to read a resource names.
func (s *Source) helpText(ctx context.Context, c *tool.Call) (string, error) {
	path, ok := strings.CutPrefix(c.Target, helpURI)
	if !ok {
		return "", unknownPageError(c.Target)
	}
	switch c.Target {
	case overviewURI:
		return s.overview(ctx, c.Profile)
	case rulesURI:
		cfg, err := s.currentConfig(ctx)
		if err != nil {
			return "", err
		}
		if cfg.UserRules != "" {
			return cfg.UserRules, nil
		}
		return "No rules are set.\n", nil
	case shortPathURI:
		path = "document-path-semantics"
	}
	for _, t := range guide.Topics() {
		if t.Name == path {
			return t.Text, nil
		}
	}
	name, topic, isPage := strings.Cut(strings.TrimPrefix(path, "action/"), "/")
	cfg := s.switches.Last()
	if isPage {
		topic = tool.ActionName(topic, func(topic string) bool { return s.index[name][topic] != nil })
		if a := s.index[name][topic]; a == nil || a.DirectOnly || offReason(a, cfg) != "" {
			return "", unknownPageError(c.Target)
		}
	}
	if !cfg.ToolOn[name] {
		return "", unknownPageError(c.Target)
	}
	return s.helpPage(ctx, c.Profile, name, topic)
}

// overview returns the pages of all tools that are on.
func (s *Source) overview(ctx context.Context, profile string) (string, error) {
	var b strings.Builder
	cfg := s.switches.Last()
	for _, t := range s.tools {
		if !cfg.ToolOn[t.Name] {
			continue
		}
		page, err := s.helpPage(ctx, profile, t.Name, "")
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, page)
	}
	return b.String(), nil
}

// fillPrompt serves a prompt, which describes a workflow, with the task of the request filled in.
func (s *Source) fillPrompt(_ context.Context, c *tool.Call) (tool.Result, error) {
	var args struct{ Task string }
	if len(c.Args) > 0 {
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return tool.Result{}, &tool.Error{Op: "get prompt", Kind: tool.Invalid, Subject: c.Target, Message: "task must be a text", Err: err}
		}
	}
	for _, p := range guide.Prompts() {
		if p.Name != c.Target {
			continue
		}
		raw, err := json.Marshal(map[string]any{
			"description": p.Description,
			"messages": []map[string]any{
				{"role": "user", "content": map[string]string{"type": "text", "text": p.Text(args.Task)}},
			},
		})
		if err != nil {
			return tool.Result{}, &tool.Error{Op: "get prompt", Kind: tool.Internal, Subject: c.Target, Err: err}
		}
		return tool.Result{Raw: raw}, nil
	}
	return tool.Result{}, &tool.Error{Op: "get prompt", Kind: tool.NotFound, Subject: c.Name, Message: "unknown prompt"}
}
