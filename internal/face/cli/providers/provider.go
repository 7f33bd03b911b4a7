// Package providers has the commands collie provider and collie keys, with which people set up providers of language models
// and their API keys.
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
	llmadmin "collie/internal/llm/admin"
)

// commands holds the methods behind the commands of this package. They share one program.
type commands struct{ *root.Program }

// ProviderCommand returns the command `collie provider`.
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
			name := output.FirstNonEmpty(append(args, "")...)
			if models {
				return p.listModels(c.Context(), name)
			}
			return p.list(name)
		},
	}
	c.Flags().BoolVar(&models, "models", false, "ask for the models, and show them")
	return c
}

// list prints the providers in the settings, or only the one called name.
func (p commands) list(name string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	rows := llmadmin.List(cfg)
	if name != "" {
		rows = slices.DeleteFunc(rows, func(r llmadmin.Provider) bool { return r.Name != name })
	}
	switch {
	case name != "" && len(rows) == 0:
		_, err := llmadmin.Find("provider list", name, cfg)
		return err
	case p.JSON:
		return p.PrintJSON(map[string]any{"providers": rows})
	case len(rows) == 0:
		p.Note("no provider is set up; collie provider add sets one up, collie provider import takes what other programs have")
		return nil
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Name, r.Kind, output.FirstNonEmpty(strings.Join(r.Keys, ", "), "-"), output.FirstNonEmpty(r.BaseURL, "-")})
	}
	return p.Table([]string{"NAME", "KIND", "KEYS", "ADDRESS"}, cells)
}

// modelRow is one model in the output of --json.
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

// listModels asks the providers for their models and prints them. It only warns if some providers do not answer.
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
		return llmadmin.Explain("provider list", err)
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

// contextText returns the length of a model's context, with a question mark if it is a guess.
func contextText(r modelRow) string {
	text := strconv.Itoa(r.Context)
	if r.Guessed {
		text += "?"
	}
	return text
}

// priceText returns the prices of input and output, "-" if they are not known.
func priceText(r modelRow) string {
	if r.Input == nil {
		return "-"
	}
	return fmt.Sprintf("$%g / $%g", *r.Input, *r.Output)
}

// open opens the providers of the settings in this process, with the stored state of their keys.
func (p commands) open(ctx context.Context, cfg *config.Config) (*app.Models, error) {
	log, err := p.Logger()
	if err != nil {
		return nil, err
	}
	return app.OpenModelsWithoutGateway(ctx, cfg, app.Options{Env: p.Env, Logger: log})
}

// close closes what open has opened, and warns if the state of the keys could not be saved.
func (p commands) close(m *app.Models) {
	ctx, cancel := context.WithTimeout(context.Background(), root.StopTime)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		p.Warn("the state of the keys could not be saved: %v", err)
	}
}

func providerNames(cfg *config.Config) []string {
	out := make([]string, len(cfg.Providers))
	for i, pr := range cfg.Providers {
		out[i] = pr.Name
	}
	return out
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
			return p.test(c.Context(), "provider test", output.FirstNonEmpty(append(args, "")...), "")
		},
	}
}

// test tests the keys of a provider, or of all providers if name is empty, and prints the outcomes.
func (p commands) test(ctx context.Context, op, name, label string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if name != "" {
		if _, err := llmadmin.Find(op, name, cfg); err != nil {
			return err
		}
	}
	keys, try, end, err := p.keyTests(ctx, op, cfg)
	if err != nil {
		return err
	}
	defer end()
	rows := []llmadmin.TestResult{}
	good := 0
	var last error
	for _, s := range keys {
		if name != "" && s.Provider != name || label != "" && s.Label != label {
			continue
		}
		r := llmadmin.TestResult{Provider: s.Provider, Label: s.Label}
		if r.Models, last = try(s.Provider, s.Label); last != nil {
			r.Error = root.ErrorTextWithHint(last)
		} else {
			r.OK = true
			good++
		}
		rows = append(rows, r)
	}
	switch {
	case len(rows) == 0 && label != "":
		return llmadmin.UnknownKeyError(op, name, label)
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
			message := locale.Sprintf("works, %s", locale.Count(r.Models, "model"))
			if !r.OK {
				message = r.Error
			}
			cells = append(cells, []string{r.Provider, output.FirstNonEmpty(r.Label, "-"), map[bool]string{true: "✓", false: "✗"}[r.OK], message})
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
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Remove a provider, and the secrets of its keys", Args: root.NamedArgs("name"),
		ValidArgsFunction: p.completeProviders,
		RunE:              func(c *cobra.Command, args []string) error { return p.remove(c.Context(), args[0]) },
	}
}

// remove removes a provider with its secrets, and the default model if that is one of its models.
func (p commands) remove(ctx context.Context, name string) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	pr, err := llmadmin.Find("provider remove", name, cfg)
	if err != nil {
		return err
	}
	file := root.SettingsFile(cfg)
	found, chosen := false, false
	err = cfg.Edit(ctx, file, func(text []byte) ([]byte, error) {
		text, err := config.Unsetting(config.Pointer("providers", name), &found)(text)
		if err == nil && found && strings.HasPrefix(cfg.Agent.Model, name+"/") { // no other provider has these models
			text, err = config.Unsetting("agent.model", &chosen)(text)
		}
		return text, err
	})
	if err != nil {
		return root.NotWrittenError("provider remove", file, err)
	}
	if !found {
		return root.Usage("%s is not in %s but in another settings file; remove it there", name, file)
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
	p.RecordChange(ctx, cfg, "provider remove", map[string]any{"setting": "providers", "name": name, "file": file})
	return nil
}
