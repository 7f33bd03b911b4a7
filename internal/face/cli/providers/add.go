package providers

import (
	"context"
	"encoding/json"
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
	"collie/internal/rawjson"
	"collie/internal/tool"
)

// This file has the command `collie provider add`, which sets up a provider after trying its key.

// newProvider is a provider that is being added.
type newProvider struct {
	config.Provider
	key      keyFlags
	model    string // the model to use from now on
	context  int    // length of the context of that model, in tokens
	untested bool
	local    bool // it runs on this machine
}

func (p commands) addCommand() *cobra.Command {
	var n newProvider
	c := &cobra.Command{
		Use: "add [NAME]", Short: "Set up a provider, and try its key", Args: cobra.MaximumNArgs(1),
		Long: "Sets up a provider of models, asking at a terminal for what is missing. These are known by name:\n" +
			strings.Join(knownNames(), ", ") + ".\n" +
			"Any other needs --kind and --url. The key is read from the terminal, without showing it, or else\n" +
			"from stdin, tried, and kept as a secret; --secret names where it is instead. For models on this\n" +
			"machine the length of the context is asked for, since servers cut what is longer without a word.",
		Example: "  collie provider add openai\n  collie provider add anthropic --secret env:ANTHROPIC_API_KEY\n" +
			"  collie provider add work --kind openai --url https://llm.example.org/v1 < key.txt\n  collie provider add ollama --model qwen3:8b --context 16384",
		RunE: func(c *cobra.Command, args []string) error {
			n.Name = output.FirstNonEmpty(append(args, "")...)
			return p.add(c.Context(), &n)
		},
	}
	flags := c.Flags()
	flags.StringVar(&n.Kind, "kind", "", "the API it speaks: "+strings.Join(config.ProviderKinds(), ", "))
	flags.StringVar(&n.BaseURL, "url", "", "its address, such as http://127.0.0.1:11434")
	flags.StringVar(&n.model, "model", "", "use this model of it from now on, unless another one is chosen")
	flags.IntVar(&n.context, "context", 0, "length of the context of that model, in `TOKENS`")
	flags.BoolVar(&n.untested, "no-test", false, "save it without asking it for its models")
	n.key.add(c, true)
	root.CompleteWith(c, "kind", config.ProviderKinds()...)
	return c
}

// knownNames returns the names of the providers whose address and API are known.
func knownNames() (names []string) {
	for _, k := range llmadmin.KnownProviders() {
		names = append(names, k.Name)
	}
	return names
}

// complete fills in the known address and API of a provider with this name, and asks for the rest.
func (p commands) complete(ctx context.Context, n *newProvider, cfg *config.Config) (err error) {
	if n.Name == "" {
		if !p.CanAsk() {
			return root.Usage("which provider? name one of %s, or any with --kind and --url", strings.Join(knownNames(), ", "))
		}
		if n.Name, err = p.Prompt(ctx, locale.Sprintf("Which provider (%s, or a name of your own)? ", strings.Join(knownNames(), ", ")), false); err != nil {
			return err
		}
		n.Name = strings.TrimSpace(n.Name)
	}
	if slices.Contains(providerNames(cfg), n.Name) {
		return &tool.Error{
			Op: "provider add", Kind: tool.Exists, Subject: n.Name, Message: "there is a provider of that name",
			Hint: "collie keys add " + n.Name + " adds a key to it; another name sets up another one",
		}
	}
	i := slices.Index(knownNames(), n.Name)
	if i >= 0 {
		known := llmadmin.KnownProviders()[i]
		n.Kind, n.BaseURL, n.local = output.FirstNonEmpty(n.Kind, known.Kind), output.FirstNonEmpty(n.BaseURL, known.BaseURL), known.Local
	}
	if n.Kind == "" && p.CanAsk() {
		if n.Kind, err = p.PromptOr(ctx, locale.Sprintf("Which API does it have (%s)", strings.Join(config.ProviderKinds(), ", ")), "openai"); err != nil {
			return err
		}
	}
	if n.Kind == "" {
		return root.Usage("%s is not known by name: give --kind and --url%s", n.Name, root.DidYouMean(n.Name, knownNames()))
	}
	if err := root.OneOf("--kind", n.Kind, config.ProviderKinds()); err != nil {
		return err
	}
	if n.BaseURL == "" && i < 0 && p.CanAsk() {
		if n.BaseURL, err = p.Prompt(ctx, "Its address, such as https://llm.example.org/v1: ", false); err != nil {
			return err
		}
	}
	n.BaseURL = strings.TrimSpace(n.BaseURL)
	n.local = n.local || n.Kind == "ollama"
	return n.key.check()
}

// add stores the key of a provider, tries it, and saves the provider. If the trial fails, the key is deleted again.
func (p commands) add(ctx context.Context, n *newProvider) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	if err := p.complete(ctx, n, cfg); err != nil {
		return err
	}
	label := output.FirstNonEmpty(n.key.label, "main")
	if !n.local || n.key.secret != "" {
		form, err := p.secretOf(ctx, cfg, n.Name, label, n.key.secret)
		if err != nil {
			return err
		}
		n.Keys = []config.ProviderKey{{Label: label, Secret: form, Weight: n.key.weight, Models: n.key.models, Enabled: true}}
	}
	models, err := p.try(ctx, cfg, n)
	if err != nil {
		for _, k := range n.Keys {
			p.forgetSecret(ctx, cfg, n.Name, k)
		}
		return err
	}
	if err := p.choose(ctx, cfg, n, models); err != nil {
		return err
	}
	return p.saveProvider(ctx, cfg, n, models)
}

// try asks the provider for its models, which shows whether the address and the key are right. It asks nothing if n is
// untested.
func (p commands) try(ctx context.Context, cfg *config.Config, n *newProvider) ([]app.ModelInfo, error) {
	if n.untested {
		return nil, nil
	}
	models, err := app.TryProvider(ctx, cfg, p.Env, n.Provider)
	if err == nil {
		return models, nil
	}
	err = llmadmin.Explain("provider add", err)
	if e, ok := err.(*tool.Error); ok { //nolint:errorlint // Explain returns that very type
		e.Hint = output.FirstNonEmpty(e.Hint, "see that the address and the key are right")
		e.Hint = locale.Sprintf("%s; --no-test saves it anyway", locale.Sentence(e.Hint))
	}
	return nil, err
}

// choose asks which model to use and, for a provider that runs on this machine, how long its context is.
func (p commands) choose(ctx context.Context, cfg *config.Config, n *newProvider, models []app.ModelInfo) (err error) {
	known := func(name string) int {
		return slices.IndexFunc(models, func(m app.ModelInfo) bool { return m.Model == name })
	}
	if n.model == "" && cfg.Agent.Model == "" && len(models) > 0 && p.CanAsk() {
		p.Note("%s: %s", locale.Count(len(models), "model"), modelNames(models, 12))
		if n.model, err = p.PromptOr(ctx, "Default model for conversations", models[0].Model); err != nil {
			return err
		}
	}
	if n.model == "" {
		return nil
	}
	i := known(n.model)
	if len(models) > 0 && i < 0 {
		p.Warn("%s does not list a model %s", n.Name, n.model)
	}
	if i >= 0 && !models[i].Tools {
		p.Warn("%s cannot call tools: it answers without them", n.model)
	}
	if n.context > 0 || !n.local {
		return nil
	}
	if n.Kind != "ollama" && i >= 0 && models[i].Known { // other servers than Ollama decide the length themselves
		n.context = models[i].Context
		return nil
	}
	if !p.CanAsk() {
		return nil
	}
	usual := 32768
	if i >= 0 && models[i].Known {
		usual = min(usual, models[i].Context)
	}
	for {
		text, err := p.PromptOr(ctx, "Size of its context, in tokens", strconv.Itoa(usual))
		if err != nil {
			return err
		}
		if n.context, err = strconv.Atoi(text); err == nil && n.context > 0 {
			return nil
		}
	}
}

// modelNames joins the names of models, at most limit of them.
func modelNames(models []app.ModelInfo, limit int) string {
	var names []string
	for _, m := range models[:min(limit, len(models))] {
		names = append(names, m.Model)
	}
	if len(models) > limit {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// saveProvider writes a provider into the settings, with the length of the chosen model's context, and prints that. The
// chosen model becomes the default model if there is none yet.
func (p commands) saveProvider(ctx context.Context, cfg *config.Config, n *newProvider, models []app.ModelInfo) error {
	file := root.SettingsFile(cfg)
	becomesDefault := n.model != "" && cfg.Agent.Model == ""
	err := cfg.Edit(ctx, file, func(text []byte) ([]byte, error) {
		text, err := llmadmin.SaveProvider(&n.Provider)(text)
		if err == nil && n.context > 0 && n.model != "" {
			text, err = config.Setting(config.Pointer("models", n.Name+"/"+n.model, "context"), json.RawMessage(strconv.Itoa(n.context)))(text)
		}
		if err == nil && becomesDefault {
			text, err = config.Setting("agent.model", rawjson.Quote(n.Name+"/"+n.model))(text)
		}
		return text, err
	})
	if err != nil {
		return root.NotWrittenError("provider add", file, err)
	}
	if p.JSON {
		out := map[string]any{"provider": n.Name, "file": file, "models": len(models)}
		if becomesDefault {
			out["model"] = n.Name + "/" + n.model
		}
		err = p.PrintJSON(out)
	} else {
		_, err = locale.Fprintf(p.Out, "saved provider %s in %s\n", n.Name, file)
	}
	if err != nil {
		return err
	}
	if !becomesDefault && cfg.Agent.Model == "" && len(models) > 0 {
		p.Note("collie config set agent.model %s/%s chooses a model; collie provider list --models shows all", n.Name, models[0].Model)
	}
	now, _, err := p.Settings()
	if err != nil {
		return err
	}
	p.RecordChange(ctx, now, "provider add", map[string]any{"setting": "providers", "name": n.Name, "kind": n.Kind, "file": file})
	return nil
}
