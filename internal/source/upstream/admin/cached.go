package admin

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/config"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	cacheadmin "collie/internal/source/upstream/toolcache/admin"
	"collie/internal/tool"
)

// This file tells what the cache has of each server, and whether it is still valid.

// CacheContents describes the contents of a cache file.
type CacheContents struct {
	File cacheadmin.FileInfo
	// Servers has the servers of the settings in their order, then all others by name. If a server of the settings
	// does not use the cache, its Reason says why: disabled, untrusted, mcp_disabled, config_invalid or cache_off.
	Servers []CachedServer
}

// Names returns the names of its servers.
func (c *CacheContents) Names() []string {
	out := make([]string, len(c.Servers))
	for i := range c.Servers {
		out[i] = c.Servers[i].Name
	}
	return out
}

// CachedServer is a server of the settings, or one that only the cache knows.
type CachedServer struct {
	toolcache.ServerRow
	Era             string `json:"era,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	Transport       string `json:"transport,omitempty"`
	// Entry is the stored entry, as it is in the file; nil if there is none.
	Entry json.RawMessage `json:"-"`
}

// ReadCache returns what the cache file of a home has for each server, and whether that is still valid. It starts no
// server and changes no file. The error says that the cache is switched off (kind Disabled), that the file cannot be
// read (Unavailable), or that it is not a cache file (Invalid).
func ReadCache(ctx context.Context, cfg *config.Config, env config.Env, o cacheadmin.Options) (CacheContents, error) {
	if !cfg.Cache.Enabled {
		return CacheContents{}, cacheadmin.OffError("read tool cache")
	}
	path, _ := cacheadmin.CachePath(cfg)
	out := CacheContents{File: cacheadmin.FileInfo{Path: path}}
	var key []byte
	if _, err := os.Stat(cacheadmin.KeyPath(cfg)); err == nil { // without the key, no identity would match
		if key, err = toolcache.LoadKey(cacheadmin.KeyPath(cfg)); err != nil {
			return out, err
		}
	}
	var cache *toolcache.Cache // nil: an empty cache
	err := cacheadmin.CheckFile(path)
	if out.File.Missing = tool.KindOf(err) == tool.NotFound; !out.File.Missing {
		if err != nil {
			return out, err
		}
		cache = toolcache.Open(ctx, cacheadmin.CacheOptions(cfg, key, o))
		defer cache.Close()
		out.File = cache.Stats().FileInfo
	}
	out.File.Writable = cacheadmin.IsWritable(path)
	out.Servers = cachedServers(cache, configuredServers(ctx, cfg, env, key, cache.Entries()))
	return out, nil
}

// cachedServers returns what the cache knows about the configured servers, followed by all others in the cache.
func cachedServers(cache *toolcache.Cache, configured []configuredServer) []CachedServer {
	rows, entries := map[string]CachedServer{}, cache.Entries()
	for _, row := range cache.Stats().Servers {
		s := CachedServer{ServerRow: row, Entry: entries[row.Name]}
		s.Configured, s.Verdict, s.Reason = false, "", ""
		fields := gjson.GetManyBytes(s.Entry, "era", "protocolVersion", "transport")
		s.Era, s.ProtocolVersion, s.Transport = fields[0].String(), fields[1].String(), fields[2].String()
		rows[row.Name] = s
	}
	out := []CachedServer{}
	for _, w := range configured {
		s := rows[w.Name]
		delete(rows, w.Name)
		s.Name, s.Configured, s.Reason = w.Name, true, w.off
		if w.off == "" {
			_, s.Verdict, s.Reason = cache.Lookup(w.Want)
		}
		out = append(out, s)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, rows[name])
	}
	return out
}

// configuredServer is a server of the settings as the cache looks it up.
type configuredServer struct {
	toolcache.Want
	off string // a stable code for why the server does not use the cache; empty if it does
}

func configuredServers(ctx context.Context, cfg *config.Config, env config.Env, key []byte, entries map[string]json.RawMessage) []configuredServer {
	specs, _ := Specs(cfg, env)
	out := make([]configuredServer, len(specs))
	for i, s := range specs {
		e := s.Entry
		w := configuredServer{Want: toolcache.Want{Name: e.Name, MaxAge: e.Cache.MaxAge, MaxStale: e.Cache.MaxStale}}
		switch {
		case s.Off != "":
			w.off = s.Off
		case e.Disabled:
			w.off = "disabled"
		case hasErrors(s):
			w.off = "config_invalid"
		case !e.Cache.Enabled:
			w.off = "cache_off"
		case key != nil:
			w.Hash = e.ConfigHash(key)
			if cfg.Cache.SharedIdentity == "portable" {
				w.Hash = e.PortableHash(key)
			}
			w.Fingerprint = e.Fingerprint(env.List(), entry.EnvironmentOptions{Deny: cfg.MCP.EnvDeny})
			if gjson.GetBytes(entries[e.Name], "principal").String() != "" {
				w.Principal = signedIn(ctx, cfg, env, e.Name)
			}
		}
		out[i] = w
	}
	return out
}

// signedIn returns a digest of who is signed in at a server now; empty if nobody is, or if that cannot be found out.
func signedIn(ctx context.Context, cfg *config.Config, env config.Env, server string) string {
	s, err := session(cfg, env, server, nil)
	if err != nil {
		return ""
	}
	defer s.Close()
	principal, err := s.Principal(ctx)
	if err != nil {
		return ""
	}
	return principal
}
