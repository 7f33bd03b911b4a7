package cache

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
)

// This file has the command `collie cache path`, which shows where the tool cache and its key are.

func (p commands) pathCommand() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Show where the tool cache is, and whether it is writable", Args: cobra.NoArgs,
		Long: "Shows the file, the key that tells servers apart and signs what is shared, and the NATS server\n" +
			"through which lists are shared with other gateways. Nothing is created.",
		RunE: func(*cobra.Command, []string) error { return p.path() },
	}
}

// path prints where the cache file and its key are, and whether they can be used.
func (p commands) path() error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	path, fellBack := cacheadmin.CachePath(cfg)
	info, missing := os.Stat(path)
	writable := cacheadmin.IsWritable(path)
	backend := []string{"file"}
	if w := cacheadmin.SharedPlaceIgnored(cfg); w != "" {
		p.Warn("%s", locale.Sentence(w))
	}
	shared := cacheadmin.SharedPlace(cfg)
	if shared != "" {
		scheme, _, _ := strings.Cut(shared, ":")
		backend = append(backend, scheme)
	}
	_, noKey := os.Stat(cacheadmin.KeyPath(cfg))
	if p.JSON {
		var size int64
		if missing == nil {
			size = info.Size()
		}
		return p.PrintJSON(map[string]any{
			"enabled": cfg.Cache.Enabled, "path": path, "missing": missing != nil, "writable": writable, "fellBack": fellBack,
			"size": size, "key": cacheadmin.KeyPath(cfg), "keyMissing": noKey != nil, "keyShared": cfg.Cache.SharedKeyFile != "",
			"backend": backend, "shared": shared,
		})
	}
	rows := [][]string{{"file", path}}
	switch {
	case missing != nil:
		rows = append(rows, []string{"state", "not created yet"})
	default:
		rows = append(rows, []string{"state", output.BinarySize(info.Size())})
	}
	if writable {
		rows = append(rows, []string{"writable", locale.T("yes")})
	} else {
		rows = append(rows, []string{"writable", locale.T("no: lists are served from it, but nothing new is stored")})
	}
	if !cfg.Cache.Enabled {
		rows = append(rows, []string{"in use", locale.T("no: cache.enabled is false")})
	}
	if fellBack {
		rows = append(rows, []string{locale.T("instead of"), locale.Sprintf("%s, whose folder cannot be written", cfg.Cache.File)})
	}
	rows = append(rows, []string{"backend", strings.Join(backend, " + ")})
	if shared != "" {
		rows = append(rows, []string{"shared", shared})
	}
	key := cacheadmin.KeyPath(cfg)
	switch {
	case noKey != nil:
		key += locale.T(" (not created yet)")
	case shared != "" && cfg.Cache.SharedKeyFile == "":
		key += locale.T(" (this home's own: nobody else can use what it shares; see cache.sharedKeyFile)")
	}
	return p.Table(nil, append(rows, []string{"key", key}))
}
