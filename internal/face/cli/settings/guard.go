package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
	firewalladmin "collie/internal/pipeline/firewall/admin"
	"collie/internal/tool"
)

// This file has the command `collie guard`, which shows the rules that judge calls, tries them on a call, and shows past
// decisions.

// GuardCommand returns the command `collie guard`.
func GuardCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	show := &cobra.Command{
		Use: "show", Short: "Show the rules in effect and where each comes from", Args: cobra.NoArgs,
		Long: "Shows the rules that calls of other servers' tools are judged by, and whether each is built in or\n" +
			"comes from the settings. deny refuses a call, ask has a person asked, allow lowers its risk.",
		RunE: func(*cobra.Command, []string) error { return p.guardShow() },
	}
	test := &cobra.Command{
		Use: "test FILE", Short: "Show what the rules make of a call, without making it", Args: root.NamedArgs("file"),
		Long: "Reads a call as JSON from FILE, or from the standard input where FILE is -, and shows each rule that\n" +
			"found something in it. Nothing runs. Besides server, tool and arguments the file may have\n" +
			"description, readOnly, destructive, changed and origin (chat, direct, mcp-local and so on).",
		Example: "  echo '{\"server\":\"shell\",\"tool\":\"run\",\"arguments\":{\"command\":\"ls | sh\"}}' | collie guard test -",
		RunE:    func(_ *cobra.Command, args []string) error { return p.guardTest(args[0]) },
	}
	return root.Group("guard", "The fixed rules that judge tool calls", show, test, p.guardLogCommand(), p.guardNotifyCommand())
}

func (p commands) guardNotifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "notify", Short: "Send a test notification", Args: cobra.NoArgs,
		Long: "Sends a notification to where guard.notify says: to this desktop, to an address of yours, or both.\n" +
			"A gateway sends one when a call waits for you, with the tool, the client and where to answer.",
		Example: "  collie config set guard.notify.url https://ntfy.sh/my-topic\n  collie config set guard.notify.format text\n  collie guard notify",
		RunE:    func(c *cobra.Command, _ []string) error { return p.guardNotify(c.Context()) },
	}
}

// guardNotify sends a test notification and prints where it went. The exit code is 1 if one could not be sent.
func (p commands) guardNotify(ctx context.Context) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	sent, err := app.TryNotify(ctx, cfg, app.Options{Env: p.Env})
	if err != nil {
		return err
	}
	failed := false
	var rows [][]string
	for _, n := range sent {
		state := locale.T("sent")
		if n.Error != "" {
			state, failed = n.Error, true
		}
		rows = append(rows, []string{n.By, state})
	}
	if p.JSON {
		err = p.PrintJSON(sent)
	} else {
		err = p.Table([]string{"BY", "STATE"}, rows)
	}
	if err == nil && failed {
		return root.Exit(root.ExitFailed)
	}
	return err
}

func (p commands) guardLogCommand() *cobra.Command {
	var n int
	c := &cobra.Command{
		Use: "log", Short: "Show what was refused or asked about, and who agreed", Args: cobra.NoArgs,
		Long: "Shows the newest decisions about calls that did not simply run: the rule, how much harm the call could\n" +
			"do, what was decided and how a person answered. A verdict of log is what a guardian that only watches\n" +
			"says of a call that ran. They are part of the record of calls, collie audit.",
		RunE: func(c *cobra.Command, _ []string) error { return p.guardLog(c.Context(), n) },
	}
	c.Flags().IntVarP(&n, "lines", "n", 20, "show the last `N` decisions; 0 shows all")
	return c
}

// guardLog prints the newest n decisions in the audit.
func (p commands) guardLog(ctx context.Context, n int) error {
	if n < 0 {
		return root.Usage("-n is %d, expected a number of records, or 0 for all", n)
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	rows := [][]string{}
	for e, err := range auditadmin.Open(cfg).Query(ctx, auditadmin.Filter{Kind: "decision", Limit: n}) {
		if err != nil {
			return err
		}
		if p.JSON {
			if err := p.WriteJSON(e.Raw); err != nil {
				return err
			}
			continue
		}
		var d tool.Decision
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			return fmt.Errorf("read the audit: %w", err)
		}
		what := e.Name
		if e.Action != "" {
			what = e.Tool + "." + e.Action
		}
		rows = append(rows, []string{e.Time.Local().Format(time.DateTime), e.Origin, what, string(d.Verdict), string(d.Risk), d.Stage + " " + d.Rule, d.Approver})
	}
	switch {
	case p.JSON:
		return nil
	case len(rows) == 0:
		p.Note("no records")
		return nil
	}
	return p.Table([]string{"TIME", "ORIGIN", "WHAT", "VERDICT", "RISK", "RULE", "APPROVER"}, rows)
}

// guardShow prints the modes of the checks and the rules in effect.
func (p commands) guardShow() error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	rules := firewalladmin.Rules(cfg)
	if p.JSON {
		return p.PrintJSON(map[string]any{"mode": cfg.Guard.Mode, "clients": cfg.Guard.Clients, "prompts": cfg.Guard.Prompts, "guardian": cfg.Guard.Guardian, "rules": rules})
	}
	p.Note("guard.mode is %s: what the rules find in calls of models", cfg.Guard.Mode)
	p.Note("guard.clients is %s: what they find in calls of MCP clients", cfg.Guard.Clients)
	p.Note("guard.prompts is %s: results that try to give orders to a model", cfg.Guard.Prompts)
	p.Note("guard.guardian.mode is %s: a second model that looks at calls", cfg.Guard.Guardian)
	if n := &cfg.Guard.Notify; n.Desktop || n.URL != "" {
		p.Note("guard.notify is set: questions are sent to you as notifications; %s sends a test", p.Typed("guard notify"))
	}
	var rows [][]string
	for _, r := range rules {
		about, from := locale.T(r.About), r.From
		if len(r.Values) > 0 {
			about = strings.Join(r.Values, ", ")
		} else {
			from = locale.T("built in")
		}
		rows = append(rows, []string{r.Rule, r.Decision, from, about})
	}
	return p.Table([]string{"RULE", "DECISION", "FROM", "ABOUT"}, rows)
}

// maxTrialCall is how many bytes of a call are read from stdin.
const maxTrialCall = 4 << 20

// guardTest prints what the rules find in the call that file describes.
func (p commands) guardTest(file string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	var raw []byte
	if file == "-" {
		raw, err = io.ReadAll(io.LimitReader(p.In, maxTrialCall))
	} else {
		raw, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	trial, err := firewalladmin.Try(cfg, p.Env, raw)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(trial)
	}
	var rows [][]string
	for _, s := range trial.Steps {
		rows = append(rows, []string{s.Decision, s.Rule, s.At, s.Reason})
	}
	if len(rows) > 0 {
		if err := p.Table([]string{"DECISION", "RULE", "AT", "REASON"}, rows); err != nil {
			return err
		}
	}
	format := map[string]string{
		"pass":   locale.T("A call from %s passes the rules. Its risk is %s."),
		"ask":    locale.T("A call from %s needs a person's answer. Its risk is %s."),
		"refuse": locale.T("A call from %s is refused. Its risk is %s."),
		"log":    locale.T("A call from %s passes, and what was found is logged. Its risk is %s."),
	}[trial.Outcome]
	_, err = locale.Fprintf(p.Out, format+"\n", string(trial.Origin), string(trial.Risk))
	return err
}
