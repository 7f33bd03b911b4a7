package settings

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/face/httpserver/tokens"
)

// This file has the command `collie token`, which manages the named tokens of clients.

// TokenCommand returns the command `collie token`.
func TokenCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return root.Group("token", "Tokens that give clients access over HTTP",
		p.tokenAddCommand(),
		&cobra.Command{
			Use: "list", Short: "Show the named tokens, never their secrets", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return p.tokenList() },
		},
		&cobra.Command{
			Use: "revoke NAME", Aliases: []string{"remove", "rm"}, Short: "End a token", Args: root.NamedArgs("name"),
			Long: "Ends a token: within a second it is refused, and connections opened with it are closed, in every\n" +
				"process of this home.",
			ValidArgsFunction: p.completeTokens,
			RunE:              func(c *cobra.Command, args []string) error { return p.tokenRevoke(c.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "rotate NAME", Short: "Give a token a new secret", Args: root.NamedArgs("name"),
			Long: "Gives a token a new secret and prints it once. The old one ends as with collie token revoke;\n" +
				"profile and scopes stay.",
			ValidArgsFunction: p.completeTokens,
			RunE:              func(c *cobra.Command, args []string) error { return p.tokenRotate(c.Context(), args[0]) },
		},
	)
}

// tokenFlags are the flags of `collie token add`.
type tokenFlags struct {
	profile  string
	scopes   []string
	confirms bool
}

func (p commands) tokenAddCommand() *cobra.Command {
	var f tokenFlags
	c := &cobra.Command{
		Use: "add NAME", Short: "Make a token for a client", Args: root.NamedArgs("name"),
		Long: "Makes a token and prints it once: only a digest of it is stored. With --profile it sees and\n" +
			"calls what that profile shows, and any other ?profile= is refused; without, it may choose any.\n" +
			"The first token, which collie serve makes, is not one of these and stays as it is.",
		Example: "  collie token add laptop --profile work\n  collie token add phone --scope chat,approve | pbcopy",
		RunE: func(c *cobra.Command, args []string) error {
			t := tokens.Token{Name: args[0], Profile: f.profile}
			if c.Flags().Changed("elicitation-confirms") {
				t.ElicitationConfirms = &f.confirms
			}
			return p.tokenAdd(c.Context(), t, f.scopes)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.profile, "profile", "", "show the tools of view profile `NAME`, and no others")
	flags.StringSliceVar(&f.scopes, "scope", []string{string(tokens.Tools)}, "`WHAT` it opens: tools (MCP and calls), chat or approve; several with commas between")
	flags.BoolVar(&f.confirms, "elicitation-confirms", false, "whether its client's user may answer what is asked before a dangerous call (default: http.elicitationConfirms)")
	root.CompleteWith(c, "scope", "tools", "chat", "approve")
	return c
}

// tokenAdd stores a token with these scopes and prints its secret.
func (p commands) tokenAdd(ctx context.Context, t tokens.Token, scopes []string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	if err := root.KnownProfile(cfg, t.Profile); err != nil {
		return err
	}
	for _, s := range scopes {
		if err := root.OneOf("--scope", s, []string{"tools", "chat", "approve"}); err != nil {
			return err
		}
		t.Scopes = append(t.Scopes, tokens.Scope(s))
	}
	secret, err := tokens.Add(ctx, tokens.Path(cfg.Paths.State), t)
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, "token add", map[string]any{"name": t.Name, "profile": t.Profile, "scopes": t.Scopes})
	if err := p.showSecret(t.Name, secret); err != nil || p.JSON {
		return err
	}
	if t.May(tokens.Tools) {
		p.Note("token %s, not shown again: a client sends it as Authorization: Bearer … to the /mcp of collie serve; collie connect CLIENT --http sets both up", t.Name)
	} else {
		p.Note("this is the token %s; it is not shown again", t.Name)
	}
	return nil
}

// showSecret prints nothing but the secret, so that it can be piped. With --json it prints the name too.
func (p commands) showSecret(name, secret string) error {
	if p.JSON {
		return p.PrintJSON(map[string]string{"name": name, "token": secret})
	}
	_, err := fmt.Fprintln(p.Out, secret)
	return err
}

func (p commands) tokenRotate(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	secret, err := tokens.Rotate(ctx, tokens.Path(cfg.Paths.State), name)
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, "token rotate", map[string]any{"name": name})
	err = p.showSecret(name, secret)
	if err == nil && output.IsTerminal(p.Out) {
		p.Note("this is the token %s; it is not shown again", name)
	}
	return err
}

func (p commands) tokenRevoke(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	if err := tokens.Revoke(ctx, tokens.Path(cfg.Paths.State), name); err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, "token revoke", map[string]any{"name": name})
	if p.JSON {
		return p.PrintJSON(map[string]string{"revoked": name})
	}
	_, err = locale.Fprintf(p.Out, "revoked %s\n", name)
	return err
}

// shownToken is a token in the output of --json.
type shownToken struct {
	Name                string         `json:"name"`
	Profile             string         `json:"profile,omitempty"`
	Scopes              []tokens.Scope `json:"scopes"`
	ElicitationConfirms *bool          `json:"elicitationConfirms,omitempty"`
	Client              string         `json:"client,omitempty"`
	File                string         `json:"file,omitempty"`
	Made                time.Time      `json:"made"`
}

func (p commands) tokenList() error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	list, err := tokens.Read(tokens.Path(cfg.Paths.State))
	if err != nil {
		return err
	}
	if p.JSON {
		out := []shownToken{}
		for _, t := range list {
			out = append(out, shownToken{t.Name, t.Profile, t.Scopes, t.ElicitationConfirms, t.Client, t.File, t.Made})
		}
		return p.PrintJSON(map[string]any{"tokens": out})
	}
	if len(list) == 0 {
		p.Note("there are no named tokens; collie token add NAME makes one")
		return nil
	}
	var rows [][]string
	for _, t := range list {
		confirms := locale.T("as set")
		if c := t.ElicitationConfirms; c != nil {
			confirms = map[bool]string{true: locale.T("yes"), false: locale.T("no")}[*c]
		}
		rows = append(rows, []string{t.Name, output.FirstNonEmpty(t.Profile, locale.T("any")), t.ScopeList(), confirms, t.Made.Local().Format("2006-01-02 15:04"), t.Client})
	}
	return p.Table([]string{"NAME", "PROFILE", "SCOPES", "CONFIRMS", "MADE", "CLIENT"}, rows)
}

func (p commands) completeTokens(_ *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	cfg, _, err := p.Settings()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := tokens.Read(tokens.Path(cfg.Paths.State)) // completion reports no errors
	for _, t := range list {
		if strings.HasPrefix(t.Name, typed) {
			names = append(names, t.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
