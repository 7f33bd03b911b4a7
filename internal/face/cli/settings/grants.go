package settings

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/call"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	grantadmin "collie/internal/pipeline/gate/grant/admin"
)

// This file has the command `collie grants`, which lists and revokes what people have allowed beyond one call.

// GrantsCommand returns the command `collie grants`.
func GrantsCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	return root.Group("grants", "What you have allowed for more than one call",
		&cobra.Command{
			Use: "list", Short: "Show what runs without asking you, and how often it did", Args: cobra.NoArgs,
			Long: "Shows what you allowed when you were asked about a call in a conversation: which action, where, how\n" +
				"long and how often that was used. What has expired is left out. A grant whose tool has changed since\n" +
				"is shown and covers nothing.",
			RunE: func(c *cobra.Command, _ []string) error { return p.grantsList(c.Context()) },
		},
		&cobra.Command{
			Use: "revoke ID", Aliases: []string{"remove", "rm"}, Short: "Take a grant back", Args: root.NamedArgs("id"),
			Long:    "Revokes a grant: from now on you are asked about such calls again, in every process of\nthis home. A call that is running continues.",
			Example: "  collie grants revoke g4jx2k7a9m3c6t5w",
			RunE:    func(c *cobra.Command, args []string) error { return p.grantsRevoke(c.Context(), args[0]) },
			ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				return p.completeGrants(c.Context(), args), cobra.ShellCompDirectiveNoFileComp
			},
		},
	)
}

// allGrants lists and revokes the grants of all sessions. They are in the file of this home or in the running gateway.
type allGrants interface {
	List(ctx context.Context) ([]grantadmin.Grant, error)
	Revoke(ctx context.Context, id string) (grantadmin.Grant, error)
}

// openGrants returns the grants of this home, through its gateway if one runs. The caller calls end.
func (p commands) openGrants(ctx context.Context) (g allGrants, end func(), err error) {
	cfg, err := p.Load()
	if err != nil {
		return nil, nil, err
	}
	if r := p.sameGateway(ctx, cfg); r != nil {
		return remoteGrants{r}, r.Close, nil
	}
	return app.FileGrants(cfg, app.Options{Version: p.Version, Env: p.Env}), func() {}, nil
}

// sameGateway returns a client for the gateway that runs with the settings of this command, nil if there is none or --local
// is given. The caller closes it.
func (p commands) sameGateway(ctx context.Context, cfg *config.Config) *remote.Client {
	if p.Local {
		return nil
	}
	g, sameSettings, err := p.FindGateway(ctx, cfg)
	if err != nil || !sameSettings {
		return nil
	}
	r := remote.New(cfg, g, nil)
	if !r.Alive(ctx) {
		r.Close()
		return nil
	}
	return r
}

// remoteGrants gives access to the grants of a running gateway.
type remoteGrants struct{ gateway *remote.Client }

// List implements [allGrants].
func (g remoteGrants) List(ctx context.Context) ([]grantadmin.Grant, error) {
	raw, err := g.gateway.Do(ctx, http.MethodGet, "/grants", nil)
	if err != nil {
		return nil, err
	}
	var list struct{ Grants []grantadmin.Grant }
	return list.Grants, json.Unmarshal(raw, &list)
}

// Revoke implements [allGrants].
func (g remoteGrants) Revoke(ctx context.Context, id string) (was grantadmin.Grant, err error) {
	raw, err := g.gateway.Do(ctx, http.MethodDelete, "/grants/"+url.PathEscape(id), nil)
	if err != nil {
		return was, err
	}
	return was, json.Unmarshal(raw, &was)
}

func (p commands) completeGrants(ctx context.Context, args []string) (ids []string) {
	if len(args) > 0 {
		return nil
	}
	g, end, err := p.openGrants(ctx)
	if err != nil {
		return nil
	}
	defer end()
	all, err := g.List(ctx)
	if err != nil {
		return nil
	}
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	return ids
}

func (p commands) grantsList(ctx context.Context) error {
	g, end, err := p.openGrants(ctx)
	if err != nil {
		return err
	}
	defer end()
	all, err := g.List(ctx)
	switch {
	case err != nil:
		return err
	case p.JSON:
		return p.PrintJSON(map[string]any{"grants": append([]grantadmin.Grant{}, all...)})
	case len(all) == 0:
		p.Note("nothing is allowed for more than one call")
		return nil
	}
	rows := make([][]string, len(all))
	for i := range all {
		a := &all[i]
		used := locale.T("never")
		if a.Uses > 0 {
			used = strconv.Itoa(a.Uses) + " · " + output.Ago(a.Used, time.Now())
		}
		rows[i] = []string{a.ID, a.Tool + "." + a.Action, call.Extent(string(a.Constraint.Kind), a.Constraint.Name), string(a.Risk), grantScope(a), used}
	}
	return p.Table([]string{"ID", "ACTION", "WHERE", "RISK", "HOLDS", "USED"}, rows)
}

// grantScope says for how long, or for which conversation, a grant holds.
func grantScope(g *grantadmin.Grant) string {
	switch {
	case g.Turn != "":
		return locale.T("one answer")
	case g.Session != "":
		return locale.Sprintf("conversation %s", g.Session)
	case g.Expires.IsZero():
		return locale.T("always")
	}
	return locale.Sprintf("until %s", g.Expires.Local().Format(time.DateOnly))
}

func (p commands) grantsRevoke(ctx context.Context, id string) error {
	g, end, err := p.openGrants(ctx)
	if err != nil {
		return err
	}
	defer end()
	was, err := g.Revoke(ctx, id)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"revoked": was})
	}
	_, err = locale.Fprintf(p.Out, "✓ you are asked about %s again: %s\n", was.Tool+"."+was.Action, call.Extent(string(was.Constraint.Kind), was.Constraint.Name))
	return err
}
