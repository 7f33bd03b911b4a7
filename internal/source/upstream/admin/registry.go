package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"collie/internal/config"
	"collie/internal/lazyregexp"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream/registry"
	"collie/internal/tool"
)

// This file finds servers in the registry and chooses how they are run or reached.

// SearchRegistry asks the registry of the settings for servers whose name contains words. limit is 1 to 100; cursor continues an
// earlier page.
func SearchRegistry(ctx context.Context, cfg *config.Config, words string, limit int, cursor string) (registry.Page, error) {
	c, err := registry.New(cfg.MCP.Registry)
	if err != nil {
		return registry.Page{}, err
	}
	return c.Search(ctx, words, limit, cursor)
}

// IsRegistryName reports whether a word is the name of a server in a registry, with or without @VERSION.
func IsRegistryName(word string) bool {
	name, _, _ := strings.Cut(word, "@")
	return registry.ValidName(name)
}

// FindInRegistry asks the registry of the settings for a server by NAME or NAME@VERSION.
func FindInRegistry(ctx context.Context, cfg *config.Config, pinned string) (*registry.Server, error) {
	c, err := registry.New(cfg.MCP.Registry)
	if err != nil {
		return nil, err
	}
	name, version, _ := strings.Cut(pinned, "@")
	return c.Get(ctx, name, version)
}

// Offer is a server of a registry, with one of the ways to run or reach it.
type Offer struct {
	Server *registry.Server
	Way    registry.Way
	// Name is the server's name in the settings.
	Name string
}

// MakeOffer chooses how a server is run or reached: by kind if it is given; otherwise by the first package whose
// program is installed (found), by its URL, or by its first package, in this order. An empty name stands for the last
// part of the server's own name.
func MakeOffer(s *registry.Server, kind, name string, found func(program string) bool) (*Offer, error) {
	o := &Offer{Server: s, Name: cmp.Or(name, defaultName(s.Name))}
	ways := s.Ways()
	var kinds, refused []string
	best := -1
	for i, w := range ways {
		kinds = append(kinds, string(w.Kind))
		if w.Refused != "" {
			refused = append(refused, fmt.Sprintf("%s: %s", w.Kind, w.Refused))
		}
		if kind != "" && string(w.Kind) != kind || w.Refused != "" && kind == "" {
			continue
		}
		if best < 0 || rank(w, found) < rank(ways[best], found) {
			best = i
		}
	}
	switch {
	case best >= 0:
		o.Way = ways[best]
		return o, nil
	case len(ways) == 0:
		return nil, &tool.Error{Op: addOp, Kind: tool.Denied, Subject: s.Name, Message: "the registry names no package and no address of it", Hint: s.Repository}
	case kind != "":
		return nil, &tool.Error{Op: addOp, Kind: tool.NotFound, Subject: kind, Message: "the registry offers no such package of " + s.Name, Hint: "it offers " + strings.Join(slices.Compact(kinds), ", ")}
	}
	return nil, &tool.Error{
		Op: addOp, Kind: tool.Denied, Subject: s.Name, Message: "no way to run it is accepted: " + strings.Join(refused, "; "),
		Hint: "if you trust it, add it by hand: collie mcp add NAME -- COMMAND ARG…",
	}
}

const addOp = "mcp add"

func rank(w registry.Way, found func(string) bool) int {
	switch program := w.Program(); {
	case w.Refused != "":
		return 3
	case program == "":
		return 1
	case found(program):
		return 0
	}
	return 2
}

var unfitForName = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// defaultName makes a name for the settings: weather of io.github.user/mcp-server-weather.
func defaultName(full string) string {
	name := path.Base(full)
	for _, prefix := range []string{"mcp-server-", "server-", "mcp-"} {
		if short, ok := strings.CutPrefix(name, prefix); ok && short != "" {
			name = short
			break
		}
	}
	name = strings.Trim(unfitForName.ReplaceAllString(name, "-"), "-")
	return name[:min(len(name), 64)]
}

// HiddenInputs are values of inputs in which secrets are references.
type HiddenInputs struct {
	Values, Env, Headers map[string]string
	// Secrets are the values to store, by the names that the references have.
	Secrets map[string]string
}

// Hide replaces the secrets among the given inputs by references to secrets of free names. A value that is a reference already
// stays. Nothing is stored yet.
func (o *Offer) Hide(ctx context.Context, cfg *config.Config, given map[string]string) (HiddenInputs, error) {
	out := HiddenInputs{Values: maps.Clone(given), Secrets: map[string]string{}}
	for _, in := range o.Way.Inputs {
		v := given[in.Key]
		if !in.Secret || v == "" || strings.HasPrefix(v, "${") {
			continue
		}
		store, err := secretadmin.Open(cfg, nil)
		if err != nil {
			return out, err
		}
		names, err := store.List(ctx)
		if err != nil {
			return out, err
		}
		name := o.secretName(in.Key)
		for i := 2; slices.Contains(names, name) || out.Secrets[name] != ""; i++ {
			if same, ok, err := store.Get(ctx, name); err == nil && ok && same == v {
				break
			}
			name = fmt.Sprintf("%s_%d", o.secretName(in.Key), i)
		}
		out.Secrets[name] = v
		out.Values[in.Key] = "${secret:" + name + "}"
	}
	return out, nil
}

var unfitForSecret = lazyregexp.New(`[^A-Z0-9]+`)

// secretName joins the names of the server and the input: WEATHER_API_KEY for weather and API_KEY, or WEATHER_API_KEY.
func (o *Offer) secretName(key string) string {
	upper := func(s string) string {
		return strings.Trim(unfitForSecret.ReplaceAllString(strings.ToUpper(s), "_"), "_")
	}
	server, name := upper(o.Name), upper(key)
	if server == "" || strings.HasPrefix(name, server+"_") {
		return name
	}
	return server + "_" + name
}

// Store stores the secrets.
func (h *HiddenInputs) Store(ctx context.Context, cfg *config.Config) error {
	if len(h.Secrets) == 0 {
		return nil
	}
	store, err := secretadmin.Open(cfg, nil)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(h.Secrets)) {
		if err := store.Set(ctx, name, h.Secrets[name]); err != nil {
			return err
		}
	}
	return nil
}

// Entry returns the entry for the settings.
func (o *Offer) Entry(h HiddenInputs) (json.RawMessage, error) {
	return o.Server.Entry(&o.Way, h.Values, h.Env, h.Headers)
}

// RegistryKind says how a server of a registry is run or reached: npm, pypi, oci or remote.
type RegistryKind = registry.Kind
