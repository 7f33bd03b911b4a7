// Package settings has the commands about settings, secrets, tokens, the checks on calls and grants.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
)

// commands holds the methods behind the commands of this package. They share one program.
type commands struct{ *root.Program }

// ConfigCommand returns the command `collie config`.
func ConfigCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	show := &cobra.Command{
		Use: "show", Short: "Show all settings in effect, secrets hidden", Args: cobra.NoArgs,
		Long: "Shows every setting in effect; secrets are hidden.\n\n" + root.VariablesHelp,
		RunE: func(*cobra.Command, []string) error { return p.configShow() },
	}
	get := &cobra.Command{
		Use: "get PATH", Short: "Show one setting in effect", Args: root.NamedArgs("setting"),
		Long:              "Shows the setting at a path such as http.addr; secrets are hidden.",
		ValidArgsFunction: p.completeSettings,
		RunE:              func(_ *cobra.Command, args []string) error { return p.configGet(args[0]) },
	}
	set := &cobra.Command{
		Use: "set PATH VALUE", Short: "Write one setting into the file", Args: root.NamedArgs("setting", "value"),
		Long: "Writes a setting into the settings file. Comments and everything else stay, and the old file is\n" +
			"kept as FILE.bak. VALUE is read as JSON, or else as text.",
		Example:           "  collie config set http.addr 127.0.0.1:8000\n  collie config set http.allowedOrigins '[\"https://notes.example.org\"]'",
		ValidArgsFunction: p.completeSettings,
		RunE:              func(c *cobra.Command, args []string) error { return p.configSet(c.Context(), args[0], args[1]) },
	}
	unset := &cobra.Command{
		Use: "unset PATH", Short: "Remove one setting from the file", Args: root.NamedArgs("setting"),
		Long: "Removes a setting from the settings file, so that its default applies again; comments and\n" +
			"everything else stay, and the old file is kept as FILE.bak.",
		ValidArgsFunction: p.completeSettings,
		RunE:              func(c *cobra.Command, args []string) error { return p.configUnset(c.Context(), args[0]) },
	}
	var all bool
	path := &cobra.Command{
		Use: "path", Short: "Show which file holds the settings", Args: cobra.NoArgs,
		Long: "Shows the settings file that commands write to. --all shows every file and folder.",
		RunE: func(*cobra.Command, []string) error { return p.configPath(all) },
	}
	path.Flags().BoolVar(&all, "all", false, "show every file and folder of this home")
	return root.Group("config", "The settings", show, get, set, unset, path)
}

func (p commands) configShow() error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	raw := app.Hidden(cfg).JSON()
	if p.JSON {
		return p.PrintJSON(raw)
	}
	var rows [][]string
	for _, s := range leaves(raw) {
		rows = append(rows, []string{s.path, s.value})
	}
	return p.Table([]string{"SETTING", "VALUE"}, rows)
}

func (p commands) configGet(path string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	raw, err := app.Hidden(cfg).Get(path)
	switch {
	case errors.Is(err, config.ErrNoSetting):
		return unknownSettingError(path, cfg, err)
	case err != nil:
		return root.Usage("%v", err)
	}
	if p.JSON {
		return p.PrintJSON(raw)
	}
	_, err = fmt.Fprintln(p.Out, rawjson.PlainValue(raw))
	return err
}

// unknownSettingError returns the usage error for a path that is not a setting. err is the error that was found, whose text
// may name a similar setting.
func unknownSettingError(path string, cfg *config.Config, err error) error {
	near := root.DidYouMean(path, settingPaths(cfg))
	if _, known, ok := strings.Cut(err.Error(), "; did you mean "); ok && near == "" {
		near = locale.Sprintf("; did you mean %s", known)
	}
	if near == "" {
		near = locale.T("; collie config show lists all of them")
	}
	return root.Usage("there is no such setting: %s%s", path, near)
}

// configPath prints the settings file, or with all every file and folder of this home.
func (p commands) configPath(all bool) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	file := root.SettingsFile(cfg)
	if !all && !p.JSON {
		_, err := fmt.Fprintln(p.Out, file)
		return err
	}
	d := cfg.Paths
	if p.JSON {
		out := map[string]any{
			"file": file, "read": append([]string{}, cfg.Files...), "config": d.Config, "cache": d.Cache,
			"state": d.State, "data": d.Data, "audit": cfg.Audit.Dir, "toolCache": cfg.Cache.File,
		}
		if cfg.Project != nil {
			out["project"] = map[string]any{"file": cfg.Project.File, "state": cfg.Project.State}
		}
		return p.PrintJSON(out)
	}
	rows := [][]string{{"settings", file}}
	for _, f := range cfg.Files {
		if f != file {
			rows = append(rows, []string{"also read", f})
		}
	}
	if cfg.Project != nil {
		rows = append(rows, []string{"project", fmt.Sprintf("%s (%s)", cfg.Project.File, cfg.Project.State)})
	}
	return p.Table(nil, append(rows,
		[]string{"config", d.Config}, []string{"cache", d.Cache}, []string{"state", d.State},
		[]string{"data", d.Data}, []string{"audit", cfg.Audit.Dir}, []string{"tool cache", cfg.Cache.File}))
}

// setting is one value that is not an object.
type setting struct{ path, value string }

// leaves returns the settings in an object and in the objects within it, sorted by path.
func leaves(raw json.RawMessage) []setting {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return []setting{{"", output.FirstNonEmpty(rawjson.PlainValue(raw), `""`)}}
	}
	var out []setting
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, s := range leaves(fields[name]) {
			out = append(out, setting{strings.TrimSuffix(name+"."+s.path, "."), s.value})
		}
	}
	return out
}

// settingPaths returns the paths of all settings.
func settingPaths(cfg *config.Config) []string {
	var out []string
	for _, s := range leaves(cfg.JSON()) {
		out = append(out, s.path)
	}
	return out
}

// completeSettings completes the path of a setting.
func (p commands) completeSettings(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	cfg, _, err := p.Settings()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known := settingPaths(cfg)
	return slices.DeleteFunc(known, func(s string) bool { return !strings.HasPrefix(s, typed) }), cobra.ShellCompDirectiveNoFileComp
}
