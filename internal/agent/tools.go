package agent

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// From so much on, tools are shown behind three that find, describe and call them: a model reads the
// whole list at each step.
const (
	maxTools     = 60
	maxToolBytes = 20 << 10
)

// outputTool is the one tool of our own: it reads on in a result of which the model saw only the
// beginning. It touches nothing but blobs of the session.
const outputTool = "tool_output"

// listed is a tool list that has been read, kept while the catalog stays as it is.
type listed struct {
	profile  string
	revision uint64
	tools    []llm.Tool
	barred   []string // tools that are not shown because of what their definitions say
}

// toolset is what a model may call in one step.
type toolset struct {
	profile string // what calls name as their profile
	tools   []llm.Tool
}

// toolset lists what a turn's model may call now. A change of the catalog is seen by the next step;
// calls that run keep what they were resolved to. Where the turn names patterns, the tools that they
// match are shown as they are; a tool that groups the actions of server S also goes by S__.
func (a *Agent) toolset(ctx context.Context, t *chat.Turn, files *files) toolset {
	if t.Config.Engine == engineChat {
		return toolset{}
	}
	a.opts.Pipeline.AwaitKnown(ctx, tool.ListTools)
	set := toolset{profile: t.Config.Profile}
	set.tools = a.list(ctx, set.profile)
	named := &files.agent
	if len(t.Config.Tools)+len(t.Config.Deny)+len(named.Tools)+len(named.Deny) > 0 {
		set.tools = slices.DeleteFunc(slices.Clone(set.tools), func(l llm.Tool) bool {
			return !selects(t.Config.Tools, t.Config.Deny, l.Name) || !selects(named.Tools, named.Deny, l.Name)
		})
	} else if len(set.tools) > maxTools || size(set.tools) > maxToolBytes {
		if behind := a.list(ctx, inSearch(set.profile)); len(behind) > 0 && size(behind) < size(set.tools) {
			set.profile, set.tools = inSearch(set.profile), behind
		}
	}
	if len(set.tools) > 0 {
		set.tools = append(slices.Clip(set.tools), llm.Tool{
			Name: outputTool, Description: "Read on in a tool result that was cut. handle stands at its end; offset and limit count bytes.",
			Schema: json.RawMessage(`{"type":"object","properties":{"handle":{"type":"string"},"offset":{"type":"integer","minimum":0},` +
				`"limit":{"type":"integer","minimum":1,"maximum":65536}},"required":["handle"]}`),
		})
	}
	if len(files.library.Skills) > 0 {
		set.tools = append(slices.Clip(set.tools), llm.Tool{
			Name: skillTool, Description: "Read the instructions of a skill before doing what it is for, or another file that they speak of.",
			Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"file":{"type":"string"}},"required":["name"]}`),
		})
	}
	return set
}

// inSearch is a profile with all of its tools behind a search.
func inSearch(profile string) string {
	if profile == "" {
		profile = "default"
	}
	return profile + "@" + string(tool.Search)
}

// selects reports whether patterns show a tool: one of allow or none given, and none of deny.
func selects(allow, deny []string, name string) bool {
	match := func(pattern string) bool {
		exact, err := path.Match(pattern, name)
		grouped, _ := path.Match(pattern, name+"__")
		return err == nil && (exact || grouped)
	}
	return (len(allow) == 0 || slices.ContainsFunc(allow, match)) && !slices.ContainsFunc(deny, match)
}

func size(tools []llm.Tool) (n int) {
	for i := range tools {
		n += len(tools[i].Name) + len(tools[i].Description) + len(tools[i].Schema)
	}
	return n
}

// list reads the pipeline's list of tools, which is in the order of the servers and has the same
// bytes as long as nothing changes: caches of providers depend on it.
func (a *Agent) list(ctx context.Context, profile string) []llm.Tool {
	raw, revision := a.opts.Pipeline.List(ctx, tool.ListTools, profile)
	if old := a.tools.Load(); old != nil && old.profile == profile && old.revision == revision {
		return old.tools
	}
	out := []llm.Tool{}
	gjson.GetBytes(raw, "tools").ForEach(func(_, t gjson.Result) bool {
		schema := t.Get("inputSchema").Raw
		if schema == "" {
			schema = `{"type":"object"}`
		}
		description := t.Get("description").String()
		if description == "" {
			description = t.Get("title").String()
		}
		out = append(out, llm.Tool{Name: t.Get("name").String(), Description: description, Schema: json.RawMessage(schema)})
		return true
	})
	out, barred := a.withoutHostile(out)
	a.tools.Store(&listed{profile, revision, out, barred})
	return out
}

// has reports whether the model was shown a tool of that name.
func (s *toolset) has(name string) bool {
	return slices.ContainsFunc(s.tools, func(t llm.Tool) bool { return t.Name == name })
}

// unknown is what a model is told that called a tool it was not shown.
func (s *toolset) unknown(name string) *tool.Error {
	names := make([]string, len(s.tools))
	for i := range s.tools {
		names[i] = s.tools[i].Name
	}
	e := &tool.Error{Op: "call", Kind: tool.NotFound, Subject: name, Message: "there is no such tool", Hint: "call one of the tools that are listed", Unresolved: true}
	if near, ok := tool.Nearest(name, names); ok {
		e.Hint = "did you mean " + near + "?"
	}
	if len(names) == 0 {
		e.Hint = "no tools can be called here: answer in words"
	}
	e.Subject = strings.ToValidUTF8(name, "?")
	return e
}
