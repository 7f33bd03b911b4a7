package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

func (p *program) mcpRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename OLD NEW", Short: "Give a server another name", Args: named("server", "new name"),
		Long: "Gives a server another name, in the file that defines it; its place and comments stay. What\n" +
			"clients see of it begins with the new name from then on.",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpRename(c.Context(), args[0], args[1]) },
	}
}

func (p *program) mcpRename(ctx context.Context, from, to string) error {
	const op = "mcp rename"
	cfg, _, err := p.settings()
	if err != nil {
		return err
	}
	s, err := ownServer(op, from, cfg)
	if err != nil {
		return err
	}
	if from == to {
		return usage("%s has that name already", from)
	}
	if i := slices.Index(serverNames(cfg), to); i >= 0 {
		return &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: to,
			Message: "a server of that name is defined already in " + cfg.Servers[i].File, Hint: "choose another name, or remove that one",
		}
	}
	if wrong := p.wrongName(cfg, from, to); wrong != "" {
		return usage("%s", wrong)
	}
	if err := cfg.Edit(ctx, s.File, config.Rename(from, to)); err != nil {
		return notWritten(op, s.File, err)
	}
	if p.json {
		err = p.printJSON(map[string]string{"renamed": from, "to": to, "file": s.File})
	} else {
		_, err = fmt.Fprintf(p.out, "renamed %s to %s in %s\n", from, to, s.File)
	}
	if err != nil {
		return err
	}
	p.shadowed(from)
	for _, place := range mentions(cfg, from) {
		p.warn("%s still names %s; change it as well: collie config set", place, from)
	}
	p.changed(ctx, cfg, op, map[string]any{"servers": []string{from, to}, "file": s.File})
	return nil
}

// wrongName is why a server cannot have a name; empty if it can.
func (p *program) wrongName(cfg *config.Config, from, to string) string {
	with := *cfg
	with.Servers = slices.Clone(cfg.Servers)
	for i := range with.Servers {
		if with.Servers[i].Name == from {
			with.Servers[i].Name = to
		}
	}
	specs, _ := app.Specs(&with, p.env)
	for _, s := range specs {
		if s.Entry.Name != to {
			continue
		}
		for _, pr := range s.Problems {
			if pr.Rule == ruleName {
				return pr.Message
			}
		}
	}
	return ""
}

// ruleName is the rule of a finding about a server's name.
const ruleName = "R-CV-2"

// mentions are the settings of profiles that name a server.
func mentions(cfg *config.Config, name string) []string {
	var out []string
	is := func(s string) bool {
		return s == name || strings.HasPrefix(s, name+".") || strings.HasPrefix(s, name+"/")
	}
	for _, profile := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		p := cfg.Profiles[profile]
		views := slices.Collect(maps.Keys(p.Views))
		for _, list := range []struct {
			what  string
			names []string
		}{
			{"views", views},
			{"tools", slices.Concat(p.Tools.Include, p.Tools.Exclude)},
			{"actions", slices.Concat(p.Actions.Include, p.Actions.Exclude)},
		} {
			if slices.ContainsFunc(list.names, is) {
				out = append(out, "profiles."+profile+"."+list.what)
			}
		}
	}
	return out
}
