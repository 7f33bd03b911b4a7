package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/app"
)

func (p *program) siyuanConnectionCommand() *cobra.Command {
	return group("connection", "The SiYuan kernels that are saved",
		p.siyuanConnectionListCommand(),
		p.siyuanConnectionShowCommand(),
		p.siyuanConnectionSetCommand(),
		p.siyuanConnectionUseCommand(),
		p.siyuanConnectionRemoveCommand(),
		p.siyuanConnectionTestCommand(),
	)
}

func (p *program) siyuanConnectionListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the saved connections", Args: cobra.NoArgs,
		Long: "Shows the connections of the settings, else those of older programs, with * at the current\n" +
			"one. Tokens are never shown.",
		RunE: func(*cobra.Command, []string) error { return p.siyuanConnectionList() },
	}
}

// connectionRow is what is shown of a connection.
type connectionRow struct {
	Name      string `json:"name"`
	Current   bool   `json:"current"`
	URL       string `json:"url"`
	Token     string `json:"token"` // configured, empty, or what it stands for
	Workspace string `json:"workspace,omitempty"`
}

func rowOf(c app.SavedKernel, current string) connectionRow {
	return connectionRow{c.Name, c.Name == current, c.URL, c.TokenShown(), c.Workspace}
}

// currentOf is the name of the connection that is used where nothing else is said.
func currentOf(saved *app.SavedKernels) string {
	if saved.Current == "" && len(saved.Connections) == 1 {
		return saved.Connections[0].Name
	}
	return saved.Current
}

func (p *program) siyuanConnectionList() error {
	cfg, _, err := p.settings()
	if err != nil {
		return err
	}
	saved, problems := app.Connections(cfg, p.env)
	for _, problem := range problems {
		p.warn("siyuan: %s", problem)
	}
	rows := []connectionRow{}
	for _, c := range saved.Connections {
		rows = append(rows, rowOf(c, currentOf(&saved)))
	}
	if address := p.env.Get("SIYUAN_API_URL"); address != "" {
		p.note("SIYUAN_API_URL is set: %s is used, and none of these", address)
	}
	switch {
	case p.json:
		return p.printJSON(map[string]any{"file": saved.File, "connections": rows})
	case len(rows) == 0:
		p.note("no SiYuan connection is saved; collie siyuan init makes one")
		return nil
	case saved.File != "":
		p.note("from %s; collie siyuan connection set NAME --url URL saves one in Collie's own settings", saved.File)
	}
	var cells [][]string
	for _, r := range rows {
		mark := ""
		if r.Current {
			mark = "*"
		}
		cells = append(cells, []string{mark, r.Name, r.URL, r.Token, first(r.Workspace, "-")})
	}
	return p.table([]string{"", "NAME", "URL", "TOKEN", "WORKSPACE"}, cells)
}

func (p *program) siyuanConnectionShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [NAME]", Short: "Show one saved connection", Args: cobra.MaximumNArgs(1), ValidArgsFunction: p.completeConnections,
		Long: "Shows the connection called NAME, else the current one. The token is never shown.",
		RunE: func(_ *cobra.Command, args []string) error {
			return p.siyuanConnectionShow(first(append(args, "")...))
		},
	}
}

func (p *program) siyuanConnectionShow(name string) error {
	cfg, _, err := p.settings()
	if err != nil {
		return err
	}
	saved, _ := app.Connections(cfg, p.env)
	if name = first(name, currentOf(&saved)); name == "" {
		return usage("no connection is the current one; name one of %v", saved.Names())
	}
	c, ok := saved.Get(name)
	if !ok {
		_, err := ownConnection("siyuan connection show", name, &saved)
		return err
	}
	r := rowOf(c, currentOf(&saved))
	if p.json {
		return p.printJSON(r)
	}
	return p.table(nil, [][]string{
		{"name", r.Name},
		{"url", r.URL},
		{"token", r.Token},
		{"workspace", first(r.Workspace, "not recorded")},
		{"current", fmt.Sprint(r.Current)},
		{"file", first(saved.File, settingsFile(cfg))},
	})
}

func (p *program) siyuanConnectionTestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test [NAME]", Short: "Ask the kernel of a saved connection who it is", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: p.completeConnections,
		Long: "Asks the kernel of the connection called NAME, else of the current one, for its version, and\n" +
			"with the token for its notebooks; and holds its workspace against the one that is recorded.\n" +
			"The exit code is 3 where none answers and 4 where the token is wrong.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.siyuanConnectionTest(c.Context(), first(append(args, "")...))
		},
	}
}

func (p *program) siyuanConnectionTest(ctx context.Context, name string) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	choice, err := app.SavedChoice(ctx, cfg, p.env, name)
	if err != nil {
		return err
	}
	facts, err := app.TryKernel(ctx, choice.URL, choice.Token.Reveal(), nil)
	if err != nil {
		return err
	}
	if !facts.ReadOnly {
		if err := choice.Verify(facts.Workspace); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(map[string]any{"connection": choice.Name, "url": choice.URL, "kernel": facts})
	}
	_, err = fmt.Fprintln(p.out, oneLine(kernelLine(choice.URL, &facts)))
	return err
}
