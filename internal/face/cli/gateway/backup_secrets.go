package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/app"
	"collie/internal/config"
	serveradmin "collie/internal/source/upstream/admin"
)

// This file finds the secrets in files that the settings name, and in the settings themselves, for collie backup.

// hiddenFiles are files that a backup leaves out. They are compared by [os.SameFile] and not by path, because the settings
// may name a file by another path, such as one through a symbolic link.
type hiddenFiles struct {
	files []os.FileInfo
	met   []string // paths for which has was true
}

// add adds the files at paths that exist.
func (h *hiddenFiles) add(paths []string) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil { // a file that does not exist is not in the backup either
			h.files = append(h.files, info)
		}
	}
}

// has reports whether a file is one of h, and adds its path to h.met.
func (h *hiddenFiles) has(file string) bool {
	if len(h.files) == 0 {
		return false
	}
	info, err := os.Stat(file)
	if err != nil || !slices.ContainsFunc(h.files, func(f os.FileInfo) bool { return os.SameFile(f, info) }) {
		return false
	}
	h.met = append(h.met, file)
	return true
}

// secretFilesInSettings returns the files that the settings name as secrets, by absolute path: dotenv files of servers, keys of
// providers and the key of the listener's certificate. They need not exist.
func secretFilesInSettings(cfg *config.Config, env config.Env) (out []string) {
	specs, _ := serveradmin.Specs(cfg, env)
	for _, s := range specs {
		if s.Entry.EnvFile != "" {
			out = append(out, s.Entry.EnvFile)
		}
	}
	for _, p := range cfg.Providers {
		for _, k := range p.Keys {
			if path, isFile := cfg.SecretFile(env, k.Secret); isFile {
				out = append(out, path)
			}
		}
	}
	if cfg.HTTP.TLSKey != "" {
		out = append(out, cfg.HTTP.TLSKey)
	}
	return out
}

// plainSecrets returns the paths of the settings that hold a secret as text: all that [app.Hidden] hides, except variables
// of servers whose name and value do not look secret.
func plainSecrets(cfg *config.Config) (paths []string) {
	harmless := map[string]bool{}
	for _, s := range cfg.Servers {
		gjson.GetBytes(s.Raw, "env").ForEach(func(name, value gjson.Result) bool {
			member := json.RawMessage("{" + name.Raw + ":" + value.Raw + "}")
			if string(app.Redacted(nil, member)) == string(member) {
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
	walk("", gjson.ParseBytes(app.Hidden(cfg).JSON()))
	return paths
}
