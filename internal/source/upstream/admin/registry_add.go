package admin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream/registry"
	"collie/internal/tool"
)

// This file lets a page add a server from the registry.

// RegistryInput is a value that a server of a registry asks the person for.
type RegistryInput = registry.Input

// RegistryServer is a server that a search has found.
type RegistryServer registry.Found

// RegistryPage is one page of a search in a registry.
type RegistryPage struct {
	Servers []RegistryServer `json:"servers"`
	Next    string           `json:"next,omitempty"`    // the cursor of the next page
	LeftOut int              `json:"leftOut,omitempty"` // servers left out because their data in the registry is invalid
}

// RegistryOffer is how a server of the registry would be added.
type RegistryOffer struct {
	Pinned      string         `json:"pinned"` // NAME@VERSION
	Name        string         `json:"name"`   // in the settings
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"` // written by the publisher, as are the fields below
	Repository  string         `json:"repository,omitempty"`
	Status      string         `json:"status,omitempty"` // active, deprecated or another word of the registry
	Kind        RegistryKind   `json:"kind"`
	Kinds       []RegistryKind `json:"kinds"` // all kinds by which it can be added
	Package     string         `json:"package"`
	// Inputs are the values that it asks for.
	Inputs []RegistryInput `json:"inputs"`
}

// FromRegistry is a request to add a server of the registry, with the values that it asks for.
type FromRegistry struct {
	Pinned string            `json:"pinned"`         // NAME@VERSION
	Kind   RegistryKind      `json:"kind,omitempty"` // empty: the first that can be run here
	Name   string            `json:"name,omitempty"` // in the settings; empty for the last part of its own
	Inputs map[string]string `json:"inputs,omitempty"`
}

// RegistryEntry is the entry of a server of the registry. Secrets are references in it.
type RegistryEntry struct {
	Name  string          `json:"name"`
	Entry json.RawMessage `json:"entry"`
	// Secrets are the keys of the inputs that are to be stored, by the names that the references have.
	Secrets map[string]string `json:"secrets"`
}

// Search asks the registry of the settings for servers whose name contains words; see [SearchRegistry].
func (e *Editor) Search(ctx context.Context, words, cursor string) (RegistryPage, error) {
	page, err := SearchRegistry(ctx, e.opts.Config(), words, 30, cursor)
	out := RegistryPage{Servers: []RegistryServer{}, Next: page.Next, LeftOut: page.LeftOut}
	for _, found := range page.Servers {
		out.Servers = append(out.Servers, RegistryServer(found))
	}
	return out, err
}

// Offer says how a server of the registry, NAME or NAME@VERSION, would be added; kind may be empty.
func (e *Editor) Offer(ctx context.Context, pinned string, kind RegistryKind) (RegistryOffer, error) {
	o, err := e.offer(ctx, &FromRegistry{Pinned: pinned, Kind: kind})
	if err != nil {
		return RegistryOffer{}, err
	}
	s := o.Server
	return RegistryOffer{
		Pinned: s.Pinned(), Name: o.Name, Title: s.Title, Description: s.Description, Repository: s.Repository, Status: s.Status,
		Kind: o.Way.Kind, Kinds: append([]RegistryKind{}, slices.Compact(slices.Clone(s.Found.Ways))...), Package: o.Way.Package, Inputs: append([]RegistryInput{}, o.Way.Inputs...),
	}, nil
}

// EntryOf makes the entry of a server of the registry. Nothing is stored yet: [Editor.Add] takes the entry and the secrets.
func (e *Editor) EntryOf(ctx context.Context, f *FromRegistry) (RegistryEntry, error) {
	o, err := e.offer(ctx, f)
	if err != nil {
		return RegistryEntry{}, err
	}
	hidden, err := o.Hide(ctx, e.opts.Config(), f.Inputs)
	if err != nil {
		return RegistryEntry{}, err
	}
	out := RegistryEntry{Name: o.Name, Secrets: map[string]string{}}
	for key, v := range hidden.Values {
		if name, ok := strings.CutPrefix(v, "${secret:"); ok && v != f.Inputs[key] {
			out.Secrets[strings.TrimSuffix(name, "}")] = key
		}
	}
	out.Entry, err = o.Entry(hidden)
	return out, err
}

func (e *Editor) offer(ctx context.Context, f *FromRegistry) (*Offer, error) {
	server, err := FindInRegistry(ctx, e.opts.Config(), f.Pinned)
	if err != nil {
		return nil, err
	}
	return MakeOffer(server, string(f.Kind), f.Name, ProgramFound(e.opts.Env))
}

// mayStore checks the secrets given with new servers: each must be used by one of them, and none may replace a stored
// secret.
func (e *Editor) mayStore(ctx context.Context, n *NewServers) error {
	if len(n.Secrets) == 0 {
		return nil
	}
	store, err := secretadmin.Open(e.opts.Config(), nil)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(n.Secrets)) {
		if !strings.Contains(n.JSON, "${secret:"+name+"}") {
			return &tool.Error{Op: addOp, Kind: tool.Invalid, Subject: name, Message: "no server that is added uses this secret"}
		}
		switch old, found, err := store.Get(ctx, name); {
		case err != nil:
			return err
		case found && old != n.Secrets[name]:
			return &tool.Error{Op: addOp, Kind: tool.Exists, Subject: name, Message: "there is a secret of that name already", Hint: "check the entry once more, which chooses another name"}
		}
	}
	return nil
}
