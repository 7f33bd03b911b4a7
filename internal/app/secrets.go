package app

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/source/upstream"
	serveradmin "collie/internal/source/upstream/admin"
)

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

func newHidden(secrets []string) redactors {
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

// SecretFiles returns the files that the settings name as secrets, by absolute path: dotenv files of servers, keys of
// providers and the key of the listener's certificate. They need not exist.
func SecretFiles(cfg *config.Config, env config.Env) []string {
	specs, _ := serveradmin.Specs(cfg, env)
	out := envFiles(specs)
	for _, p := range cfg.Providers {
		for _, k := range p.Keys {
			if path, isFile := keyFile(cfg, env, k.Secret); isFile {
				out = append(out, path)
			}
		}
	}
	if cfg.HTTP.TLSKey != "" {
		out = append(out, cfg.HTTP.TLSKey)
	}
	return out
}

// PlainSecrets returns the paths of the settings that hold a secret as text, sorted: all that [Hidden] hides, but of the
// variables of servers only those whose name or value looks secret.
func PlainSecrets(cfg *config.Config) (paths []string) {
	harmless := map[string]bool{}
	for _, s := range cfg.Servers {
		gjson.GetBytes(s.Raw, "env").ForEach(func(name, value gjson.Result) bool {
			member := json.RawMessage("{" + name.Raw + ":" + value.Raw + "}")
			if string(Redacted(nil, member)) == string(member) {
				harmless["mcpServers."+s.Name+".env."+name.String()] = true
			}
			return true
		})
	}
	var walk func(path string, v gjson.Result)
	walk = func(path string, v gjson.Result) {
		switch {
		case v.IsObject():
			v.ForEach(func(name, member gjson.Result) bool {
				walk(strings.TrimPrefix(path+"."+name.String(), "."), member)
				return true
			})
		case v.IsArray():
			for i, item := range v.Array() {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		case v.Type == gjson.String && strings.Contains(v.Str, "***") && !harmless[path]:
			paths = append(paths, path)
		}
	}
	walk("", gjson.ParseBytes(Hidden(cfg).JSON()))
	return paths
}
