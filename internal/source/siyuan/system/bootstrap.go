package system

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action system.bootstrap, which tells an agent at once what it needs to begin.

type notebook struct {
	ID         kernel.ID `json:"id"`
	Name       string    `json:"name"`
	Permission string    `json:"permission"`
	Closed     bool      `json:"closed,omitempty"`
}

type connection struct {
	Name      string `json:"name"`
	Notebooks int    `json:"notebooks"`
	Writable  int    `json:"writable"`
}

type configuration struct {
	Current bool     `json:"current"`
	Source  string   `json:"source"`
	Off     []string `json:"switchedOff"`
}

type memory struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

type overview struct {
	Schema        int               `json:"schemaVersion" about:"2"`
	Bootstrap     bool              `json:"bootstrap" about:"true"`
	Operation     string            `json:"operation" about:"system.bootstrap"`
	Connection    connection        `json:"connection" about:"the connection in use, and how many notebooks may be read and written"`
	Version       map[string]string `json:"version" about:"of the kernel and of Collie"`
	Notebooks     []notebook        `json:"notebooks" about:"those that may be read, with their levels"`
	Restricted    int               `json:"restrictedNotebookCount" about:"notebooks below rw among those shown"`
	Configuration configuration     `json:"toolConfiguration" about:"where the switches come from, and what is off"`
	WriteSafety   map[string]any    `json:"writeSafety" about:"mode of safe writing"`
	Capabilities  map[string]bool   `json:"capabilities" about:"what can be done at all"`
	Paths         []string          `json:"pathGuide" about:"the two kinds of path"`
	Next          []string          `json:"nextCalls" about:"good first calls"`
	Memory        memory            `json:"memory" about:"the agent's own notes"`
	Hints         []string          `json:"hints" about:"rules worth knowing"`
}

// bootstrap returns the action bootstrap of the tool system.
func bootstrap() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "bootstrap", Purpose: "Show what an agent should know before its first call",
		Common: true, Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: "only notebooks that may be read are shown",
		Endpoints: []string{"system/version", "notebook/lsNotebooks"},
		Result:    overview{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		version, err := r.Kernel.Version(ctx)
		if err != nil {
			return nil, err
		}
		visible, err := r.Levels.Visible(ctx)
		if err != nil {
			return nil, err
		}
		out := overview{
			Schema: 2, Bootstrap: true, Operation: "system.bootstrap",
			Connection: connection{Name: r.Workspace.Connection(), Notebooks: len(visible)},
			Version:    map[string]string{"kernel": version, "collie": r.Workspace.Version()},
			Notebooks:  []notebook{}, Configuration: switchesOff(r),
			Capabilities: map[string]bool{"localFiles": r.Workspace.LocalFiles().Allowed},
			Paths: []string{
				"fs takes human paths: /Notebook/Document/Child; a / in a name is written %2F",
				"document takes hPath (/Document/Child in one notebook) or storage paths (/<id>/<id>.sy); ids are safest",
			},
			Next: []string{`fs(action="ls", path="/")`, `fs(action="read", path="/Notebook/Document")`, `search(action="fulltext", query="…")`},
			Hints: []string{
				`any tool: action="help" topic="<action>" shows how it is called`,
				"levels: r read, rw write, rwd delete as well; a person changes them",
				"dangerous actions are confirmed by a person; a refused one is not to be repeated",
			},
			Memory: memory{"/AGENTS.md", memoryStatus(r)},
		}
		for _, n := range visible {
			level := r.Levels.Of(n.ID)
			out.Notebooks = append(out.Notebooks, notebook{n.ID, n.Name, level.String(), n.Closed})
			if level >= access.Write {
				out.Connection.Writable++
			} else {
				out.Restricted++
			}
		}
		out.WriteSafety = map[string]any{"mode": r.Workspace.WriteMode(), "ifMatch": "stateHash of a read; siyuan://help/write-safety"}
		return out, nil
	})
}

// switchesOff returns which actions are off, and whether that is known.
func switchesOff(r *action.Request) configuration {
	c := configuration{Current: r.Config.Stale.IsZero() && !r.Config.Unreadable, Source: r.Config.Source, Off: []string{}}
	if c.Source == "" {
		c.Source = "defaults"
	}
	for _, t := range r.Workspace.Tools() {
		if !r.Config.ToolOn[t.Name] {
			c.Off = append(c.Off, t.Name)
			continue
		}
		for _, a := range t.Actions {
			if !r.Config.On[t.Name][a.Name] {
				c.Off = append(c.Off, t.Name+"."+a.Name)
			}
		}
	}
	return c
}

func memoryStatus(r *action.Request) string {
	if r.Config.Memory == "" {
		return "empty"
	}
	return "written"
}
