package admin

import (
	"os"
	"slices"

	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream/entry"
)

// This file finds the inputs of VS Code files for which there is no value.

// UnansweredInputs returns the inputs that the entries of these servers name with ${input:id} and that have a value neither
// in the secret store nor in env nor as a default. Each id is there once.
func UnansweredInputs(cfg *config.Config, env config.Env, servers []string) (inputs []config.Input) {
	secrets := secretadmin.NewLookup(cfg)
	note := func(in config.Input) (string, bool) {
		if !slices.ContainsFunc(inputs, func(known config.Input) bool { return known.ID == in.ID }) {
			inputs = append(inputs, in)
		}
		return "", false
	}
	for _, s := range cfg.Servers {
		if s.Untrusted || !slices.Contains(servers, s.Name) {
			continue
		}
		entry.Parse(s.Name, s.Raw, entry.Options{
			Dir: s.Dir, Workspace: s.Workspace, Env: env.Lookup, ReadFile: os.ReadFile, Secret: secrets.Get,
			Input: func(id string) (string, bool) { return s.Answer(id, note) },
		})
	}
	return inputs
}
