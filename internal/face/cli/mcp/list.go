package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file has the command `collie mcp list`: the servers, their states, and how many tools are known.

func (p commands) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list [NAME]", Aliases: []string{"ls"}, Short: "Show the servers and what they are doing", Args: cobra.MaximumNArgs(1),
		Long: "Shows the servers in the settings and, if a gateway runs, what they are doing; with NAME,\n" +
			"everything known about one. It starts nothing.\n\n" +
			"LIST says where the tools come from: live, from the server itself; hit or stale, from the\n" +
			"tool cache, recent or old. RETRY is when a failed server is tried again. A narrow terminal\n" +
			"shows fewer columns.",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.list(c.Context(), args) },
	}
}

// serverRow is the output for one server.
type serverRow struct {
	tool.ServerStatus
	Since       time.Time `json:"since,omitzero"` // zero for a server that was never started
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Package     string    `json:"package,omitempty"`
	Registry    string    `json:"registry,omitempty"`
	File        string    `json:"file"`
	Line        int       `json:"line"`
}

// list prints all servers, or the details of the one in args. Their states come from the running gateway if there is one
// with these settings, otherwise from the settings and the cache.
func (p commands) list(ctx context.Context, args []string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	running, why, err := p.statuses(ctx, cfg)
	if err != nil {
		return err
	}
	rows := []serverRow{}
	for _, s := range serveradmin.ReadServers(ctx, cfg, p.Env) {
		row := serverRow{s.Status, time.Time{}, s.Title, s.Description, s.Package, s.Registry, s.File, s.Line}
		if st, ok := running[row.Name]; ok {
			row.ServerStatus, row.Since = st, st.Since // the running gateway knows more than the cache
		}
		rows = append(rows, row)
	}
	if running == nil {
		p.setMissingReasons(cfg, rows)
	}
	if len(args) == 1 {
		i := slices.IndexFunc(rows, func(r serverRow) bool { return r.Name == args[0] })
		if i < 0 {
			return root.UnknownServerError("mcp list", args[0], root.ServerNames(cfg))
		}
		rows = rows[i : i+1]
	}
	switch {
	case p.JSON:
		return p.PrintJSON(map[string]any{"running": running != nil, "servers": rows})
	case len(rows) == 0:
		p.Note("no MCP server is configured; collie mcp add NAME -- COMMAND adds one")
		p.TellOther(ctx, cfg)
		return nil
	case why != "":
		p.Note("%s\nThe states come from the settings alone.", why)
	}
	if len(args) == 1 {
		return p.Table(nil, serverDetails(&rows[0]))
	}
	return p.Table(serverTable(rows, time.Now(), output.TerminalWidth(p.Out)))
}

// setMissingReasons sets the reason of idle servers whose programs do not exist.
func (p commands) setMissingReasons(cfg *config.Config, rows []serverRow) {
	for _, prog := range serveradmin.Programs(cfg, p.Env) {
		i := slices.IndexFunc(rows, func(r serverRow) bool { return r.Name == prog.Server })
		if i >= 0 && prog.Err != nil && rows[i].State == tool.StateIdle {
			rows[i].Reason, rows[i].Detail = prog.Reason, output.FirstNonEmpty(prog.Hint, prog.Err.Error())
		}
	}
}

// statuses asks the running gateway for the states of its servers, by name. If none can be asked, the map is nil and why
// gives the reason.
func (p commands) statuses(ctx context.Context, cfg *config.Config) (_ map[string]tool.ServerStatus, why string, _ error) {
	r, sameSettings, err := p.Gateway(ctx, cfg)
	if err != nil {
		return nil, root.ErrorTextWithHint(err), nil
	}
	defer r.Close()
	if !sameSettings {
		return nil, p.OtherGateway(&r.Gateway, cfg), nil
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

// serverColumn is one column of the table of servers.
type serverColumn struct {
	name string
	of   func(*serverRow) string
}

// serverTable returns the table of all servers for a terminal with width columns; 0 means no terminal. It
// omits empty columns and those for which there is no room.
func serverTable(rows []serverRow, now time.Time, width int) (head []string, cells [][]string) {
	all := []serverColumn{
		{"NAME", func(r *serverRow) string { return r.Name }},
		{"STATE", func(r *serverRow) string { return string(r.State) }},
		{"SINCE", func(r *serverRow) string { return stateSince(r, now) }},
		{"TOOLS", toolCount},
		{"LIST", func(r *serverRow) string { return freshnessText(r, now) }},
		{"RETRY", func(r *serverRow) string { return nextRetry(r, now) }},
		{"MEMORY", func(r *serverRow) string { return memoryText(r.Memory) }},
		{"TRANSPORT", func(r *serverRow) string { return r.Transport }},
		{"DESCRIPTION", func(r *serverRow) string { return shortText(aboutText(r)) }},
		{"COMMAND", func(r *serverRow) string { return output.Truncate(output.OneLine(r.Command), 48) }},
		{"REASON", func(r *serverRow) string { return output.Truncate(output.OneLine(reasonText(r)), 100) }},
	}
	all = slices.DeleteFunc(all, func(c serverColumn) bool {
		return c.name != "STATE" && !slices.ContainsFunc(rows, func(r serverRow) bool { return c.of(&r) != "" })
	})
	for _, c := range roomFor(all, rows, width) {
		head = append(head, c.name)
		for i := range rows {
			if i == len(cells) {
				cells = append(cells, nil)
			}
			cells[i] = append(cells[i], output.FirstNonEmpty(c.of(&rows[i]), "-"))
		}
	}
	return head, cells
}

// optionalColumns are the columns that are omitted on a narrow terminal, in this order. The reason why a server
// does not run is more important than what it runs.
var optionalColumns = []string{"TRANSPORT", "DESCRIPTION", "COMMAND", "MEMORY", "SINCE", "LIST"}

// minReason is the minimum width of the last column; other columns are omitted to reach it.
const minReason = 40

// roomFor omits columns until the others fit.
func roomFor(all []serverColumn, rows []serverRow, width int) []serverColumn {
	for _, name := range optionalColumns {
		used := -len(output.Gap)
		for j, c := range all {
			w := output.Width(c.name)
			for i := range rows {
				w = max(w, output.Width(output.OneLine(c.of(&rows[i]))))
			}
			if j == len(all)-1 {
				w = min(w, minReason)
			}
			used += w + len(output.Gap)
		}
		if width == 0 || used <= width {
			break
		}
		last := all[len(all)-1].name // the last column is cut instead of omitted
		all = slices.DeleteFunc(all, func(c serverColumn) bool { return c.name == name && name != last })
	}
	return all
}

// shortText returns a text on one line for a narrow column.
func shortText(s string) string { return output.Truncate(output.OneLine(s), 32) }

// toolCount returns how many tools are known and how many of them have changed.
func toolCount(r *serverRow) string {
	if r.Freshness == tool.FreshNone {
		return ""
	}
	if n := len(r.Changed); n > 0 {
		return locale.Sprintf("%d (%d changed)", r.Tools, n)
	}
	return strconv.Itoa(r.Tools)
}

// freshnessText returns where the list comes from and how old it is.
func freshnessText(r *serverRow, now time.Time) string {
	switch {
	case r.Freshness == tool.FreshNone:
		return locale.Sentence(r.Why)
	case r.Freshness == tool.FreshLive || r.Validated == nil:
		return string(r.Freshness)
	}
	return locale.Sprintf("%s, %s old", r.Freshness, output.Age(now.Sub(*r.Validated)))
}

// nextRetry returns the time until a server is started again; empty if it is starting now.
func nextRetry(r *serverRow, now time.Time) string {
	if r.NextRetry == nil || r.State == tool.StateStarting {
		return ""
	}
	return locale.Sprintf("in %s", output.Age(max(0, r.NextRetry.Sub(now))))
}

// memoryText returns a number of bytes in MiB; empty for 0.
func memoryText(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func aboutText(r *serverRow) string { return output.FirstNonEmpty(r.Description, r.Title) }

// reasonText returns why a server is in its state: the stable reason and the sentence about it.
func reasonText(r *serverRow) string {
	if r.Reason == untrustedReason {
		return untrustedReason + ": " + root.TrustHint(r.File)
	}
	if r.Detail == "" || r.Reason == "idle_stop" {
		return r.Reason
	}
	if r.Reason == "" {
		return locale.Sentence(r.Detail)
	}
	return r.Reason + ": " + locale.Sentence(r.Detail)
}

// untrustedReason is the reason shown for a server of a project that is not trusted.
const untrustedReason = "untrusted"

// stateSince returns when the server entered its state, in a short form: without the date for 12 hours. It is "-" for a server
// that was never started.
func stateSince(r *serverRow, now time.Time) string {
	if r.Since.IsZero() {
		return "-"
	}
	t := r.Since.In(now.Location())
	if now.Sub(t) < 12*time.Hour {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// serverDetails returns all facts about one server.
func serverDetails(r *serverRow) [][]string {
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
	add("detail", locale.Sentence(r.Detail))
	if r.Reason == untrustedReason {
		add("detail", root.TrustHint(r.File))
	}
	add("transport", r.Transport)
	add("command", r.Command)
	add("package", r.Package)
	add("registry", r.Registry)
	add("server", r.Server)
	add("protocol", r.Version)
	add("era", r.Era)
	if r.PID > 0 {
		add("pid", strconv.Itoa(r.PID))
	}
	add("memory", memoryText(r.Memory))
	add("lifecycle", r.Lifecycle)
	if r.Attempt > 0 {
		add("failures in a row", strconv.Itoa(r.Attempt))
	}
	if r.NextRetry != nil && r.State != tool.StateStarting {
		add("next retry", r.NextRetry.Local().Format(time.RFC3339))
	}
	if r.Starts > 0 {
		add("starts", locale.Sprintf("%d, %d of them after a failure", r.Starts, r.Restarts))
		add("last start took", time.Duration(r.StartSeconds*float64(time.Second)).Round(time.Millisecond).String())
	}
	if r.Freshness != tool.FreshNone {
		add("tools", strconv.Itoa(r.Tools))
		add("resources", strconv.Itoa(r.Resources))
		add("prompts", strconv.Itoa(r.Prompts))
		add("lists", strings.TrimSuffix(string(r.Freshness)+", "+locale.Sentence(r.Why), ", "))
	}
	if r.Validated != nil {
		add("lists confirmed", r.Validated.Local().Format(time.RFC3339))
	}
	add("changed tools", strings.Join(r.Changed, ", "))
	add("auto-approved", strings.Join(r.AutoApprove, ", "))
	add("defined", fmt.Sprintf("%s:%d", r.File, r.Line))
	return out
}
