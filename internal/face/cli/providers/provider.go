// Package providers has the commands about providers of language models and their keys.
package providers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// commands are the commands of this folder, all of one program.
type commands struct{ *root.Program }

// ProviderCommand is `collie provider`.
func ProviderCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	return root.Group("provider", "Providers of language models",
		p.addCommand(), p.listCommand(), p.testCommand(), p.removeCommand(), p.importCommand())
}

func (p commands) listCommand() *cobra.Command {
	var models bool
	c := &cobra.Command{
		Use: "list [NAME]", Aliases: []string{"ls"}, Short: "Show the providers, or the models that they offer", Args: cobra.MaximumNArgs(1),
		Long: "Shows the providers in the settings. With --models it asks them for their models, and shows how\n" +
			"long a conversation each takes, whether it can call tools, and what it costs.",
		ValidArgsFunction: p.completeProviders,
		RunE: func(c *cobra.Command, args []string) error {
			name := output.First(append(args, "")...)
			if models {
				return p.listModels(c.Context(), name)
			}
			return p.list(name)
		},
	}
	c.Flags().BoolVar(&models, "models", false, "ask for the models, and show them")
	return c
}

// providerRow is a provider as --json has it.
type providerRow struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	BaseURL string   `json:"baseURL,omitempty"`
	Keys    []string `json:"keys"`
}

func (p commands) list(name string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	rows := []providerRow{}
	for _, pr := range cfg.Providers {
		if name != "" && pr.Name != name {
			continue
		}
		r := providerRow{pr.Name, pr.Kind, pr.BaseURL, []string{}}
		for _, k := range pr.Keys {
			r.Keys = append(r.Keys, k.Label)
		}
		rows = append(rows, r)
	}
	switch {
	case name != "" && len(rows) == 0:
		return unknownProvider("provider list", name, cfg)
	case p.JSON:
		return p.PrintJSON(map[string]any{"providers": rows})
	case len(rows) == 0:
		p.Note("no provider is set up; collie provider add sets one up, collie provider import takes what other programs have")
		return nil
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Name, r.Kind, output.First(strings.Join(r.Keys, ", "), "-"), output.First(r.BaseURL, "-")})
	}
	return p.Table([]string{"NAME", "KIND", "KEYS", "ADDRESS"}, cells)
}

// modelRow is a model as --json has it.
type modelRow struct {
	Model     string   `json:"model"` // PROVIDER/MODEL
	Context   int      `json:"context"`
	Guessed   bool     `json:"contextGuessed,omitempty"`
	Tools     bool     `json:"tools"`
	Images    bool     `json:"images"`
	Reasoning bool     `json:"reasoning"`
	Input     *float64 `json:"inputPrice,omitempty"` // US dollars for a million tokens
	Output    *float64 `json:"outputPrice,omitempty"`
}

func (p commands) listModels(ctx context.Context, name string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	m, err := p.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer p.close(m)
	infos, err := m.List(ctx, name)
	if err != nil && len(infos) == 0 {
		return app.ModelError("provider list", err)
	}
	rows := []modelRow{}
	for _, i := range infos {
		r := modelRow{Model: i.Provider + "/" + i.Model, Context: i.Context, Guessed: !i.Known, Tools: i.Tools, Images: i.Images, Reasoning: i.Reasoning}
		if i.Price != nil {
			r.Input, r.Output = &i.Price.Input, &i.Price.Output
		}
		rows = append(rows, r)
	}
	if err != nil {
		p.Warn("not all providers answered: %v", err)
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"models": rows})
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Model, contextText(r), map[bool]string{true: "✓", false: locale.T("no tools")}[r.Tools], priceText(r)})
	}
	return p.Table([]string{"MODEL", "CONTEXT", "TOOLS", "PRICE"}, cells)
}

func contextText(r modelRow) string {
	text := strconv.Itoa(r.Context)
	if r.Guessed {
		text += "?"
	}
	return text
}

func priceText(r modelRow) string {
	if r.Input == nil {
		return "-"
	}
	return fmt.Sprintf("$%g / $%g", *r.Input, *r.Output)
}

// open returns the providers of the settings, with the state of their keys.
func (p commands) open(ctx context.Context, cfg *config.Config) (*app.Models, error) {
	log, err := p.Logger()
	if err != nil {
		return nil, err
	}
	return app.OpenModelsAlone(ctx, cfg, app.Options{Env: p.Env, Logger: log})
}

func (p commands) close(m *app.Models) {
	ctx, cancel := context.WithTimeout(context.Background(), root.StopTime)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		p.Warn("what was learned of the keys is not kept: %v", err)
	}
}

// unknownProvider is the error for a provider that the settings do not have.
func unknownProvider(op, name string, cfg *config.Config) error {
	e := &tool.Error{Op: op, Kind: tool.NotFound, Subject: name, Message: "there is no such provider", Hint: "collie provider list shows them; collie provider add NAME adds one"}
	if near, ok := tool.Nearest(name, providerNames(cfg)); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

func providerNames(cfg *config.Config) []string {
	out := make([]string, len(cfg.Providers))
	for i, pr := range cfg.Providers {
		out[i] = pr.Name
	}
	return out
}

// find is a provider of the settings.
func find(op, name string, cfg *config.Config) (config.Provider, error) {
	i := slices.Index(providerNames(cfg), name)
	if i < 0 {
		return config.Provider{}, unknownProvider(op, name, cfg)
	}
	return cfg.Providers[i], nil
}

func (p commands) completeProviders(_ *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	cfg, _, err := p.Settings()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names = slices.DeleteFunc(providerNames(cfg), func(s string) bool { return !strings.HasPrefix(s, typed) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (p commands) testCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test [NAME]", Short: "Try the keys of a provider", Args: cobra.MaximumNArgs(1), ValidArgsFunction: p.completeProviders,
		Long: "Asks the provider NAME, or all of them, for their models, once with each key. The exit code is 6\n" +
			"if only some keys work.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.test(c.Context(), "provider test", output.First(append(args, "")...), "")
		},
	}
}

// tried is how one key did.
type tried struct {
	Provider string `json:"provider"`
	Label    string `json:"label"`
	OK       bool   `json:"ok"`
	Models   int    `json:"models,omitempty"`
	Error    string `json:"error,omitempty"`
}

// test tries the keys of a provider, all providers where name is empty, and tells how they did.
func (p commands) test(ctx context.Context, op, name, label string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if name != "" {
		if _, err := find(op, name, cfg); err != nil {
			return err
		}
	}
	m, err := p.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer p.close(m)
	rows := []tried{}
	good := 0
	var last error
	for _, s := range m.Keys.List() {
		if name != "" && s.Provider != name || label != "" && s.Label != label {
			continue
		}
		r := tried{Provider: s.Provider, Label: s.Label}
		n, err := m.Test(ctx, s.Provider, s.Label)
		if r.OK, r.Models = err == nil, n; err != nil {
			last = app.ModelError(op, err)
			r.Error = root.WhatHelps(last)
		} else {
			good++
		}
		rows = append(rows, r)
	}
	switch {
	case len(rows) == 0 && label != "":
		return unknownKey(op, name, label)
	case len(rows) == 0:
		p.Note("no provider is set up; collie provider add sets one up, collie provider import takes what other programs have")
		return nil
	case len(rows) == 1 && last != nil && !p.JSON:
		return last
	case p.JSON:
		err = p.PrintJSON(map[string]any{"keys": rows})
	default:
		var cells [][]string
		for _, r := range rows {
			message := locale.Sprintf("works, %d models", r.Models)
			if !r.OK {
				message = r.Error
			}
			cells = append(cells, []string{r.Provider, output.First(r.Label, "-"), p.Painter(p.Out).Mark(map[bool]string{true: "✓", false: "✗"}[r.OK]), message})
		}
		err = p.Table([]string{"PROVIDER", "KEY", "", "RESULT"}, cells)
	}
	switch {
	case err != nil:
		return err
	case good == len(rows):
		return nil
	case good > 0:
		return root.Exit(root.ExitPartial)
	}
	return root.Exit(root.ExitFailed)
}

func (p commands) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a provider, and the secrets of its keys", Args: root.Named("name"),
		ValidArgsFunction: p.completeProviders,
		RunE:              func(c *cobra.Command, args []string) error { return p.remove(c.Context(), args[0]) },
	}
}

func (p commands) remove(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	pr, err := find("provider remove", name, cfg)
	if err != nil {
		return err
	}
	file := root.SettingsFile(cfg)
	found := false
	if err := cfg.Edit(ctx, file, config.Unsetting(pointer("providers", name), &found)); err != nil {
		return root.NotWritten("provider remove", file, err)
	}
	if !found {
		return root.Usage("%s does not stand in %s but in another settings file; remove it there", name, file)
	}
	for _, k := range pr.Keys {
		p.forgetSecret(ctx, cfg, name, k)
	}
	if p.JSON {
		err = p.PrintJSON(map[string]string{"removed": name, "file": file})
	} else {
		_, err = locale.Fprintf(p.Out, "removed %s from %s\n", name, file)
	}
	if err != nil {
		return err
	}
	p.Changed(ctx, cfg, "provider remove", map[string]any{"setting": "providers", "name": name, "file": file})
	return nil
}

// pointer is where a setting stands; names may have dots in them.
func pointer(names ...string) string {
	r := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, n := range names {
		b.WriteString("/" + r.Replace(n))
	}
	return b.String()
}
