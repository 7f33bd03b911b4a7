package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file has the commands `collie mcp remove` and `collie mcp rename`.

func (p commands) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a server from the settings", Args: root.NamedArgs("server"),
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.remove(c.Context(), args[0]) },
	}
}

// remove removes a server from the file that defines it.
func (p commands) remove(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	s, err := root.OwnServer("mcp remove", name, cfg)
	if err != nil {
		return err
	}
	file := s.File
	if err := cfg.Edit(ctx, file, config.Remove(name)); err != nil {
		return root.NotWrittenError("mcp remove", file, err)
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"removed": name, "file": file})
	} else {
		_, err = locale.Fprintf(p.Out, "removed %s from %s\n", name, file)
	}
	if err != nil {
		return err
	}
	p.WarnIfDefinedElsewhere(name)
	p.RecordChange(ctx, cfg, "mcp remove", map[string]any{"servers": []string{name}, "file": file})
	return nil
}

func (p commands) renameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename OLD NEW", Short: "Give a server another name", Args: root.NamedArgs("server", locale.T("new name")),
		Long: "Gives a server another name, in the file that defines it; its place and comments stay. Clients\n" +
			"see its tools under the new name from then on.",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.rename(c.Context(), args[0], args[1]) },
	}
}

// rename gives a server another name in the file that defines it, and warns of profiles that still use the old one.
func (p commands) rename(ctx context.Context, from, to string) error {
	const op = "mcp rename"
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	s, err := root.OwnServer(op, from, cfg)
	if err != nil {
		return err
	}
	if from == to {
		return root.Usage("%s has that name already", from)
	}
	if i := slices.Index(root.ServerNames(cfg), to); i >= 0 {
		return &tool.Error{
			Op: op, Kind: tool.Invalid, Subject: to,
			Message: "a server of that name is defined already in " + cfg.Servers[i].File, Hint: "choose another name, or remove that one",
		}
	}
	if wrong := p.wrongName(cfg, from, to); wrong != "" {
		return root.Usage("%s", wrong)
	}
	if err := cfg.Edit(ctx, s.File, config.Rename(from, to)); err != nil {
		return root.NotWrittenError(op, s.File, err)
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"renamed": from, "to": to, "file": s.File})
	} else {
		_, err = locale.Fprintf(p.Out, "renamed %s to %s in %s\n", from, to, s.File)
	}
	if err != nil {
		return err
	}
	p.WarnIfDefinedElsewhere(from)
	for _, place := range profilesNaming(cfg, from) {
		p.Warn("%s still names %s; change it as well: collie config set", place, from)
	}
	p.RecordChange(ctx, cfg, op, map[string]any{"servers": []string{from, to}, "file": s.File})
	return nil
}

// wrongName returns why a server cannot have a name; empty if it can.
func (p commands) wrongName(cfg *config.Config, from, to string) string {
	with := *cfg
	with.Servers = slices.Clone(cfg.Servers)
	for i := range with.Servers {
		if with.Servers[i].Name == from {
			with.Servers[i].Name = to
		}
	}
	specs, _ := serveradmin.Specs(&with, p.Env)
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

// ruleName is the id of the rule for names of servers.
const ruleName = "R-CV-2"

// profilesNaming returns the settings of profiles that name a server.
func profilesNaming(cfg *config.Config, name string) []string {
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
