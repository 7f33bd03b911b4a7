package app

import (
	"strings"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/source/upstream"
)

// This file collects the secrets that must not appear in what the program writes.

// secrets returns the secrets that are known from settings and environment: those of server entries and keys of
// providers. Others become known when they are read.
func secrets(cfg *config.Config, env config.Env, specs []upstream.Spec) []string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Entry.Secrets...)
	}
	for _, p := range cfg.Providers {
		for _, k := range p.Keys {
			if name, is := strings.CutPrefix(k.Secret, "env:"); is {
				out = append(out, strings.TrimSpace(env.Get(name)))
			} else if config.ShownSecret(k.Secret) != k.Secret {
				out = append(out, strings.TrimSpace(k.Secret))
			}
		}
	}
	return out
}

// redactors remove secrets from everything that an App writes except its audit.
type redactors struct {
	logs, chats *audit.Redactor
}

// newRedactors returns redactors that know these secrets.
func newRedactors(secrets []string) redactors {
	return redactors{logs: audit.NewRedactor(secrets, audit.ContentFull), chats: audit.NewRedactor(secrets, audit.ContentRedacted)}
}

// hide adds secrets that must not be written anywhere.
func (a *App) hide(secrets []string) {
	a.Audit.Hide(secrets)
	a.hidden.logs.Hide(secrets)
	a.hidden.chats.Hide(secrets)
	if a.counting.redact != nil {
		a.counting.redact.Hide(secrets)
	}
}
