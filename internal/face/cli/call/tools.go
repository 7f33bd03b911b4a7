package call

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/arguments"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file has the command `collie tools`, which lists servers, tools and actions.

// toolsFlags are the flags of `collie tools`.
type toolsFlags struct {
	view, profile   string
	size, rebalance bool
}

// catalogProfile returns the name under which the catalog knows the profile with the wanted view, such as work@flat.
func (f *toolsFlags) catalogProfile() string {
	if f.view == "" {
		return f.profile
	}
	return f.profile + "@" + f.view
}

// ToolsCommand returns the command `collie tools`.
func ToolsCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var f toolsFlags
	c := &cobra.Command{
		Use:   "tools [TOOL [ACTION]]",
		Short: "List tools and actions, with their help and token cost",
		Long: "Without arguments lists all tools; with TOOL its actions and their flags; with ACTION the\n" +
			"help page of that action. --size shows what the list costs a model, in each view, and who\n" +
			"chose the view. --rebalance has views that were chosen by themselves (view auto) chosen anew.",
		Args: cobra.MaximumNArgs(2), ValidArgsFunction: CompleteTools(p.Program),
		RunE: func(c *cobra.Command, args []string) error { return p.tools(c.Context(), args, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.view, "view", "", "show the tools in this `VIEW`, flat, grouped or search, whatever is configured")
	flags.StringVar(&f.profile, "profile", "", "see the tools as view profile `NAME` does")
	flags.BoolVar(&f.size, "size", false, "show bytes and estimated tokens of the list of tools")
	flags.BoolVar(&f.rebalance, "rebalance", false, "choose the views of servers again where they are auto, then show --size")
	p.LocalFlag(c)
	p.KernelFlags(c)
	return c
}

// tools prints the tools, servers or actions that words name, or everything without words.
func (p commands) tools(ctx context.Context, words []string, f *toolsFlags) error {
	if v := tool.View(f.view); v != "" && v != tool.Flat && v != tool.Grouped && v != tool.Search {
		return root.Usage("--view is %q, expected flat, grouped or search", f.view)
	}
	if len(words) > 2 {
		return root.Usage("unexpected argument %q; expected TOOL and ACTION", words[2])
	}
	if f.rebalance && (f.view != "" || len(words) > 0) {
		return root.Usage("--rebalance is for all servers, expected neither --view nor TOOL")
	}
	if words = splitOwnAction(words); len(words) == 1 {
		if name, action, ok := strings.Cut(words[0], "/"); ok {
			words = []string{name, action}
		}
	}
	if f.size && len(words) == 2 {
		return root.Usage("--size is for all servers or for one TOOL, expected no ACTION")
	}
	b, err := p.openFor(ctx, words, f.profile)
	if err != nil {
		return err
	}
	defer b.Close()
	stop := p.WhileStarting(ctx, b)
	profile := f.catalogProfile()
	tools, err := p.offered(ctx, b, profile, len(words) > 0, startWait)
	stop()
	if err == nil && f.rebalance {
		tools, err = p.rebalance(ctx, b, profile)
	}
	switch {
	case err != nil:
		return err
	case len(words) == 2:
		return p.showAction(ctx, b, words, profile)
	case len(words) == 1:
		return p.showTool(ctx, b, words[0], profile, tools, f)
	case f.size || f.rebalance:
		return p.showSize(ctx, b, tools, "", f)
	}
	return p.showTools(ctx, b, tools)
}

// rebalance chooses the views anew and returns the tools offered then.
func (p commands) rebalance(ctx context.Context, b root.Backend, profile string) ([]tool.Tool, error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, err
	}
	if err := b.Rebalance(ctx); err != nil {
		return nil, err
	}
	p.OnRecord(ctx, cfg, "tools --rebalance", nil)
	return b.Tools(ctx, profile)
}

// startWait is how long the list of all tools waits for servers that a gateway is starting.
const startWait = 10 * time.Second

// offered returns the tools that b offers. For the list of all tools it waits at most wait for servers that a
// running gateway is starting, so that one that hangs does not keep a person from seeing the others. If a single
// tool is wanted, or the servers are started by this command, it waits until they have started.
func (p commands) offered(ctx context.Context, b root.Backend, profile string, single bool, wait time.Duration) ([]tool.Tool, error) {
	r, ok := b.(*remote.Client)
	if !ok || single {
		return b.Tools(ctx, profile)
	}
	short, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tools, err := r.Tools(short, profile)
	if err == nil || ctx.Err() != nil || short.Err() == nil {
		return tools, err
	}
	r.Await = []string{} // do not wait for servers
	return r.Tools(ctx, profile)
}

// toolRow describes one tool, or a server that offers none.
type toolRow struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	View        string `json:"view,omitempty"`
	Actions     int    `json:"actions"`
	Off         string `json:"off,omitempty"` // why the tool or its server cannot be used
}

// showTools prints a table of all tools, and of servers that offer none.
func (p commands) showTools(ctx context.Context, b root.Backend, tools []tool.Tool) error {
	servers, err := b.Servers(ctx)
	if err != nil {
		return err
	}
	rows := toolRows(tools, servers)
	if _, isLocal := b.(*root.Local); isLocal && !p.JSON {
		p.TellOtherUnnamed(ctx)
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"tools": rows})
	}
	if len(rows) == 0 {
		p.Note("no tools: no MCP server is configured; collie mcp add NAME -- COMMAND adds one, collie siyuan init connects SiYuan")
		return nil
	}
	var cells [][]string
	for _, r := range rows {
		actions := strconv.Itoa(r.Actions)
		about := output.FirstNonEmpty(r.Description, r.Title)
		switch {
		case r.Off != "" && r.View == "": // a server that offers nothing
			actions, about = "-", locale.Sprintf("%s; collie tools %s shows more", locale.Sentence(r.Off), r.Name)
		case r.Off != "":
			about = locale.Sprintf("off: %s", locale.Sentence(r.Off))
		}
		cells = append(cells, []string{r.Name, actions, output.FirstNonEmpty(r.View, "-"), output.FirstLine(about)})
	}
	return p.Table([]string{"TOOL", "ACTIONS", "VIEW", "ABOUT"}, cells)
}

// toolRows returns the tools in order, then the servers that have no tools because they are not ready.
func toolRows(tools []tool.Tool, servers []tool.ServerStatus) []toolRow {
	rows := []toolRow{}
	listed := map[string]bool{}
	says := map[string]string{}
	for _, s := range servers {
		says[s.Name] = s.Server
	}
	for i := range tools {
		t := &tools[i]
		on := 0
		for j := range t.Actions {
			if t.Actions[j].Off == "" {
				on++
			}
		}
		listed[t.Name] = true
		rows = append(rows, toolRow{
			Name: t.Name, Title: output.FirstNonEmpty(t.Title, says[t.Name]), Description: t.Description,
			View: string(t.View), Actions: on, Off: t.Off,
		})
	}
	for i := range servers {
		if s := &servers[i]; !listed[s.Name] && s.State != tool.StateReady {
			row := toolRow{Name: s.Name, Off: string(s.State)}
			if s.Reason != "" {
				row.Off += " (" + s.Reason + ")"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// actionRow describes one action.
type actionRow struct {
	Name        string `json:"name"`
	Usage       string `json:"usage"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	ReadOnly    bool   `json:"readOnly,omitempty"`
	Dangerous   bool   `json:"dangerous,omitempty"`
	// DangerousWith is the argument that makes a call dangerous.
	DangerousWith string          `json:"dangerousWith,omitempty"`
	Off           string          `json:"off,omitempty"`
	InputSchema   json.RawMessage `json:"inputSchema,omitempty"`
}

// showTool prints the actions of the tool called name, or with --size its cost. If no tool has this name, it looks for a
// name that clients see.
func (p commands) showTool(ctx context.Context, b root.Backend, name, profile string, tools []tool.Tool, f *toolsFlags) error {
	for i := range tools {
		t := &tools[i]
		if t.Name != name {
			continue
		}
		if f.size {
			return p.showSize(ctx, b, tools, name, f)
		}
		rows := actionRows(t)
		if p.JSON {
			return p.PrintJSON(map[string]any{"tool": t.Name, "view": t.View, "off": t.Off, "actions": rows})
		}
		if t.Off != "" {
			p.Note("%s is off: %s", t.Name, locale.Sentence(t.Off))
		}
		var cells [][]string
		for i, r := range rows {
			about := output.FirstLine(output.FirstNonEmpty(r.Description, r.Title))
			if t.Actions[i].Strict { // the first sentence of a built-in description says what the action is for
				about, _, _ = strings.Cut(about, ". ")
			}
			switch {
			case r.Off != "":
				about = locale.Sprintf("off: %s", locale.Sentence(r.Off))
			case r.Dangerous:
				about = locale.Sprintf("(asks first) %s", about)
			case r.DangerousWith != "":
				about = locale.Sprintf("(asks first with %s) %s", r.DangerousWith, about)
			}
			cells = append(cells, []string{r.Name, strings.TrimPrefix(strings.TrimPrefix(r.Usage, r.Name), " "), about})
		}
		return p.Table([]string{"ACTION", "FLAGS", "ABOUT"}, cells)
	}
	return p.showExposed(ctx, b, name, profile)
}

func actionRows(t *tool.Tool) []actionRow {
	rows := []actionRow{}
	for i := range t.Actions {
		a := &t.Actions[i]
		rows = append(rows, actionRow{
			Name: a.Name, Usage: signature(a), Title: a.Title, Description: a.Description, ReadOnly: a.ReadOnly,
			Dangerous: a.Dangerous, DangerousWith: a.DangerousWith, Off: output.FirstNonEmpty(t.Off, a.Off), InputSchema: a.InputSchema,
		})
	}
	return rows
}

// signature returns an action with its required flags, and […] if it has others.
func signature(a *tool.Action) string {
	s, more := a.Name, false
	for _, q := range arguments.Parameters(a.InputSchema) {
		if !q.Required {
			more = true
			continue
		}
		s += " " + flagForm(&q)
	}
	if more {
		s += " […]"
	}
	return s
}

// flagForm returns a flag followed by the type of its value, as in --path <string>.
func flagForm(q *arguments.Parameter) string {
	switch {
	case q.Is("boolean"):
		return "--" + q.Flag
	case needsJSON(q):
		return "--" + q.Flag + "-json <" + q.TypeName() + ">"
	}
	return "--" + q.Flag + " <" + q.TypeName() + ">"
}

// needsJSON reports whether a parameter has no other form than JSON.
func needsJSON(q *arguments.Parameter) bool {
	return q.Is("object") || q.Is("array") && len(q.Items) == 1 && (q.Items[0] == "object" || q.Items[0] == "array")
}
