package call

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/arguments"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file finds the tool and action that the words of a command line name, and what was probably meant if there is
// none.

// namedTarget is the tool or action that the words of a command line name.
type namedTarget struct {
	tool   *tool.Tool   // nil for a name that only the list for clients has
	action *tool.Action // nil in the same case
	name   string       // as the pipeline expects it
	schema json.RawMessage
	words  []string // as a person types it: TOOL ACTION
	values []string // arguments without a flag, which follow the words

	definition gjson.Result // of a name that clients see: its definition in the list for clients
}

// isOurs reports whether f is an action of Collie's own tools.
func (f *namedTarget) isOurs() bool { return f.action != nil && f.action.Strict }

// serversFor returns the servers to start for a command line that names a tool: those that may own the tool, or none for
// a SiYuan tool. It returns an error if no server can own the tool.
func (p commands) serversFor(ctx context.Context, words []string) ([]string, error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	_, ours := app.NotesTool(words[0])
	if ours && app.NotesOffered(cfg, p.Env, p.Kernel) {
		return []string{}, nil
	}
	owners := serveradmin.Owners(cfg, p.Env, words[0])
	if len(owners) == 1 {
		if i := slices.Index(root.ServerNames(cfg), owners[0]); cfg.Servers[i].Untrusted {
			_, err := root.OwnServer("call", owners[0], cfg)
			return nil, err
		}
	}
	if len(owners) > 0 || ours { // find reports that there is no such tool
		return owners, nil
	}
	known := make([]string, len(cfg.Servers))
	for i, s := range cfg.Servers {
		known[i] = s.Name
	}
	if app.NotesOffered(cfg, p.Env, p.Kernel) {
		known = append(known, config.NotesTools()...)
	}
	return nil, p.unknownTool(ctx, words[0], known)
}

// find returns what words name: TOOL ACTION, TOOL/ACTION or a name that clients see, each followed by values.
func (p commands) find(ctx context.Context, b root.Backend, words []string, profile string) (namedTarget, error) {
	tools, err := b.Tools(ctx, profile)
	if err != nil {
		return namedTarget{}, err
	}
	name, action, slash := strings.Cut(words[0], "/")
	if slash {
		words = append([]string{name, action}, words[1:]...)
	}
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == name })
	switch {
	case i < 0 && !slash && len(words) == 1:
		return p.findExposed(ctx, b, words[0], profile, tools)
	case i < 0:
		return namedTarget{}, p.notOffered(ctx, b, name, toolNames(tools))
	case len(words) == 1 && !anyOn(&tools[i]): // for a call, the pipeline reports that after refreshing the list
		return namedTarget{}, &tool.Error{Op: "call", Kind: tool.Disabled, Subject: name, Message: "it is switched off: " + output.FirstNonEmpty(tools[i].Off, "all its actions are")}
	case len(words) == 1:
		return namedTarget{}, root.Usage("which action of %s? %s", name, actionList(&tools[i]))
	case len(words) > 2 && refusesValues(&tools[i], words[1]):
		return namedTarget{}, root.Usage("unexpected argument %q; arguments of %s %s are flags%s; collie call %s %s --help shows them",
			words[2], words[0], words[1], suggestedFlag(findAction(&tools[i], words[1])), words[0], words[1])
	}
	t := &tools[i]
	a := findAction(t, words[1])
	if a == nil {
		var known []string
		for i := range t.Actions {
			known = append(known, t.Actions[i].Name)
		}
		return namedTarget{}, root.Usage("%s has no action %q%s\n  %s", name, words[1], root.DidYouMean(words[1], known), actionList(t))
	}
	return namedTarget{tool: t, action: a, name: t.Name + "/" + a.Name, schema: a.InputSchema, words: []string{t.Name, a.Name}, values: words[2:]}, nil
}

// anyOn reports whether a tool has an enabled action, or has no actions.
func anyOn(t *tool.Tool) bool {
	return len(t.Actions) == 0 || slices.ContainsFunc(t.Actions, func(a tool.Action) bool { return a.Off == "" })
}

// suggestedFlag returns the flag to use in an example: that of the first required argument, else of the first one.
func suggestedFlag(a *tool.Action) string {
	params := arguments.Parameters(a.InputSchema)
	if len(params) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(params, func(p arguments.Parameter) bool { return p.Required }))
	return locale.Sprintf(", such as --%s", params[i].Flag)
}

// splitOwnAction returns words with a first word TOOL.ACTION as two, if it names a tool of ours. Results and the audit write
// actions in this form.
func splitOwnAction(words []string) []string {
	if len(words) == 0 {
		return words
	}
	name, action, dotted := strings.Cut(words[0], ".")
	if _, ours := app.NotesTool(name); !dotted || !ours || action == "" {
		return words
	}
	return append([]string{name, action}, words[1:]...)
}

// refusesValues reports whether all arguments of an action need a flag.
func refusesValues(t *tool.Tool, action string) bool {
	a := findAction(t, action)
	return a != nil && len(a.Positional) == 0
}

// findAction returns the action with this name, or the only one that a different spelling of it matches.
func findAction(t *tool.Tool, name string) *tool.Action {
	var like *tool.Action
	for i := range t.Actions {
		a := &t.Actions[i]
		if a.Name == name {
			return a
		}
		if arguments.Normalize(a.Name) == arguments.Normalize(name) {
			if like != nil {
				return nil
			}
			like = a
		}
	}
	if like == nil && len(t.Actions) > 0 && t.Actions[0].Strict {
		return actionByAlias(t, name)
	}
	return like
}

// actionByAlias resolves common words for actions of our own tools.
func actionByAlias(t *tool.Tool, name string) *tool.Action {
	index := func(name string) int {
		return slices.IndexFunc(t.Actions, func(a tool.Action) bool { return a.Name == name })
	}
	if i := index(tool.ActionName(name, func(name string) bool { return index(name) >= 0 })); i >= 0 {
		return &t.Actions[i]
	}
	return nil
}

// findExposed looks for a name that clients see, such as server__tool, or would see in the flat view.
func (p commands) findExposed(ctx context.Context, b root.Backend, name, profile string, tools []tool.Tool) (namedTarget, error) {
	known := toolNames(tools)
	for _, seen := range []string{profile, profile + "@" + string(tool.Flat)} {
		raw, err := b.List(ctx, tool.ListTools, seen)
		if err != nil {
			return namedTarget{}, err
		}
		for _, def := range rawjson.Member(gjson.ParseBytes(raw), "tools").Array() {
			exposed := rawjson.Member(def, "name").String()
			if exposed == name {
				for i := range tools {
					if f, ok := ownExposed(&tools[i], name); ok {
						f.definition = def
						return f, nil
					}
				}
				return namedTarget{name: name, schema: json.RawMessage(rawjson.Member(def, "inputSchema").Raw), words: []string{name}, definition: def}, nil
			}
			known = append(known, exposed)
		}
	}
	return namedTarget{}, p.notOffered(ctx, b, name, known)
}

// ownExposed returns the action of one of our own tools that clients see under this name.
func ownExposed(t *tool.Tool, name string) (namedTarget, bool) {
	action, ok := strings.CutPrefix(name, t.Prefix)
	if t.Prefix == "" || !ok {
		return namedTarget{}, false
	}
	for i := range t.Actions {
		if a := &t.Actions[i]; a.Name == action && a.Strict {
			return namedTarget{tool: t, action: a, name: name, schema: a.InputSchema, words: []string{t.Name, a.Name}}, true
		}
	}
	return namedTarget{}, false
}

// notOffered returns the error for a tool that was not found: its server may be unavailable, or nobody offers
// it.
func (p commands) notOffered(ctx context.Context, b root.Backend, name string, known []string) error {
	servers, err := b.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if name != s.Name && !strings.HasPrefix(name, s.Name+"__") {
			continue
		}
		e := &tool.Error{Op: "call", Kind: tool.Unavailable, Subject: s.Name, Message: "the server is " + string(s.State)}
		if _, running := b.(*remote.Client); running {
			e.Hint = "collie mcp logs " + s.Name + " shows its output" // without a gateway there is no log
		}
		switch s.State {
		case tool.StateDisabled:
			e.Kind, e.Message, e.Hint = tool.Disabled, locale.T("the server is switched off"), "collie mcp enable "+s.Name+" switches it on"
		case tool.StateConfigError:
			e.Message, e.Hint = "its configuration is wrong: "+s.Detail, "collie mcp validate shows the place"
		case tool.StateReady, tool.StateDegraded:
			if name == s.Name {
				return root.Usage("the server %s offers no tools", name)
			}
			return p.unknownTool(ctx, name, known)
		case tool.StateFailed, tool.StateBackoff, tool.StateOpen:
			e.Op, e.Message = "start", locale.Sprintf("the server did not start (%s): %s", s.Reason, locale.Sentence(s.Detail))
			if s.State == tool.StateFailed && e.Hint != "" { // it will not be started again automatically
				e.Hint = "put that right, then collie mcp restart " + s.Name
			}
		case tool.StateNeedsAuth:
			e.Kind, e.Message, e.Hint = tool.NeedsAuth, locale.T("the server requires authentication"), s.Hint
		case tool.StateIdle, tool.StateStarting, tool.StateStopping, tool.StateStopped:
			if s.Freshness != tool.FreshNone { // its tools are known, and this is not one of them
				return p.unknownTool(ctx, name, known)
			}
		}
		return e
	}
	if _, ours := app.NotesTool(name); ours {
		if err := p.whyNoNotes(ctx, b); err != nil {
			return err
		}
	}
	return p.unknownTool(ctx, name, known)
}

// unknownTool returns the usage error for a name that nothing has, with the most similar known name. It mentions a running
// gateway with other settings, because the tool may exist there.
func (p commands) unknownTool(ctx context.Context, name string, known []string) error {
	noun := "tool"
	if p.Expanded {
		noun, known = locale.T("command or tool"), append(slices.Clone(known), p.CommandNames...)
	}
	elsewhere := ""
	if cfg, err := p.Load(); err == nil {
		if g, sameSettings, err := p.FindGateway(ctx, cfg); err == nil && !sameSettings {
			elsewhere = "\n  " + p.OtherGateway(&g, cfg)
		}
	}
	return root.Usage("unknown %s %q%s; collie tools lists them%s", noun, name, root.DidYouMean(name, known), elsewhere)
}

func toolNames(tools []tool.Tool) []string {
	out := make([]string, len(tools))
	for i := range tools {
		out[i] = tools[i].Name
	}
	return out
}

// actionList returns the enabled actions of a tool, for an error message.
func actionList(t *tool.Tool) string {
	const limit = 20
	var on []string
	for i := range t.Actions {
		if t.Actions[i].Off == "" {
			on = append(on, t.Actions[i].Name)
		}
	}
	if len(on) > limit {
		on = append(on[:limit], locale.Sprintf("… (collie tools %s lists all %d)", t.Name, len(on)))
	}
	return locale.Sprintf("actions: %s", strings.Join(on, ", "))
}
