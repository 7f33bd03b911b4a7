package call

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/arguments"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file has the shell completion of tools, actions, flags and values.

// completionTime is how long completion may take after a press of Tab. What is not known by then is not offered.
const completionTime = 3 * time.Second

// CompleteTools completes TOOL and ACTION with known tools. It starts no server.
func CompleteTools(shared *root.Program) cobra.CompletionFunc {
	p := commands{shared}

	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return p.completeWords(c.Context(), args, typed)
	}
}

// completeCall completes a call: its words, then the flags of the action and their values.
func (p commands) completeCall(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp
	inv, err := split(c, args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault // the value of one of our own flags, most likely a file
	}
	inv.words = splitOwnAction(inv.words)
	if len(inv.words) < 2 && len(inv.rest) == 0 && !strings.HasPrefix(typed, "-") {
		return p.completeWords(c.Context(), inv.words, typed)
	}
	if len(inv.words) == 0 {
		return nil, done
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	b, target, ok := p.findKnown(ctx, inv.words)
	if !ok {
		return nil, done
	}
	defer b.Close()
	if len(inv.words) == 1 && target.tool != nil && target.action == nil { // collie fs --<TAB>
		return nil, done
	}
	f := &arguments.Reader{Command: "collie", Globals: hasFlag(c, target.words)}
	f.Params, f.Positional = arguments.ForAction(target.action, target.schema)
	if q := f.AwaitsValue(inv.rest); q != nil {
		return p.completeValue(ctx, b, q, typed)
	}
	if strings.HasPrefix(typed, "-") {
		return flagsLeft(f, inv.rest, typed), done
	}
	if i := len(target.values); i < len(f.Positional) {
		if q, err := f.Param(f.Positional[i]); err == nil && q != nil {
			return p.completeValue(ctx, b, q, typed)
		}
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// flagsLeft returns the flags that begin with typed and may still be given, each with its description.
func flagsLeft(f *arguments.Reader, tokens []string, typed string) []string {
	var out []string
	for i := range f.Params {
		q := &f.Params[i]
		flag := "--" + q.Flag
		if needsJSON(q) {
			flag += "-json"
		}
		if strings.HasPrefix(flag, typed) && (!slices.Contains(tokens, flag) || q.Is("array")) {
			out = append(out, cobra.CompletionWithDesc(flag, output.OneLine(output.FirstLine(q.Description))))
		}
	}
	return out
}

// completeValue completes the value of a parameter: one of its choices, or a notebook by its name.
func (p commands) completeValue(ctx context.Context, b root.Backend, q *arguments.Parameter, typed string) ([]string, cobra.ShellCompDirective) {
	var out []string
	add := func(word, about string) {
		if strings.HasPrefix(word, typed) {
			out = append(out, cobra.CompletionWithDesc(word, about))
		}
	}
	for _, v := range q.Enum {
		add(v.String(), "")
	}
	if isNotebook(q) {
		for _, n := range p.notebooks(ctx, b) {
			add(n.name, n.id)
		}
	}
	if len(out) == 0 {
		return nil, cobra.ShellCompDirectiveDefault // file names, for values such as @FILE
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeWords completes TOOL and, after it, ACTION.
func (p commands) completeWords(ctx context.Context, words []string, typed string) ([]string, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp
	if len(words) > 1 {
		return nil, done
	}
	var out []string
	add := func(name, about string) {
		if strings.HasPrefix(name, typed) {
			out = append(out, cobra.CompletionWithDesc(name, output.OneLine(output.FirstLine(about))))
		}
	}
	if len(words) == 0 {
		cfg, _, err := p.Settings()
		if err != nil {
			return nil, done
		}
		for _, name := range root.ServerNames(cfg) {
			add(name, locale.T("MCP server"))
		}
		if app.NotesOffered(cfg, p.Env, p.Kernel) {
			for _, name := range config.NotesTools() {
				add(name, "notes")
			}
		}
		return out, done
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	b, target, ok := p.findKnown(ctx, words)
	if !ok {
		return nil, done
	}
	defer b.Close()
	for i := range target.tool.Actions {
		if a := &target.tool.Actions[i]; a.Off == "" {
			about, _, _ := strings.Cut(output.FirstLine(output.FirstNonEmpty(a.Description, a.Title)), ". ")
			add(a.Name, about)
		}
	}
	return out, done
}

// findKnown finds what words name without starting anything: from the running gateway or the cache. If ok, the
// caller closes b.
func (p commands) findKnown(ctx context.Context, words []string) (b root.Backend, target namedTarget, ok bool) {
	cfg, err := p.Load()
	if err != nil {
		return nil, namedTarget{}, false
	}
	p.chooseConnection(cfg, words)
	if b, err = p.Backend(ctx, []string{}); err != nil {
		return nil, namedTarget{}, false
	}
	tools, err := b.Tools(ctx, "")
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == words[0] })
	if err != nil || i < 0 {
		b.Close()
		return nil, namedTarget{}, false
	}
	target = namedTarget{tool: &tools[i], words: words[:1]}
	if len(words) > 1 {
		if target.action = findAction(target.tool, words[1]); target.action == nil {
			b.Close()
			return nil, namedTarget{}, false
		}
		target.schema, target.words, target.values = target.action.InputSchema, words[:2], words[2:]
	}
	return b, target, true
}

// notebook is a notebook that a person may name.
type notebook struct{ name, id string }

// notebooks returns the visible notebooks; none if they cannot be listed.
func (p commands) notebooks(ctx context.Context, b root.Backend) []notebook {
	r, err := b.Call(ctx, tool.Request{
		Kind: tool.KindCall, Name: "notebook/list", Args: json.RawMessage(`{}`), Origin: tool.Direct, Principal: root.Principal(), Client: "collie",
	})
	if err != nil || r.IsError {
		return nil
	}
	var out []notebook
	for _, n := range rawjson.List(Payload(r.Raw)) {
		out = append(out, notebook{rawjson.Member(n, "name").String(), rawjson.Member(n, "id").String()})
	}
	return out
}

// isNotebook reports whether a parameter of one of our tools is the id of a notebook.
func isNotebook(q *arguments.Parameter) bool {
	switch q.Name {
	case "notebook", "toNotebook", "targetNotebook":
		return true
	}
	return false
}
