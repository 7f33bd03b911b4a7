package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

func (p *program) mcpListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list [NAME]", Short: "Show the servers and what they are doing", Args: cobra.MaximumNArgs(1),
		Long: "Shows the servers of the settings and, where a gateway runs, what they are doing; with\n" +
			"NAME all that is known of one. It starts nothing: \"collie tools\" does.",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpList(c.Context(), args) },
	}
}

// serverRow is what is told of one server.
type serverRow struct {
	tool.ServerStatus
	Since       time.Time `json:"since,omitzero"` // zero for a server that nobody started
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Package     string    `json:"package,omitempty"`
	File        string    `json:"file"`
	Line        int       `json:"line"`
}

func (p *program) mcpList(ctx context.Context, args []string) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	running, why, err := p.statuses(ctx, cfg)
	if err != nil {
		return err
	}
	rows := []serverRow{}
	for _, s := range app.ReadServers(cfg, p.env) {
		row := serverRow{s.Status, time.Time{}, s.Title, s.Description, s.Package, s.File, s.Line}
		if st, ok := running[row.Name]; ok {
			row.ServerStatus, row.Since = st, st.Since
		}
		rows = append(rows, row)
	}
	if len(args) == 1 {
		i := slices.IndexFunc(rows, func(r serverRow) bool { return r.Name == args[0] })
		if i < 0 {
			return unknownServer("mcp list", args[0], serverNames(cfg))
		}
		rows = rows[i : i+1]
	}
	switch {
	case p.json:
		return p.printJSON(map[string]any{"running": running != nil, "servers": rows})
	case len(rows) == 0:
		p.note("no MCP server is configured; collie mcp add NAME -- COMMAND adds one")
		return nil
	case why != "":
		p.note("%s; states are of the configuration", why)
	}
	if len(args) == 1 {
		return p.table(nil, details(&rows[0]))
	}
	return p.table(serverTable(rows, time.Now()))
}

// statuses asks the running gateway; where none can be asked, why says so and the map is
// nil.
func (p *program) statuses(ctx context.Context, cfg *config.Config) (_ map[string]tool.ServerStatus, why string, _ error) {
	r, same, err := p.gateway(ctx, cfg)
	if err != nil {
		return nil, whatWas(err), nil
	}
	defer r.Close()
	if !same {
		return nil, fmt.Sprintf("the gateway that runs (pid %d) has other settings, restart it to use these", r.gateway.PID), nil
	}
	list, err := r.Servers(ctx)
	if err != nil {
		return nil, "", err
	}
	found := make(map[string]tool.ServerStatus, len(list))
	for _, s := range list {
		found[s.Name] = s
	}
	return found, "", nil
}

// serverTable is the table of all servers. A column that would be empty is left out.
func serverTable(rows []serverRow, now time.Time) (head []string, cells [][]string) {
	head = []string{"NAME", "STATE", "SINCE", "TOOLS", "TRANSPORT", "PROTOCOL", "DESCRIPTION", "COMMAND"}
	described := slices.ContainsFunc(rows, func(r serverRow) bool { return about(&r) != "" })
	for i := range rows {
		r := &rows[i]
		last := r.Command
		if r.Reason != "" {
			last = reason(r)
		}
		tools := "-"
		if r.State == tool.StateReady {
			tools = strconv.Itoa(r.Tools)
		}
		cells = append(cells, []string{
			r.Name, string(r.State), since(r, now), tools, r.Transport, first(r.Version, "-"),
			columns.Truncate(oneLine(about(r)), 32, "…"), last,
		})
	}
	if !described {
		const column = 6
		head = slices.Delete(head, column, column+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], column, column+1)
		}
	}
	return head, cells
}

func about(r *serverRow) string { return first(r.Description, r.Title) }

func reason(r *serverRow) string {
	if r.Detail == "" {
		return r.Reason
	}
	return r.Reason + ": " + r.Detail
}

// since is when the server came into its state, as short as the day allows; a server that
// was never started has been idle for ever.
func since(r *serverRow, now time.Time) string {
	if r.Since.IsZero() {
		return "-"
	}
	t := r.Since.In(now.Location())
	if now.Sub(t) < 12*time.Hour {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// details are all facts of one server.
func details(r *serverRow) [][]string {
	var out [][]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, []string{name, value})
		}
	}
	add("name", r.Name)
	add("title", r.Title)
	add("description", r.Description)
	add("state", string(r.State))
	if !r.Since.IsZero() {
		add("since", r.Since.Local().Format(time.RFC3339))
	}
	add("reason", r.Reason)
	add("detail", r.Detail)
	add("transport", r.Transport)
	add("command", r.Command)
	add("package", r.Package)
	add("server", r.Server)
	add("protocol", r.Version)
	add("era", r.Era)
	if r.PID > 0 {
		add("pid", strconv.Itoa(r.PID))
	}
	if r.State == tool.StateReady {
		add("tools", strconv.Itoa(r.Tools))
		add("resources", strconv.Itoa(r.Resources))
		add("prompts", strconv.Itoa(r.Prompts))
	}
	add("defined", fmt.Sprintf("%s:%d", r.File, r.Line))
	return out
}
