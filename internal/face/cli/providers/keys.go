package providers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	llmadmin "collie/internal/llm/admin"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/tool"
)

// This file has the command `collie keys`, which manages the API keys of providers.

// KeysCommand returns the command `collie keys`.
func KeysCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	keyCommand := func(use, short string, run func(ctx context.Context, provider, label string) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " PROVIDER LABEL", Short: short, Args: root.NamedArgs("provider", "label"), ValidArgsFunction: p.completeKeys,
			RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args[0], args[1]) },
		}
	}
	reset := keyCommand("reset", "Forget why a key is not used, so that it is tried at once", p.resetKey)
	test := keyCommand("test", "Try a key", func(ctx context.Context, provider, label string) error {
		return p.test(ctx, "keys test", provider, label)
	})
	remove := keyCommand("remove", "Remove a key, and its secret", p.removeKey)
	remove.Aliases = []string{"rm"}
	return root.Group("keys", "Keys of providers, which share the requests",
		p.keysListCommand(), p.keysAddCommand(), p.keysSetCommand(),
		keyCommand("enable", "Use a key again", func(ctx context.Context, provider, label string) error {
			return p.setEnabled(ctx, provider, label, true)
		}),
		keyCommand("disable", "Use a key no more", func(ctx context.Context, provider, label string) error {
			return p.setEnabled(ctx, provider, label, false)
		}),
		remove, test, reset)
}

func (p commands) keysListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list [PROVIDER]", Aliases: []string{"ls"}, Short: "Show the keys and their states, never the keys themselves", Args: cobra.MaximumNArgs(1),
		Long: "Shows the keys of PROVIDER, or of all. STATE is active, cooling after a limit, exhausted where\n" +
			"there is no money left, invalid where the provider refuses it, or disabled; LEVEL is how often it\n" +
			"had to cool, UNTIL when it is used again.",
		ValidArgsFunction: p.completeProviders,
		RunE: func(c *cobra.Command, args []string) error {
			return p.keysList(c.Context(), output.FirstNonEmpty(append(args, "")...))
		},
	}
}

func (p commands) keysList(ctx context.Context, provider string) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if provider != "" {
		if _, err := llmadmin.Find("keys list", provider, cfg); err != nil {
			return err
		}
	}
	m, err := p.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer p.close(m)
	rows := llmadmin.Keys(cfg, m.Keys, provider)
	switch {
	case p.JSON:
		return p.PrintJSON(map[string]any{"keys": rows})
	case len(rows) == 0:
		p.Note("no provider is set up; collie provider add sets one up, collie provider import takes what other programs have")
		return nil
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{
			r.Provider, output.FirstNonEmpty(r.Label, "-"), string(r.State), strconv.Itoa(r.Level), momentText(r.Until), strconv.Itoa(r.Weight),
			output.FirstNonEmpty(strings.Join(r.Allowed, ", "), locale.T("any")), output.FirstNonEmpty(r.Secret, "-"), output.FirstNonEmpty(r.Why, "-"),
		})
		for _, m := range r.Models {
			cells = append(cells, []string{r.Provider, output.FirstNonEmpty(r.Label, "-"), string(m.State), strconv.Itoa(m.Level), momentText(m.Until), "", m.Model, "", m.Why})
		}
	}
	return p.Table([]string{"PROVIDER", "KEY", "STATE", "LEVEL", "UNTIL", "WEIGHT", "MODELS", "SECRET", "WHY"}, cells)
}

// momentText returns a time without its year, "-" for the zero time.
func momentText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("01-02 15:04:05")
}

// keyFlags are the flags that describe a key.
type keyFlags struct {
	label  string
	weight int
	models []string
	secret string
}

// add adds the flags to a command, with --label if labelled is set.
func (f *keyFlags) add(c *cobra.Command, labelled bool) {
	flags := c.Flags()
	if labelled {
		flags.StringVar(&f.label, "label", "", "call the key `NAME` (default main, then key2, key3, …)")
	}
	flags.IntVar(&f.weight, "weight", 1, "its share of the requests, 0 to 1000; with 0 no conversation begins with it")
	flags.StringSliceVar(&f.models, "models", nil, "use it for these models only; `PATTERNS` such as gpt-*, with commas between")
	flags.StringVar(&f.secret, "secret", "", "take the key from env:NAME, file:PATH or ${secret:NAME}, and keep no copy")
}

// check refuses flags that would make the settings file invalid.
func (f *keyFlags) check() error {
	if f.weight < 0 || f.weight > 1000 { // the bounds that the settings have
		return root.Usage("--weight is %d, expected 0 to 1000", f.weight)
	}
	for _, m := range f.models {
		if _, err := path.Match(m, ""); err != nil {
			return root.Usage("--models has %q, which is not a pattern such as gpt-*", m)
		}
	}
	if f.secret != "" && config.ShownSecret(f.secret) == "***" {
		return root.Usage("--secret takes env:NAME, file:PATH or ${secret:NAME}; a key itself is asked for, or read from stdin, so that no history keeps it")
	}
	return nil
}

func (p commands) keysAddCommand() *cobra.Command {
	var f keyFlags
	c := &cobra.Command{
		Use: "add PROVIDER", Short: "Add a key to a provider", Args: root.NamedArgs("provider"), ValidArgsFunction: p.completeProviders,
		Long: "Reads a key from the terminal, without showing it, or else from stdin, and keeps it as a secret;\n" +
			"the settings only refer to it. Several keys share the requests by their weights, and stand in\n" +
			"for each other where one is at its limit.",
		Example: "  collie keys add openai --label spare --weight 2\n  collie keys add openai --secret env:OPENAI_API_KEY_2",
		RunE:    func(c *cobra.Command, args []string) error { return p.keysAdd(c.Context(), args[0], &f) },
	}
	f.add(c, true)
	return c
}

func (p commands) keysAdd(ctx context.Context, provider string, f *keyFlags) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	pr, err := llmadmin.Find("keys add", provider, cfg)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.label == "" {
		f.label = llmadmin.FreeLabel(&pr)
	}
	if slices.ContainsFunc(pr.Keys, func(k config.ProviderKey) bool { return k.Label == f.label }) {
		return &tool.Error{
			Op: "keys add", Kind: tool.Exists, Subject: provider + "/" + f.label, Message: "there is a key of that label",
			Hint: fmt.Sprintf("take another --label, or collie keys set %s %s", provider, f.label),
		}
	}
	form, err := p.secretOf(ctx, cfg, provider, f.label, f.secret)
	if err != nil {
		return err
	}
	pr.Keys = append(pr.Keys, config.ProviderKey{Label: f.label, Secret: form, Weight: f.weight, Models: f.models, Enabled: true})
	return p.saveKeys(ctx, cfg, "keys add", pr, f.label)
}

func (p commands) keysSetCommand() *cobra.Command {
	var f keyFlags
	c := &cobra.Command{
		Use: "set PROVIDER LABEL", Short: "Change a key", Args: root.NamedArgs("provider", "label"), ValidArgsFunction: p.completeKeys,
		Long: "Changes what the flags set. Without flags it reads a new key, from the terminal without showing it,\n" +
			"or else from stdin.",
		Example: "  collie keys set openai main\n  collie keys set openai spare --weight 0",
		RunE: func(c *cobra.Command, args []string) error {
			return p.keysSet(c.Context(), args[0], args[1], &f, c.Flags().Changed)
		},
	}
	f.add(c, false)
	return c
}

// keysSet changes what the flags set, or without flags reads a new key. given reports whether a flag was given.
func (p commands) keysSet(ctx context.Context, provider, label string, f *keyFlags, given func(flag string) bool) error {
	cfg, pr, i, err := p.findKey("keys set", provider, label)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	k, old := &pr.Keys[i], pr.Keys[i]
	if given("weight") {
		k.Weight = f.weight
	}
	if given("models") {
		k.Models = f.models
	}
	if given("secret") || !given("weight") && !given("models") {
		if k.Secret, err = p.secretOf(ctx, cfg, provider, label, f.secret); err != nil {
			return err
		}
	}
	if err := p.saveKeys(ctx, cfg, "keys set", pr, label); err != nil {
		return err
	}
	if k.Secret != old.Secret { // only now, since a provider shows a key but once
		p.forgetSecret(ctx, cfg, provider, old)
	}
	return nil
}

// findKey finds a key in the settings. It returns the provider and the index of the key in its Keys.
func (p commands) findKey(op, provider, label string) (*config.Config, config.Provider, int, error) {
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, config.Provider{}, 0, err
	}
	pr, err := llmadmin.Find(op, provider, cfg)
	if err != nil {
		return nil, pr, 0, err
	}
	i := slices.IndexFunc(pr.Keys, func(k config.ProviderKey) bool { return k.Label == label })
	if i < 0 {
		return nil, pr, 0, llmadmin.UnknownKeyError(op, provider, label)
	}
	return cfg, pr, i, nil
}

// setEnabled switches a key on or off.
func (p commands) setEnabled(ctx context.Context, provider, label string, on bool) error {
	op := map[bool]string{true: "keys enable", false: "keys disable"}[on]
	cfg, pr, i, err := p.findKey(op, provider, label)
	if err != nil {
		return err
	}
	pr.Keys[i].Enabled = on
	return p.saveKeys(ctx, cfg, op, pr, label)
}

func (p commands) removeKey(ctx context.Context, provider, label string) error {
	cfg, pr, i, err := p.findKey("keys remove", provider, label)
	if err != nil {
		return err
	}
	removed := pr.Keys[i]
	pr.Keys = slices.Delete(pr.Keys, i, i+1)
	if err := p.saveKeys(ctx, cfg, "keys remove", pr, label); err != nil {
		return err
	}
	p.forgetSecret(ctx, cfg, provider, removed)
	return nil
}

// resetKey forgets the state of a key, in the running gateway or in the store.
func (p commands) resetKey(ctx context.Context, provider, label string) error {
	cfg, _, _, err := p.findKey("keys reset", provider, label)
	if err != nil {
		return err
	}
	if g := p.gateway(ctx, cfg); g != nil { // the gateway then records the change itself
		defer g.Close()
		_, err = g.Do(ctx, http.MethodPost, keyPath(provider, label)+"/reset", []byte("{}"))
	} else {
		err = p.resetHere(ctx, cfg, provider, label)
	}
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]string{"provider": provider, "label": label})
	}
	_, err = locale.Fprintf(p.Out, "%s/%s is tried again with the next request\n", provider, label)
	return err
}

// resetHere forgets the state of a key in the store, if no gateway runs.
func (p commands) resetHere(ctx context.Context, cfg *config.Config, provider, label string) error {
	m, err := p.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer p.close(m)
	m.Keys.Reset(provider, label)
	p.OnRecord(ctx, cfg, "keys reset", map[string]any{"provider": provider, "label": label})
	return nil
}

// saveKeys writes the keys of a provider into the settings, prints that and puts it on record.
func (p commands) saveKeys(ctx context.Context, cfg *config.Config, op string, pr config.Provider, label string) error {
	file := root.SettingsFile(cfg)
	if err := cfg.Edit(ctx, file, llmadmin.SaveKeys(&pr)); err != nil {
		return root.NotWrittenError(op, file, err)
	}
	var err error
	if p.JSON {
		err = p.PrintJSON(map[string]string{"provider": pr.Name, "label": label, "file": file})
	} else {
		_, err = locale.Fprintf(p.Out, "saved the keys of %s in %s\n", pr.Name, file)
	}
	if err != nil {
		return err
	}
	now, _, err := p.Settings()
	if err != nil {
		return err
	}
	p.RecordChange(ctx, now, op, map[string]any{"setting": "providers", "provider": pr.Name, "label": label, "file": file})
	return nil
}

// maxKeyInput is how many bytes are read from stdin for a key; more than any key has.
const maxKeyInput = 64 << 10

// secretOf returns the text for the settings that a key is read from: the reference given by flags, or a
// reference to a secret that the person types here.
func (p commands) secretOf(ctx context.Context, cfg *config.Config, provider, label, given string) (form string, err error) {
	if given != "" {
		return given, nil
	}
	var key string
	if p.CanAsk() {
		key, err = p.Prompt(ctx, locale.Sprintf("Key of %s (not shown): ", output.OneLine(provider)), true)
	} else {
		var raw []byte
		raw, err = io.ReadAll(io.LimitReader(p.In, maxKeyInput))
		key = string(raw)
	}
	if err != nil {
		return "", err
	}
	return p.storeKey(ctx, cfg, provider, label, strings.TrimSpace(key))
}

// storeKey checks and stores a key as a secret and returns the reference for the settings.
func (p commands) storeKey(ctx context.Context, cfg *config.Config, provider, label, key string) (form string, err error) {
	switch {
	case key == "":
		return "", root.Usage("the key of %s is empty; give it on the terminal, on stdin or with --secret env:NAME", provider)
	case strings.ContainsAny(key, " \t\r\n,"):
		return "", root.Usage("a key is one word; this has blanks, commas or line breaks. Add several keys one by one")
	}
	if err := secretadmin.CheckName(llmadmin.SecretName(provider, label)); err != nil {
		return "", root.Usage("%v", err)
	}
	if form, err = llmadmin.StoreKey(ctx, cfg, provider, label, key); err != nil {
		return "", root.SecretError(locale.T("keep the key of"), provider, err)
	}
	return form, nil
}

// forgetSecret deletes the secret of a key, if this program stored it.
func (p commands) forgetSecret(ctx context.Context, cfg *config.Config, provider string, k config.ProviderKey) {
	if err := llmadmin.DeleteKey(ctx, cfg, provider, &k); err != nil {
		p.Warn("the secret %s is still kept: %v", llmadmin.SecretName(provider, k.Label), err)
	}
}

func (p commands) completeKeys(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return p.completeProviders(c, args, typed)
	}
	cfg, _, err := p.Settings()
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var labels []string
	if pr, err := llmadmin.Find("", args[0], cfg); err == nil {
		for _, k := range pr.Keys {
			if strings.HasPrefix(k.Label, typed) {
				labels = append(labels, k.Label)
			}
		}
	}
	return labels, cobra.ShellCompDirectiveNoFileComp
}
