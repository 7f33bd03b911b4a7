package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"collie/internal/config"
	"collie/internal/pipeline/metrics"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/pins"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/internal/tool"
)

// Figures are the counts of the cache. Expired entries are misses.
func (c ToolCache) Figures() metrics.CacheFigures {
	st := c.cache.Stats()
	f := metrics.CacheFigures{
		Lookups:     map[string]uint64{"hit": st.Hits, "stale": st.StaleHits, "miss": st.Misses},
		Writes:      map[string]uint64{"ok": st.Writes.OK, "failed": 0},
		LoadSeconds: st.LoadMillis / 1000, Bytes: st.Size,
	}
	for _, n := range st.Writes.Failed {
		f.Writes["failed"] += n
	}
	return f
}

// ToolCache is what is kept of the servers' offers, as commands and pages see it. It is safe for
// concurrent use.
type ToolCache struct {
	cache   *toolcache.Cache
	cleared func(names []string) // tells a gateway whose lists are gone; nil where none runs
}

// What commands show of the cache.
type (
	CacheStats     = toolcache.Stats
	CacheReport    = toolcache.Report
	CacheMigration = toolcache.Migration
	CacheImported  = toolcache.Imported
)

// OpenToolCache opens the tool cache of cfg for a command that looks at it or changes it. A
// gateway that runs takes up what is changed. It fails where the cache is switched off. The
// caller closes it.
func OpenToolCache(ctx context.Context, cfg *config.Config, log *slog.Logger) (ToolCache, error) {
	if !cfg.Cache.Enabled {
		return ToolCache{}, &tool.Error{
			Op: "open tool cache", Kind: tool.Disabled, Message: "the tool cache is switched off",
			Hint: "collie config set cache.enabled true switches it on",
		}
	}
	key, err := toolcache.LoadKey(keyFile(cfg))
	if err != nil {
		return ToolCache{}, &tool.Error{Op: "open tool cache", Kind: tool.Internal, Subject: keyFile(cfg), Message: "there is no key for it", Err: err}
	}
	o := cacheOptions(cfg, key, Options{})
	o.Logger = log
	return ToolCache{cache: toolcache.Open(ctx, o)}, nil
}

// Stats is what is known of the cache now.
func (c ToolCache) Stats() CacheStats { return c.cache.Stats() }

// Clear deletes the entries of servers, all if none is named, and returns whose there were.
func (c ToolCache) Clear(names ...string) []string {
	gone := c.cache.Clear(names...)
	if c.cleared != nil {
		c.cleared(gone)
	}
	return gone
}

// Prune deletes the entries of servers that were removed longer than age ago.
func (c ToolCache) Prune(age time.Duration) []string { return c.cache.Prune(age) }

// Import takes the lists of another cache file over.
func (c ToolCache) Import(data []byte) ([]CacheImported, error) {
	return c.cache.Import(data)
}

// Flush writes what is pending and returns why that failed.
func (c ToolCache) Flush(ctx context.Context) error { return c.cache.Flush(ctx) }

// Close ends it.
func (c ToolCache) Close() error { return c.cache.Close() }

// VerifyCache checks the text of a cache file.
func VerifyCache(data []byte) CacheReport { return toolcache.Verify(data) }

// MigrateCache says what a cache file would be in the format of now. It changes nothing.
func MigrateCache(data []byte) (CacheMigration, error) {
	return toolcache.Migrate(data)
}

// PlainCache is a cache file without its compression.
func PlainCache(data []byte) ([]byte, error) { return toolcache.Plain(data) }

// CacheSchema is the JSON Schema of a cache file.
func CacheSchema() []byte { return toolcache.Schema() }

// CacheFile is where the tool cache lies, and whether that is not the first choice because that
// folder cannot be written.
func CacheFile(cfg *config.Config) (path string, fellBack bool) {
	return toolcache.Place(cfg.Cache.File, cfg.Cache.Fallback)
}

// CacheKey is the file with the key of the servers' identities and signatures.
func CacheKey(cfg *config.Config) string { return keyFile(cfg) }

// openCache opens the tool cache, the place it shares with other gateways and the pins, and
// returns the key of the servers' identities. What is wrong with them is a warning: the gateway
// works without.
func (a *App) openCache(ctx context.Context, cfg *config.Config, opts Options) (key []byte) {
	if cfg.Cache.Shared == "" {
		if w := SharedPlaceIgnored(cfg); w != "" {
			a.log.Warn("the shared tool cache is not used", "setting", w)
		}
		return a.openCacheWith(ctx, cfg, opts, nil)
	}
	shared, err := natsstore.Open(cfg.Cache.Shared, a.log)
	if err != nil {
		hint := ""
		if e, ok := errors.AsType[*tool.Error](err); ok {
			hint = e.Hint
		}
		a.log.Warn("the shared tool cache is not used", "error", err, "hint", hint)
		return a.openCacheWith(ctx, cfg, opts, nil)
	}
	return a.openCacheWith(ctx, cfg, opts, shared)
}

// openCacheWith is openCache with a shared place that the cache closes; nil is none.
func (a *App) openCacheWith(ctx context.Context, cfg *config.Config, opts Options, shared toolcache.Shared) (key []byte) {
	key, err := toolcache.LoadKey(keyFile(cfg))
	if err != nil {
		a.log.Warn("no key for the tool cache, nothing is kept", "error", err)
	}
	a.pins = pins.Open(filepath.Join(cfg.Paths.State, "pins.json"), toolcache.ToolHash, pins.Options{Logger: a.log})
	if err != nil || !cfg.Cache.Enabled {
		if shared != nil {
			_ = shared.Close() // it was never used
		}
		return key
	}
	o := cacheOptions(cfg, key, opts)
	o.Shared, o.Logger = shared, a.log
	a.cache = toolcache.Open(ctx, o)
	return key
}

// peekCache is openCache for those who only look: where there is no key or no file yet, there is no
// cache either, and none is made. A gateway that has put a broken file aside may be about to write
// what it knows in its place.
func (a *App) peekCache(ctx context.Context, cfg *config.Config) (key []byte) {
	if _, err := os.Stat(keyFile(cfg)); err != nil {
		return nil
	}
	path, _ := CacheFile(cfg)
	data, err := ReadCacheFile(path)
	if err == nil {
		_, err = toolcache.Migrate(data)
	}
	if err != nil { // opening would make a missing file, and put a broken one aside
		off := *cfg
		off.Cache.Enabled = false
		cfg = &off
	}
	return a.openCacheWith(ctx, cfg, Options{}, nil)
}

// cacheOptions are how the cache of a home is opened.
func cacheOptions(cfg *config.Config, key []byte, opts Options) toolcache.Options {
	c := &cfg.Cache
	path, _ := toolcache.Place(c.File, c.Fallback)
	return toolcache.Options{
		Path: path, Key: key, Mode: uint32(c.Mode), Compression: c.Compression, TrustImported: c.TrustImported,
		AppVersion: opts.Version, Logger: opts.Logger,
	}
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
