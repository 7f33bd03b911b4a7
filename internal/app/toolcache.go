package app

import (
	"context"
	"errors"
	"sync"

	"collie/internal/config"
	"collie/internal/pipeline/metrics"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/source/upstream/toolcache"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/internal/tool"
)

// This file opens the tool cache and the pins, and has the cache's figures for /metrics.

// cacheFigures returns the counters of the cache. Expired entries count as misses.
func (a *App) cacheFigures() metrics.CacheFigures {
	st := a.cache.Stats()
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

// openCacheInBackground runs openCache in a goroutine, because unpacking the file takes a good part of a start. key waits
// for openCache and returns its result; it must be called before a.cache and a.pins are used.
func (a *App) openCacheInBackground(ctx context.Context, cfg *config.Config, opts Options) (key func() []byte) {
	opened := make(chan []byte, 1)
	go func() { opened <- a.openCache(ctx, cfg, opts) }() // ends with openCache
	return sync.OnceValue(func() []byte { return <-opened })
}

// openCache opens the tool cache, the place where gateways share it, and the pins. It returns the key for the
// servers' identities. Errors are only logged, because the gateway works without a cache.
func (a *App) openCache(ctx context.Context, cfg *config.Config, opts Options) (key []byte) {
	if cfg.Cache.Shared == "" {
		if w := cacheadmin.SharedPlaceIgnored(cfg); w != "" {
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

// openCacheWith is like openCache with a given shared place, which the cache closes; nil means none.
func (a *App) openCacheWith(ctx context.Context, cfg *config.Config, opts Options, shared toolcache.Shared) (key []byte) {
	key, err := toolcache.LoadKey(cacheadmin.KeyPath(cfg))
	if err != nil {
		a.log.Warn("no key for the tool cache, nothing is kept", "error", err)
	}
	a.pins = serveradmin.OpenPins(cfg, a.log, opts.Brief)
	if err != nil || !cfg.Cache.Enabled {
		if shared != nil {
			_ = shared.Close() // it was never used, so the error does not matter
		}
		return key
	}
	o := cacheadmin.CacheOptions(cfg, key, cacheadmin.Options{Version: opts.Version, Logger: a.log})
	o.Shared, o.PollOnly = shared, opts.Brief
	a.cache = toolcache.Open(ctx, o)
	return key
}
