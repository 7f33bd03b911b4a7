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

// This file chooses the tools that a model sees in one step: all, or three that search when all would be too many.

// Above these limits, the model gets three tools that find, describe and call all others, because it reads the whole
// list in each step.
const (
	maxTools     = 60
	maxToolBytes = 20 << 10
)

// outputTool is the name of a built-in tool, which reads the rest of a result that was cut. It can read only blobs of
// the session.
const outputTool = "tool_output"

// cachedList is a tool list, valid for one revision of the catalog.
type cachedList struct {
	profile  string
	revision uint64
	tools    []llm.Tool
	barred   []string // names of tools that are not shown because their definitions contain instructions
}

// toolset are the tools that a model may call in one step.
type toolset struct {
	profile string // profile of the calls
	tools   []llm.Tool
}

// toolset returns the tools for the next step of a turn. If the turn or the agent has patterns, exactly the tools that
// match are listed, and a tool that groups the actions of server S also matches as S__.
func (a *Agent) toolset(ctx context.Context, t *chat.Turn, files *turnFiles) toolset {
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

// inSearch returns the name of a profile that shows all tools of profile behind a search.
func inSearch(profile string) string {
	if profile == "" {
		profile = "default"
	}
	return profile + "@" + string(tool.Search)
}

// selects reports whether name matches a pattern of allow, or allow is empty, and matches no pattern of deny.
func selects(allow, deny []string, name string) bool {
	match := func(pattern string) bool {
		exact, err := path.Match(pattern, name)
		grouped, _ := path.Match(pattern, name+"__")
		return err == nil && (exact || grouped)
	}
	return (len(allow) == 0 || slices.ContainsFunc(allow, match)) && !slices.ContainsFunc(deny, match)
}

// size returns the number of bytes of tools in a request.
func size(tools []llm.Tool) (n int) {
	for i := range tools {
		n += len(tools[i].Name) + len(tools[i].Description) + len(tools[i].Schema)
	}
	return n
}

// list returns the tools of the pipeline. As long as the catalog does not change the list stays the same, byte for
// byte, for the caches of providers.
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
	out, barred := a.removeHostile(out)
	a.tools.Store(&cachedList{profile, revision, out, barred})
	return out
}

// has reports whether the model was shown a tool of that name.
func (s *toolset) has(name string) bool {
	return slices.ContainsFunc(s.tools, func(t llm.Tool) bool { return t.Name == name })
}

// unknownError returns the error for a call of a tool that was not listed.
func (s *toolset) unknownError(name string) *tool.Error {
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
