package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
)

// This file has the settings of language models: providers, keys, models, and the defaults of conversations.

// Provider is a provider of language models.
type Provider struct {
	Name string
	// Kind is the API it speaks: openai (chat completions, which most others speak too), responses, anthropic, gemini
	// or ollama.
	Kind    string
	BaseURL string // empty means the address of the company behind the kind
	// Headers go out with every request; values may be ${NAME} and ${secret:NAME}.
	Headers map[string]string
	// Keys share the requests; empty for a provider that needs no key.
	Keys []ProviderKey
}

// ProviderKey is one key of a provider.
type ProviderKey struct {
	Label string // unique in its provider
	// Secret is ${secret:NAME}, env:NAME or file:PATH; anything else is the key itself, which is never shown.
	Secret  string
	Weight  int      // share of the requests, 0 to 1,000; default 1; 0: only conversations that use it already
	Models  []string // patterns of the models it may be used for; empty means all
	Enabled bool     // default true
}

// Model overrides the built-in facts about a model, by MODEL or PROVIDER/MODEL; nil and 0 change nothing.
type Model struct {
	Context, Output                           int // tokens
	Tools, Images, Reasoning                  *bool
	InputPrice, CachedInputPrice, OutputPrice *float64 // US dollars for a million tokens
}

// Agent holds the defaults for conversations. A conversation may override each of them.
type Agent struct {
	Engine         string   // auto (default), chat, react or direct
	Provider       string   // empty (default): the only one, or the one that Model names
	Model          string   // MODEL or PROVIDER/MODEL
	FallbackModels []string // asked in this order when Model cannot be
	SystemPrompt   string
	Temperature    *float64 // 0 to 2; nil (default) leaves it to the provider
	MaxOutput      int      // tokens; 0 (default) leaves it to the provider
	Reasoning      string   // off, low, medium or high; empty (default) leaves it to the provider
	Tools          []string // patterns of tools that models see; empty (default) means all of the profile
	DenyTools      []string
	Profile        string
	MaxSteps       int    // calls of a model in one turn; default 25
	MaxTurnSeconds int    // running, not waiting for a person; default 900
	ContextPolicy  string // compact (default), truncate or fail, where a conversation gets too long
	ResultLimit    int64  // bytes that a model sees of one result; default 64 KiB
	BusyPolicy     string // queue (default), reject or steer, where a turn runs already
	Language       string // of answers; empty (default) means that of the question
}

// providerAPIs are the APIs of providers.
var providerAPIs = []string{"openai", "responses", "anthropic", "gemini", "ollama"}

// ProviderKinds returns the APIs that a provider can speak.
func ProviderKinds() []string { return slices.Clone(providerAPIs) }

func (a *Agent) fields() fields {
	return fields{
		"engine":          choiceField(&a.Engine, "auto", "chat", "react", "direct"),
		"provider":        stringField(&a.Provider, "openai"),
		"model":           stringField(&a.Model, "gpt-5"),
		"fallbackModels":  listField(&a.FallbackModels, "anthropic/claude-haiku-4-5"),
		"systemPrompt":    stringField(&a.SystemPrompt, "concise"),
		"temperature":     numberField(&a.Temperature, 2),
		"maxOutputTokens": wholeField(&a.MaxOutput, maxOutputTokens),
		"reasoning":       choiceField(&a.Reasoning, "off", "low", "medium", "high"),
		"tools":           listField(&a.Tools, "files__*"),
		"denyTools":       listField(&a.DenyTools, "shell__*"),
		"profile":         stringField(&a.Profile, "work"),
		"maxSteps":        countField(&a.MaxSteps),
		"maxTurnSeconds":  countField(&a.MaxTurnSeconds),
		"contextPolicy":   choiceField(&a.ContextPolicy, "compact", "truncate", "fail"),
		"resultLimit":     sizeField(&a.ResultLimit),
		"busyPolicy":      choiceField(&a.BusyPolicy, "queue", "reject", "steer"),
		"language":        stringField(&a.Language, "zh"),
	}
}

// numberField returns a field whose value is a number from 0 to maximum. *p stays nil where no file sets it.
func numberField(p **float64, maximum float64) field {
	return field{func(d *decoder, n node) {
		if n.value.Value.Kind() != '0' {
			d.wrongType(n, fmt.Sprintf("a number from 0 to %v", maximum))
			return
		}
		v, err := strconv.ParseFloat(string(n.value.Value.(hujson.Literal)), 64)
		if err != nil || v < 0 || v > maximum {
			d.fail(n, "value", "expected a number from 0 to %v, got %s", maximum, n.value.Value)
			return
		}
		*p = &v
	}, func() any {
		if *p == nil {
			return nil
		}
		return **p
	}}
}

// wholeField returns a field whose value is a whole number from 0 to maximum.
func wholeField(p *int, maximum int) field {
	return field{func(d *decoder, n node) {
		if n.value.Value.Kind() != '0' {
			d.wrongType(n, fmt.Sprintf("a whole number from 0 to %d", maximum))
			return
		}
		v, err := strconv.Atoi(string(n.value.Value.(hujson.Literal)))
		if err != nil || v < 0 || v > maximum {
			d.fail(n, "value", "expected a whole number from 0 to %d, got %s", maximum, n.value.Value)
			return
		}
		*p = v
	}, func() any { return *p }}
}

// optionalBoolField returns a field whose value is true or false. *p stays nil where no file sets it.
func optionalBoolField(p **bool) field {
	return field{func(d *decoder, n node) {
		var v bool
		before := len(d.findings)
		if boolField(&v).set(d, n); len(d.findings) == before {
			*p = &v
		}
	}, func() any {
		if *p == nil {
			return nil
		}
		return **p
	}}
}

// These bounds only catch slips of the pen: no model takes so many tokens or costs so many dollars.
const (
	maxContextTokens = 1 << 30
	maxOutputTokens  = 1 << 24
	maxPrice         = 1e6
)

func (m *Model) fields() fields {
	return fields{
		"context":   wholeField(&m.Context, maxContextTokens),
		"output":    wholeField(&m.Output, maxContextTokens),
		"tools":     optionalBoolField(&m.Tools),
		"images":    optionalBoolField(&m.Images),
		"reasoning": optionalBoolField(&m.Reasoning),
		"price": section(fields{
			"input": numberField(&m.InputPrice, maxPrice), "cachedInput": numberField(&m.CachedInputPrice, maxPrice), "output": numberField(&m.OutputPrice, maxPrice),
		}),
	}
}

func (c *Config) readModels(d *decoder, n node) {
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, "an object of models by name")
		return
	}
	ms := n.members()
	for i := range ms {
		var m Model
		at := n.child(&ms[i])
		m.fields().read(d, at)
		if (m.InputPrice == nil) != (m.OutputPrice == nil) {
			d.fail(at, "value", "price.input and price.output belong together; only one of them is set")
		}
		c.Models[jsonc.Name(&ms[i])] = m
	}
}

func (c *Config) modelValues() any {
	out := map[string]any{}
	for name, m := range c.Models {
		out[name] = m.fields().values()
	}
	return out
}

func (p *Provider) fields() fields {
	return fields{
		"kind":    choiceField(&p.Kind, providerAPIs...),
		"baseURL": webField(&p.BaseURL, "http://127.0.0.1:11434"),
		"headers": headersField(&p.Headers),
		"keys":    {p.readKeys, p.keyValues},
	}
}

// readProviders reads the providers. One with the name of a provider in an earlier file replaces that.
func (c *Config) readProviders(d *decoder, n node) {
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, "an object of providers by name")
		return
	}
	ms := n.members()
	for i := range ms {
		p := Provider{Name: jsonc.Name(&ms[i])}
		at := n.child(&ms[i])
		if !isPlainName(p.Name) {
			d.report(at, ms[i].Name.StartOffset, "value", SeverityError, "the name of a provider has no blanks and no /, got %q", p.Name)
			continue
		}
		before := len(d.findings)
		p.fields().read(d, at)
		if p.Kind == "" {
			if len(d.findings) == before {
				d.fail(at, "value", `a provider needs a "kind": one of %s`, strings.Join(providerAPIs, ", "))
			}
			continue
		}
		if j := slices.IndexFunc(c.Providers, func(o Provider) bool { return o.Name == p.Name }); j >= 0 {
			c.Providers[j] = p
		} else {
			c.Providers = append(c.Providers, p)
		}
	}
}

// isPlainName reports whether a name is not empty and has no blanks and no /, so that it can stand before a / and in a
// table.
func isPlainName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \t\r\n/")
}

// headersField returns a field whose value is an object of request headers. Their values are not shown, unless they are
// references to secrets.
func headersField(p *map[string]string) field {
	return field{func(d *decoder, n node) {
		if n.value.Value.Kind() != '{' {
			d.wrongType(n, "an object of headers and values")
			return
		}
		*p = map[string]string{}
		ms := n.members()
		for i := range ms {
			var value string
			stringField(&value, "${secret:NAME}").set(d, n.child(&ms[i]))
			if strings.ContainsAny(value, "\r\n") {
				d.fail(n.child(&ms[i]), "value", "the value of a header has no line breaks")
				continue
			}
			(*p)[jsonc.Name(&ms[i])] = value
		}
	}, func() any {
		if len(*p) == 0 {
			return nil
		}
		out := map[string]any{}
		for name, value := range *p {
			out[name] = ShownSecret(value)
		}
		return out
	}}
}

// ShownSecret returns what people may see of a secret in the settings: a reference unchanged, anything else as ***.
func ShownSecret(written string) string {
	switch {
	case written == "", strings.HasPrefix(written, "env:"), strings.HasPrefix(written, "file:"),
		strings.HasPrefix(written, "${") && strings.HasSuffix(written, "}"):
		return written
	}
	return "***"
}

// readKeys reads the keys of a provider. Keys with errors are left out.
func (p *Provider) readKeys(d *decoder, n node) {
	a, ok := n.value.Value.(*hujson.Array)
	if !ok {
		d.wrongType(n, `a list of keys such as [{"label": "main", "secret": "${secret:NAME}"}]`)
		return
	}
	p.Keys = []ProviderKey{}
	for i := range a.Elements {
		at := node{n.doc, &a.Elements[i], jsonc.Join(n.pointer, strconv.Itoa(i))}
		k := ProviderKey{Weight: 1, Enabled: true}
		before := len(d.findings)
		k.fields().read(d, at)
		switch {
		case hasErrors(d.findings[before:]): // a finding says so already
		case !isPlainName(k.Label):
			d.fail(at, "value", `a key needs a "label" without blanks and /, by which it is named`)
		case k.Secret == "":
			d.fail(at, "value", `a key needs a "secret", such as "${secret:NAME}", "env:NAME" or "file:PATH"`)
		case strings.ContainsAny(k.Secret, ", \t\r\n") && ShownSecret(k.Secret) == "***":
			d.fail(at, "value", "a secret is one key, without blanks and commas; several are several entries")
		case slices.ContainsFunc(p.Keys, func(o ProviderKey) bool { return o.Label == k.Label }):
			d.fail(at, "value", "there are two keys with the label %q", k.Label)
		default:
			p.Keys = append(p.Keys, k)
		}
	}
}

func (k *ProviderKey) fields() fields {
	return fields{
		"label":   stringField(&k.Label, "main"),
		"secret":  {stringField(&k.Secret, "${secret:NAME}").set, func() any { return ShownSecret(k.Secret) }},
		"weight":  wholeField(&k.Weight, 1000),
		"models":  listField(&k.Models, "gpt-*"),
		"enabled": boolField(&k.Enabled),
	}
}

func (p *Provider) keyValues() any {
	out := []any{}
	for i := range p.Keys {
		out = append(out, p.Keys[i].fields().values())
	}
	return out
}

func (c *Config) providerValues() any {
	out := map[string]any{}
	for i := range c.Providers {
		out[c.Providers[i].Name] = c.Providers[i].fields().values()
	}
	return out
}

// SecretFile returns the absolute path in file:PATH, a form in which the secret of a provider may be written. isFile is
// false if written has another form. A relative path starts at the folder of the settings, ~/ at the home of the user.
func (c *Config) SecretFile(env Env, written string) (path string, isFile bool) {
	path, isFile = strings.CutPrefix(written, "file:")
	if rest, inHome := strings.CutPrefix(path, "~/"); inHome {
		if home := env.First("HOME", "USERPROFILE"); home != "" {
			path = filepath.Join(home, rest)
		}
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(c.Paths.Config, path)
	}
	return path, isFile
}
