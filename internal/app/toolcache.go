package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/config"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/toolcache"
)

// ToolCache is what is kept of the servers' offers, as commands and pages see it.
type ToolCache struct{ cache *toolcache.Cache }

// Stats is what is known of the cache now.
func (c ToolCache) Stats() any { return c.cache.Stats() }

// openCache opens the tool cache and the pins, and returns the key of the servers' identities.
// What is wrong with them is a warning: the gateway works without (8.11).
func (a *App) openCache(ctx context.Context, cfg *config.Config, opts Options) (key []byte) {
	c := &cfg.Cache
	key, err := toolcache.LoadKey(keyFile(cfg))
	if err != nil {
		a.log.Warn("no key for the tool cache, nothing is kept", "error", err)
	}
	a.pins = pins.Open(filepath.Join(cfg.Paths.State, "pins.json"), toolcache.ToolHash, pins.Options{Logger: a.log})
	if err != nil || !c.Enabled {
		return key
	}
	a.cache = toolcache.Open(ctx, toolcache.Options{
		Path: cachePath(c), Key: key, Mode: uint32(c.Mode), Compression: c.Compression, TrustImported: c.TrustImported,
		AppVersion: opts.Version, Logger: a.log,
	})
	return key
}

// keyFile holds the key of the servers' identities and of what is signed.
func keyFile(cfg *config.Config) string {
	if cfg.Cache.SharedKeyFile != "" {
		return cfg.Cache.SharedKeyFile
	}
	return filepath.Join(cfg.Paths.State, "cache.key")
}

// policy says which servers run without being called.
func policy(c *config.Cache) upstream.Policy {
	return upstream.Policy{
		Warmup: c.Warmup, RefreshStale: c.RefreshStale, ServeOldOnChange: c.ServeOldOnChange,
		RefreshEvery: c.RefreshInterval, RefreshStarts: c.RefreshStartsServers,
	}
}

// cachePath is where the cache lies: beside the settings, or in the cache folder where those
// are in a folder that cannot be written.
func cachePath(c *config.Cache) string {
	if c.Fallback == "" || writable(filepath.Dir(c.File)) {
		return c.File
	}
	return c.Fallback
}

// writable reports whether files can be made in a folder. The mode decides, for root too.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, 0o700) == nil
	}
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o222 == 0 {
		return false
	}
	probe, err := os.CreateTemp(dir, ".collie-*.tmp")
	if err != nil {
		return false
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return true
}
