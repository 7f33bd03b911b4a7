package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/config"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// CacheFileInfo is what is known of a cache file.
type CacheFileInfo = toolcache.FileInfo

// CachedServer is a server of the settings, or one that only the cache knows.
type CachedServer struct {
	toolcache.ServerRow
	Era             string `json:"era,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	Transport       string `json:"transport,omitempty"`
	// Entry is what is kept, as it lies in the file; nil where nothing is.
	Entry json.RawMessage `json:"-"`
}

// CacheContents is what is in a cache file.
type CacheContents struct {
	File CacheFileInfo
	// Servers are those of the settings in their order, then all others by name. Reason of one
	// that is not asked for says why: disabled, untrusted, mcp_disabled, config_invalid or
	// cache_off.
	Servers []CachedServer
}

// ReadToolCache returns what the cache file of a home has, and what that is worth to each server
// now. Nothing is started, made or mended. The error says that the cache is switched off (kind
// Disabled), that the file cannot be read (Unavailable), or that it is not a cache file (Invalid).
func ReadToolCache(ctx context.Context, cfg *config.Config, o Options) (CacheContents, error) {
	const op = "read tool cache"
	if !cfg.Cache.Enabled {
		return CacheContents{}, cacheOff(op)
	}
	path, _ := CacheFile(cfg)
	out := CacheContents{File: CacheFileInfo{Path: path, Missing: !exists(path)}}
	var key []byte
	var err error
	if exists(keyFile(cfg)) { // else every identity is another one
		if key, err = toolcache.LoadKey(keyFile(cfg)); err != nil {
			return out, err
		}
	}
	var kept *toolcache.Cache // keeps nothing while it is nil
	if !out.File.Missing {
		data, err := ReadCacheFile(path)
		if err != nil {
			return out, err
		}
		if _, err := toolcache.Migrate(data); err != nil {
			return out, notACache(op, path, err)
		}
		kept = toolcache.Open(ctx, cacheOptions(cfg, key, o))
		defer kept.Close()
		out.File = kept.Stats().FileInfo
	}
	out.File.Writable = CacheWritable(path)
	out.Servers = judged(kept, wants(ctx, cfg, o.Env, key, kept.Entries()))
	return out, nil
}

// judged is what a cache knows of the servers that are asked for, and then of all others.
func judged(kept *toolcache.Cache, asked []want) []CachedServer {
	rows, entries := map[string]CachedServer{}, kept.Entries()
	for _, row := range kept.Stats().Servers {
		s := CachedServer{ServerRow: row, Entry: entries[row.Name]}
		s.Configured, s.Verdict, s.Reason = false, "", ""
		at := gjson.GetManyBytes(s.Entry, "era", "protocolVersion", "transport")
		s.Era, s.ProtocolVersion, s.Transport = at[0].String(), at[1].String(), at[2].String()
		rows[row.Name] = s
	}
	out := []CachedServer{}
	for _, w := range asked {
		s := rows[w.Name]
		delete(rows, w.Name)
		s.Name, s.Configured, s.Reason = w.Name, true, w.off
		if w.off == "" {
			_, s.Verdict, s.Reason = kept.Lookup(w.Want)
		}
		out = append(out, s)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, rows[name])
	}
	return out
}

// want is what a server of the settings asks of the cache, or why it asks nothing: a stable code.
type want struct {
	toolcache.Want
	off string
}

func wants(ctx context.Context, cfg *config.Config, env config.Env, key []byte, entries map[string]json.RawMessage) []want {
	specs, _ := Specs(cfg, env)
	out := make([]want, len(specs))
	for i, s := range specs {
		e := s.Entry
		w := want{Want: toolcache.Want{Name: e.Name, MaxAge: e.Cache.MaxAge, MaxStale: e.Cache.MaxStale}}
		switch {
		case s.Off != "":
			w.off = s.Off
		case !cfg.MCP.Enabled:
			w.off = "mcp_disabled"
		case e.Disabled:
			w.off = "disabled"
		case unusable(s):
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

// signedIn is a digest of who is signed in at a server now; empty if nobody is, or nobody knows.
func signedIn(ctx context.Context, cfg *config.Config, env config.Env, server string) string {
	s, err := session(cfg, env, server, nil)
	if err != nil {
		return ""
	}
	defer s.Close()
	who, err := s.Principal(ctx)
	if err != nil {
		return ""
	}
	return who
}

// MigrateCacheFile writes a cache file of an older format as of now, under the lock that gateways
// take too, and keeps the old one beside it as <file>.v<version>.bak.
func MigrateCacheFile(ctx context.Context, cfg *config.Config, o Options, path string) error {
	return toolcache.MigrateFile(ctx, path, toolcache.FileOptions{
		Mode: cfg.Cache.Mode, Compression: cfg.Cache.Compression, AppVersion: o.Version, Logger: o.Logger,
	})
}

// CacheWritable reports whether a cache file may be written, or made, by the modes of it and its
// folder.
func CacheWritable(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return false
	}
	_, elsewhere := toolcache.Place(path+".lock.none", path) // a name that nobody has is judged by its folder
	return !elsewhere
}

// maxCacheFile is one byte more than a cache file may have.
const maxCacheFile = 64<<20 + 1

// ReadCacheFile reads a file that may be a tool cache.
func ReadCacheFile(path string) ([]byte, error) {
	fail := func(message, hint string, err error) error {
		return &tool.Error{Op: "read tool cache", Kind: tool.Unavailable, Subject: path, Message: message, Hint: hint, Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &tool.Error{
			Op: "read tool cache", Kind: tool.Unknown, Subject: path, Message: "there is no such file",
			Hint: "collie cache path says where the cache lies; it is made when a server has told its tools: collie cache warm",
		}
	case err == nil && !info.Mode().IsRegular():
		return nil, fail("it is not a regular file", "", nil)
	case err != nil:
		return nil, fail("", "", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fail("", "who runs collie must be able to read it", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxCacheFile))
	if err != nil {
		return nil, fail("", "", err)
	}
	return data, nil
}

// cacheOff is the error of a cache that is switched off.
func cacheOff(op string) error {
	return &tool.Error{
		Op: op, Kind: tool.Disabled, Message: "the tool cache is switched off: cache.enabled is false",
		Hint: "collie config set cache.enabled true",
	}
}

// notACache is the error of a file that is broken or another program's.
func notACache(op, path string, err error) error {
	message := err.Error()
	if e, ok := errors.AsType[*tool.Error](err); ok {
		message = e.Message
	}
	return &tool.Error{
		Op: op, Kind: tool.Invalid, Subject: path, Message: message,
		Hint: "collie cache verify shows everything that is wrong; a gateway keeps such a file aside and writes a new one",
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// SharedPlace is the address of the NATS servers through which a home's cache is shared, without
// what signs in; empty where nothing is shared.
func SharedPlace(cfg *config.Config) string {
	if cfg.Cache.Shared == "" {
		return ""
	}
	list := strings.Split(cfg.Cache.Shared, ",")
	for i, one := range list {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil { // settings with such a text are refused
			return ""
		}
		u.User = nil
		list[i] = u.String()
	}
	return strings.Join(list, ",")
}

// SharedPlaceIgnored says why the place that the settings name is not used: gateways no longer share
// through places of its kind. It is empty where they name none, or a NATS server.
func SharedPlaceIgnored(cfg *config.Config) string {
	for _, w := range cfg.Warnings {
		if w.Pointer == "/cache/shared" {
			return w.Place() + ": " + w.Text()
		}
	}
	return ""
}
