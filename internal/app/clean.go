package app

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	serveradmin "collie/internal/source/upstream/admin"
	entryadmin "collie/internal/source/upstream/entry/admin"
)

// This file removes secrets from settings and other JSON before people see it.

// Cleaner returns a function that removes secrets from JSON shown to people: those of the settings, those in
// more, and text that looks like a secret.
func Cleaner(cfg *config.Config, env config.Env, more ...string) func(raw json.RawMessage) json.RawMessage {
	specs, _ := serveradmin.Specs(cfg, env)
	redact := audit.NewRedactor(append(secrets(cfg, env, specs), more...), audit.ContentFull)
	return func(raw json.RawMessage) json.RawMessage { return redacted(redact, raw) }
}

// Hidden returns cfg for display: secrets in server entries and in the sections siyuan and vault read "***".
// References such as ${GITHUB_TOKEN} stay.
func Hidden(cfg *config.Config) *config.Config {
	c := *cfg
	redact := audit.NewRedactor(nil, audit.ContentFull)
	c.SiYuan.Raw, c.Vault.Raw = hiddenKey(redacted(redact, c.SiYuan.Raw), c.SiYuan.Raw), redacted(redact, c.Vault.Raw)
	c.Servers = slices.Clone(cfg.Servers)
	for i := range c.Servers {
		s := &c.Servers[i]
		s.Raw = entryadmin.HiddenEntry(s.Name, s.Raw, s.Dir, Redacted)
	}
	return &c
}

// Redacted returns raw without the given secrets and without text that looks like a secret.
func Redacted(secrets []string, raw json.RawMessage) json.RawMessage {
	return redacted(audit.NewRedactor(secrets, audit.ContentFull), raw)
}

func redacted(r *audit.Redactor, raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return r.AppendJSON(nil, raw)
}

// hiddenKey hides the encryption key in a redacted section "siyuan", because the member's name does not look
// secret. was is the section before redaction: it shows whether the key is a reference, which may stay.
func hiddenKey(section, was json.RawMessage) json.RawMessage {
	key := gjson.GetBytes(was, "undoKey")
	if key.Type != gjson.String {
		return section
	}
	out, err := sjson.SetBytes(section, "undoKey", entryadmin.HideText(key.Str))
	if err != nil {
		panic("app: a section that was parsed is not JSON: " + err.Error())
	}
	return out
}
