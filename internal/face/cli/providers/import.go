package providers

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	llmadmin "collie/internal/llm/admin"
)

// This file has the command `collie provider import`, which finds providers set up for other programs.

// found is a provider that somebody has set up elsewhere.
type found struct {
	Name   string `json:"provider"`
	From   string `json:"from"`
	Models int    `json:"models,omitempty"`
	Saved  bool   `json:"saved"`
	Error  string `json:"error,omitempty"`
	key    string // the key, if it is to be stored as a secret
	form   string // the reference for the settings, if the key stays where it is
}

func (p commands) importCommand() *cobra.Command {
	var env string
	var yes, untested bool
	c := &cobra.Command{
		Use: "import", Short: "Take over the providers that other programs use", Args: cobra.NoArgs,
		Long: "Looks for keys in the environment (OPENAI_API_KEY and the like), in opencode's sign-ins and in a\n" +
			"LibreChat .env file, and for Ollama, LM Studio and the server of llama.cpp on this machine. Shows\n" +
			"what there is, asks, tries each key and saves those that work. Keys of the environment stay\n" +
			"there, and the settings name the variable; others are kept as secrets.",
		Example: "  collie provider import\n  collie provider import --env-file ~/LibreChat/.env --yes",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.imports(c.Context(), env, yes, untested)
		},
	}
	c.Flags().StringVar(&env, "env-file", "", "read keys from `FILE`, such as LibreChat's .env")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&untested, "no-test", false, "save keys without trying them")
	return c
}

// imports shows each provider that was found, asks unless yes is set, and saves it.
func (p commands) imports(ctx context.Context, envFile string, yes, untested bool) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	list, err := p.findProviders(ctx, cfg, envFile)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		if p.JSON {
			return p.PrintJSON(map[string]any{"found": []found{}})
		}
		p.Note("nothing new was found: no key in the environment, no sign-in of opencode, no model server on this machine")
		return nil
	}
	if !yes && !p.CanAsk() {
		return root.Usage("found %s; say --yes to take them over", foundNames(list))
	}
	saved := 0
	for i := range list {
		f := &list[i]
		if !yes {
			ok, err := p.AskYesNo(ctx, locale.Sprintf("Take over %s from %s?", f.Name, f.From), true)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		if err := p.takeOver(ctx, cfg, f, untested); err != nil {
			f.Error = root.ErrorTextWithHint(err)
			p.Warn("%s was not saved: %s", f.Name, f.Error)
			continue
		}
		f.Saved = true
		saved++
	}
	switch {
	case p.JSON:
		err = p.PrintJSON(map[string]any{"found": list})
	default:
		_, err = locale.Fprintf(p.Out, "saved %d of %d providers\n", saved, len(list))
	}
	if err != nil || saved == 0 {
		return err
	}
	now, _, err := p.Settings()
	if err != nil {
		return err
	}
	p.RecordChange(ctx, now, "provider import", map[string]any{"setting": "providers", "saved": saved})
	if now.Agent.Model == "" && !p.JSON {
		p.Note("collie provider list --models shows the models; collie config set agent.model PROVIDER/MODEL chooses one")
	}
	return nil
}

// foundNames joins the names of providers with where they were found.
func foundNames(list []found) string {
	var names []string
	for _, f := range list {
		names = append(names, f.Name+" ("+f.From+")")
	}
	return strings.Join(names, ", ")
}

// findProviders finds providers that are not set up yet, each once: in the named file, the environment, opencode's sign-ins,
// and on this machine.
func (p commands) findProviders(ctx context.Context, cfg *config.Config, envFile string) (list []found, err error) {
	seen := map[string]bool{}
	for _, name := range providerNames(cfg) {
		seen[name] = true
	}
	add := func(f found) {
		if !seen[f.Name] {
			seen[f.Name] = true
			list = append(list, f)
		}
	}
	if envFile != "" {
		text, err := os.ReadFile(envFile)
		if err != nil {
			return nil, root.Usage("--env-file: %v", err)
		}
		vars := dotenv(string(text))
		for _, k := range llmadmin.KnownProviders() {
			for _, name := range k.Env {
				if v := vars[name]; v != "" && v != "user_provided" {
					add(found{Name: k.Name, From: filepath.Base(envFile), key: v})
				}
			}
		}
	}
	for _, k := range llmadmin.KnownProviders() {
		for _, name := range k.Env {
			if p.Env.Get(name) != "" {
				add(found{Name: k.Name, From: name, form: "env:" + name})
			}
		}
	}
	keys, err := opencodeKeys(p.Env)
	if err != nil {
		p.Warn("the sign-ins of opencode do not read: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		ours := map[string]string{"google": "gemini", "moonshotai": "moonshot", "zhipuai": "zhipu"}[name]
		if ours = output.FirstNonEmpty(ours, name); slices.Contains(knownNames(), ours) {
			add(found{Name: ours, From: "opencode", key: keys[name]})
		}
	}
	candidates := app.FindLocalProviders(ctx, cfg, p.Env)
	for _, name := range slices.Sorted(maps.Keys(candidates)) {
		add(found{Name: name, From: locale.T("this machine"), Models: len(candidates[name])})
	}
	return list, nil
}

// dotenv parses the lines NAME=value of a .env file. Values may be quoted; comments are left out.
func dotenv(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export ")), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if quoted := len(value) > 1 && (value[0] == '"' || value[0] == '\'') && strings.IndexByte(value[1:], value[0]) >= 0; quoted {
			value = value[1 : 1+strings.IndexByte(value[1:], value[0])]
		} else {
			value, _, _ = strings.Cut(value, " #")
		}
		out[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return out
}

// opencodeKeys returns the API keys that opencode has been given, by its names of providers.
func opencodeKeys(env config.Env) (map[string]string, error) {
	data := env.Get("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(env.Get("HOME"), ".local", "share")
	}
	raw, err := os.ReadFile(filepath.Join(data, "opencode", "auth.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all map[string]struct {
		Type string `json:"type"`
		Key  string `json:"key"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, a := range all {
		if a.Type == "api" && a.Key != "" {
			out[name] = a.Key
		}
	}
	return out, nil
}

// takeOver stores the key of a provider that was found, tries it unless untested is set, and saves the provider. Servers on
// this machine are not tried.
func (p commands) takeOver(ctx context.Context, cfg *config.Config, f *found, untested bool) error {
	known := llmadmin.KnownProviders()[slices.Index(knownNames(), f.Name)]
	n := &newProvider{Provider: known.Provider, untested: untested || known.Local}
	form := f.form
	if f.key != "" {
		var err error
		if form, err = p.storeKey(ctx, cfg, f.Name, "main", f.key); err != nil {
			return err
		}
	}
	if form != "" {
		n.Keys = []config.ProviderKey{{Label: "main", Secret: form, Weight: 1, Enabled: true}}
	}
	models, err := p.try(ctx, cfg, n)
	if err != nil {
		for _, k := range n.Keys {
			p.forgetSecret(ctx, cfg, f.Name, k)
		}
		return err
	}
	f.Models = max(f.Models, len(models))
	file := root.SettingsFile(cfg)
	if err := cfg.Edit(ctx, file, llmadmin.SaveProvider(&n.Provider)); err != nil {
		return root.NotWrittenError("provider import", file, err)
	}
	return nil
}
