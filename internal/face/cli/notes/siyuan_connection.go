package notes

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file has the commands that list, show and test saved connections to SiYuan.

func (p commands) siyuanConnectionCommand() *cobra.Command {
	return root.Group("connection", "Saved connections to SiYuan",
		p.siyuanConnectionListCommand(),
		p.siyuanConnectionShowCommand(),
		p.siyuanConnectionSetCommand(),
		p.siyuanConnectionUseCommand(),
		p.siyuanConnectionRemoveCommand(),
		p.siyuanConnectionTestCommand(),
	)
}

func (p commands) siyuanConnectionListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the saved connections", Args: cobra.NoArgs,
		Long: "Shows the connections in the settings, or else those of older programs; * marks the current\n" +
			"one. Tokens are never shown.",
		RunE: func(*cobra.Command, []string) error { return p.siyuanConnectionList() },
	}
}

// connectionRow is the output for a connection.
type connectionRow struct {
	Name      string `json:"name"`
	Current   bool   `json:"current"`
	URL       string `json:"url"`
	Token     string `json:"token"` // "configured", "empty", or a reference such as ${secret:NAME}
	Workspace string `json:"workspace,omitempty"`
}

// rowOf returns the row of a connection; current names the default one.
func rowOf(c notesadmin.SavedKernel, current string) connectionRow {
	return connectionRow{c.Name, c.Name == current, c.URL, c.TokenShown(), c.Workspace}
}

// currentOf returns the name of the default connection: the current one, or the only one.
func currentOf(saved *notesadmin.SavedKernels) string {
	if saved.Current == "" && len(saved.Connections) == 1 {
		return saved.Connections[0].Name
	}
	return saved.Current
}

func (p commands) siyuanConnectionList() error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	saved, problems := app.Connections(cfg, p.Env)
	for _, problem := range problems {
		p.Warn("siyuan: %s", problem)
	}
	rows := []connectionRow{}
	for _, c := range saved.Connections {
		rows = append(rows, rowOf(c, currentOf(&saved)))
	}
	if address := p.Env.Get("SIYUAN_API_URL"); address != "" {
		p.Note("SIYUAN_API_URL is set: %s is used, and none of these", address)
	}
	switch {
	case p.JSON:
		return p.PrintJSON(map[string]any{"file": saved.File, "connections": rows})
	case len(rows) == 0:
		p.Note("no SiYuan connection is saved; collie siyuan init makes one")
		return nil
	case saved.File != "":
		p.Note("from %s; collie siyuan connection set NAME --url URL saves one in Collie's own settings", saved.File)
	}
	var cells [][]string
	for _, r := range rows {
		mark := ""
		if r.Current {
			mark = "*"
		}
		cells = append(cells, []string{mark, r.Name, r.URL, r.Token, output.FirstNonEmpty(r.Workspace, "-")})
	}
	return p.Table([]string{"", "NAME", "URL", "TOKEN", "WORKSPACE"}, cells)
}

func (p commands) siyuanConnectionShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show one saved connection", Args: cobra.MaximumNArgs(1), ValidArgsFunction: p.CompleteConnections,
		Long: "Shows the connection called NAME, or the current one. The token is never shown.",
		RunE: func(_ *cobra.Command, args []string) error {
			return p.siyuanConnectionShow(output.FirstNonEmpty(append(args, "")...))
		},
	}
}

func (p commands) siyuanConnectionShow(name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	saved, _ := app.Connections(cfg, p.Env)
	if name = output.FirstNonEmpty(name, currentOf(&saved)); name == "" {
		if len(saved.Names()) == 0 {
			return root.Usage("no connection is saved; collie siyuan init makes one")
		}
		return root.Usage("no connection is the current one; name one of %s", strings.Join(saved.Names(), ", "))
	}
	c, ok := saved.Get(name)
	if !ok {
		_, err := ownConnection("siyuan connection show", name, &saved) // the error suggests a similar name
		return err
	}
	r := rowOf(c, currentOf(&saved))
	if p.JSON {
		return p.PrintJSON(r)
	}
	return p.Table(nil, [][]string{
		{"name", r.Name},
		{"url", r.URL},
		{"token", r.Token},
		{"workspace", output.FirstNonEmpty(r.Workspace, locale.T("not recorded"))},
		{"current", fmt.Sprint(r.Current)},
		{"file", output.FirstNonEmpty(saved.File, root.SettingsFile(cfg))},
	})
}

func (p commands) siyuanConnectionTestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test [NAME]", Short: "Test a saved connection", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: p.CompleteConnections,
		Long: "Asks the kernel of connection NAME, or of the current one, for its version and, with the token,\n" +
			"for its notebooks, and compares its workspace with the recorded one. The exit code is 3 if no\n" +
			"kernel answers and 4 if the token is wrong.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.siyuanConnectionTest(c.Context(), output.FirstNonEmpty(append(args, "")...))
		},
	}
}

// siyuanConnectionTest asks the kernel of a connection who it is, and compares its workspace with the recorded one.
func (p commands) siyuanConnectionTest(ctx context.Context, name string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	choice, err := app.SavedChoice(ctx, cfg, p.Env, name)
	if err != nil {
		return err
	}
	facts, err := notesadmin.TryKernel(ctx, choice.URL, choice.Token.Reveal(), nil)
	if err != nil {
		return err
	}
	if !facts.ReadOnly {
		if err := choice.Verify(facts.Workspace); err != nil {
			return err
		}
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"connection": choice.Name, "url": choice.URL, "kernel": facts})
	}
	_, err = fmt.Fprintln(p.Out, output.OneLine(kernelLine(choice.URL, &facts)))
	return err
}
