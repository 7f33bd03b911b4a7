// Package admin lets people manage the tool cache of a home: inspect, check and clear it, and import from another
// file.
package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"collie/internal/config"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Types of the cache that callers see.
type (
	// Stats describes the state of a cache.
	Stats = toolcache.Stats
	// FileInfo describes a cache file.
	FileInfo = toolcache.FileInfo
	// Report is the result of checking a cache file.
	Report = toolcache.Report
	// Migration is the planned conversion of a file in an older format.
	Migration = toolcache.Migration
	// Imported is the result of an import for one server.
	Imported = toolcache.Imported
)

// Options are what the settings do not say. The zero value works.
type Options struct {
	Version string       // of Collie, which files name as their writer
	Logger  *slog.Logger // nil discards
	// Record writes a change into the audit; nil does not.
	Record func(ctx context.Context, command string, detail map[string]any)
}

func (o *Options) record(ctx context.Context, command string, detail map[string]any) {
	if o.Record != nil {
		o.Record(ctx, command, detail)
	}
}

// Cache is the tool cache of a gateway, or one that a command has opened.
type Cache struct {
	*toolcache.Cache
	// Cleared tells a gateway which entries are gone; nil if none runs.
	Cleared func(names []string)
}

// Clear deletes the entries of the named servers, or of all if none is named, and returns the names of those deleted.
func (c Cache) Clear(names ...string) []string {
	removed := c.Cache.Clear(names...)
	if c.Cleared != nil {
		c.Cleared(removed)
	}
	return removed
}

// CacheOptions returns the options to open the cache of a home with its key.
func CacheOptions(cfg *config.Config, key []byte, o Options) toolcache.Options {
	path, _ := CachePath(cfg)
	c := &cfg.Cache
	return toolcache.Options{
		Path: path, Key: key, Mode: c.Mode, Compression: c.Compression, TrustImported: c.TrustImported,
		AppVersion: o.Version, Logger: o.Logger,
	}
}

// CachePath returns the path of the tool cache. fellBack says that it is the fallback, because the first choice cannot be
// written.
func CachePath(cfg *config.Config) (path string, fellBack bool) {
	return toolcache.ChoosePath(cfg.Cache.File, cfg.Cache.Fallback)
}

// KeyPath returns the path of the file with the key for the servers' identities and for signatures.
func KeyPath(cfg *config.Config) string {
	if cfg.Cache.SharedKeyFile != "" {
		return cfg.Cache.SharedKeyFile
	}
	return filepath.Join(cfg.Paths.State, "cache.key")
}

// DeleteEntries opens the cache of cfg, calls remove, which deletes entries and returns their servers, and writes the
// result. A running gateway takes the change over. DeleteEntries fails if the cache is switched off.
func DeleteEntries(ctx context.Context, cfg *config.Config, o Options, command string, remove func(Cache) []string) (removed []string, err error) {
	c, err := open(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if removed = remove(c); len(removed) == 0 {
		return nil, NotKeptError(command, c.Flush(ctx))
	}
	if err := c.Flush(ctx); err != nil {
		return nil, NotKeptError(command, err)
	}
	o.record(ctx, command, map[string]any{"servers": removed})
	return removed, nil
}

// Import copies entries from another cache file, whose text is data, into the cache of cfg.
func Import(ctx context.Context, cfg *config.Config, o Options, path string, data []byte) ([]Imported, error) {
	const command = "cache import"
	c, err := open(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.Import(data)
	imported := 0
	for _, i := range list {
		if i.Skipped == "" {
			imported++
		}
	}
	if imported == 0 {
		return list, err
	}
	if err := c.Flush(ctx); err != nil {
		return nil, NotKeptError(command, err)
	}
	o.record(ctx, command, map[string]any{"file": path, "servers": imported})
	return list, nil
}

// open opens the cache of cfg; the caller closes it. Problems of its file are logged.
func open(ctx context.Context, cfg *config.Config, o Options) (Cache, error) {
	const op = "open tool cache"
	if !cfg.Cache.Enabled {
		return Cache{}, OffError(op)
	}
	key, err := toolcache.LoadKey(KeyPath(cfg))
	if err != nil {
		return Cache{}, &tool.Error{Op: op, Kind: tool.Internal, Subject: KeyPath(cfg), Message: "there is no key for it", Err: err}
	}
	return Cache{Cache: toolcache.Open(ctx, CacheOptions(cfg, key, o))}, nil
}

// OpenForReading opens the cache of cfg, and its key, for reading. cache is nil if there is no key or no usable file; it
// creates neither, since a gateway that has put a broken file aside may be about to write a new one. The caller
// closes cache.
func OpenForReading(ctx context.Context, cfg *config.Config) (cache *toolcache.Cache, key []byte) {
	if _, err := os.Stat(KeyPath(cfg)); err != nil {
		return nil, nil
	}
	key, err := toolcache.LoadKey(KeyPath(cfg))
	if err != nil || !cfg.Cache.Enabled {
		return nil, key
	}
	path, _ := CachePath(cfg)
	if CheckFile(path) != nil { // opening would create a missing file, and put a broken one aside
		return nil, key
	}
	return toolcache.Open(ctx, CacheOptions(cfg, key, Options{})), key
}

// Verify checks the text of a cache file.
func Verify(data []byte) Report { return toolcache.Verify(data) }

// Migrate returns how a cache file would be converted to the current format. It changes nothing.
func Migrate(data []byte) (Migration, error) { return toolcache.Migrate(data) }

// MigrateFile converts a cache file to the current format, under the lock that gateways take too, and keeps the old
// one as <file>.v<version>.bak. planned is the result of [Migrate] for the file; only its versions are used, for the
// audit.
func MigrateFile(ctx context.Context, cfg *config.Config, o Options, path string, planned Migration) error {
	const command = "cache migrate"
	at := CacheOptions(cfg, nil, o)
	at.Path = path
	if err := toolcache.MigrateFile(ctx, at); err != nil {
		return NotKeptError(command, err)
	}
	o.record(ctx, command, map[string]any{"file": path, "from": planned.From, "to": planned.To})
	return nil
}

// Plain returns a cache file without compression.
func Plain(data []byte) ([]byte, error) { return toolcache.Plain(data) }

// Schema returns the JSON Schema of a cache file.
func Schema() []byte { return toolcache.Schema() }

// IsWritable reports whether a cache file may be written or created, by the modes of file and folder.
func IsWritable(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return false
	}
	return toolcache.CanCreate(path)
}

// maxFile is the largest size of a cache file in bytes.
const maxFile = 64 << 20

// ReadFile reads a file that may be a tool cache. Of a file that is too large it returns one byte more than maxFile, so
// that the checks of the text refuse it.
func ReadFile(path string) ([]byte, error) {
	fail := func(message, hint string, err error) error {
		return &tool.Error{Op: "read tool cache", Kind: tool.Unavailable, Subject: path, Message: message, Hint: hint, Err: err}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &tool.Error{
			Op: "read tool cache", Kind: tool.NotFound, Subject: path, Message: "there is no such file",
			Hint: "collie cache path shows where the cache is; it is created when a server has listed its tools: collie cache warm",
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
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fail("", "", err)
	}
	return data, nil
}

// CheckFile returns why a file cannot be used as a cache: it is missing (kind NotFound), cannot be read (Unavailable),
// or is broken, not a tool cache, or of a newer Collie (Invalid).
func CheckFile(path string) error {
	data, err := ReadFile(path)
	if err != nil {
		return err
	}
	_, err = toolcache.Migrate(data)
	if err == nil {
		return nil
	}
	message := err.Error()
	if e, ok := errors.AsType[*tool.Error](err); ok {
		message = e.Message
	}
	return &tool.Error{
		Op: "read tool cache", Kind: tool.Invalid, Subject: path, Message: message,
		Hint: "collie cache verify shows everything that is wrong; a gateway keeps a broken file aside and writes a new one, and leaves that of a newer Collie alone",
	}
}

// OffError returns the error for a cache that is switched off.
func OffError(op string) error {
	return &tool.Error{
		Op: op, Kind: tool.Disabled, Message: "the tool cache is switched off: cache.enabled is false",
		Hint: "collie config set cache.enabled true",
	}
}

// NotKeptError returns the error of a command whose change was not written to the cache file; nil stays nil.
func NotKeptError(command string, err error) error {
	if err == nil {
		return nil
	}
	out := &tool.Error{
		Op: command, Kind: tool.Unavailable, Message: "the cache file was not written", Err: err,
		Hint: "collie cache path shows where it is, and whether it may be written",
	}
	if e, ok := errors.AsType[*tool.Error](err); ok { // it names the file already
		out.Subject, out.Message, out.Err = e.Subject, fmt.Sprintf("%s: %s", out.Message, cmp.Or(e.Message, e.Error())), nil
		out.Hint = cmp.Or(e.Hint, out.Hint)
	}
	return out
}

// SharedPlace returns the address of the NATS servers through which a home's cache is shared, without credentials;
// empty if it is not shared.
func SharedPlace(cfg *config.Config) string {
	if cfg.Cache.Shared == "" {
		return ""
	}
	list := strings.Split(cfg.Cache.Shared, ",")
	for i, one := range list {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil { // cannot happen: such settings are refused
			return ""
		}
		u.User = nil
		list[i] = u.String()
	}
	return strings.Join(list, ",")
}

// SharedPlaceIgnored returns why the configured shared place is not used: places of its kind are no longer supported.
// It is empty for a NATS server, and if none is configured.
func SharedPlaceIgnored(cfg *config.Config) string {
	for _, w := range cfg.Warnings {
		if w.Pointer == "/cache/shared" {
			return w.Place() + ": " + w.Text()
		}
	}
	return ""
}
