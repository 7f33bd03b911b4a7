// Package admin is what people do with the tool cache of a home: look at it, check it, forget what it keeps,
// take the lists of another file over.
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

// What the cache and its files are shown as.
type (
	// Stats is what is known of a cache.
	Stats = toolcache.Stats
	// FileInfo is what is known of a cache file.
	FileInfo = toolcache.FileInfo
	// Report is what a check of a cache file finds.
	Report = toolcache.Report
	// Migration is what would become of a file of an older format.
	Migration = toolcache.Migration
	// Imported is what an import did with the entry of one server.
	Imported = toolcache.Imported
)

// Options are what settings do not say. The zero value works.
type Options struct {
	Version string       // of Collie, as files name their writer
	Logger  *slog.Logger // nil discards
	// Record puts a change that was made on record; nil does not.
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
	// Cleared tells a gateway whose lists are gone; nil where none runs.
	Cleared func(names []string)
}

// Clear deletes the entries of servers, all if none is named, and returns whose there were.
func (c Cache) Clear(names ...string) []string {
	gone := c.Cache.Clear(names...)
	if c.Cleared != nil {
		c.Cleared(gone)
	}
	return gone
}

// CacheOptions are how the cache of a home is opened with its key.
func CacheOptions(cfg *config.Config, key []byte, o Options) toolcache.Options {
	path, _ := File(cfg)
	c := &cfg.Cache
	return toolcache.Options{
		Path: path, Key: key, Mode: c.Mode, Compression: c.Compression, TrustImported: c.TrustImported,
		AppVersion: o.Version, Logger: o.Logger,
	}
}

// File is where the tool cache lies, and whether that is not the first choice because that
// folder cannot be written.
func File(cfg *config.Config) (path string, fellBack bool) {
	return toolcache.Place(cfg.Cache.File, cfg.Cache.Fallback)
}

// Key is the file with the key of the servers' identities and of what is signed.
func Key(cfg *config.Config) string {
	if cfg.Cache.SharedKeyFile != "" {
		return cfg.Cache.SharedKeyFile
	}
	return filepath.Join(cfg.Paths.State, "cache.key")
}

// Edit does something to the cache of cfg, which returns whose entries it deleted, and writes that. A gateway
// that runs takes it up. It fails where the cache is switched off.
func Edit(ctx context.Context, cfg *config.Config, o Options, command string, do func(Cache) []string) (gone []string, err error) {
	c, err := open(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if gone = do(c); len(gone) == 0 {
		return nil, NotKept(command, c.Flush(ctx))
	}
	if err := c.Flush(ctx); err != nil {
		return nil, NotKept(command, err)
	}
	o.record(ctx, command, map[string]any{"servers": gone})
	return gone, nil
}

// Import takes the lists of another cache file, whose text is data, over into the cache of cfg.
func Import(ctx context.Context, cfg *config.Config, o Options, path string, data []byte) ([]Imported, error) {
	const command = "cache import"
	c, err := open(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.Import(data)
	taken := 0
	for _, i := range list {
		if i.Skipped == "" {
			taken++
		}
	}
	if taken == 0 {
		return list, err
	}
	if err := c.Flush(ctx); err != nil {
		return nil, NotKept(command, err)
	}
	o.record(ctx, command, map[string]any{"file": path, "servers": taken})
	return list, nil
}

// open opens the cache of cfg. What is wrong with its file is logged. The caller closes it.
func open(ctx context.Context, cfg *config.Config, o Options) (Cache, error) {
	const op = "open tool cache"
	if !cfg.Cache.Enabled {
		return Cache{}, Off(op)
	}
	key, err := toolcache.LoadKey(Key(cfg))
	if err != nil {
		return Cache{}, &tool.Error{Op: op, Kind: tool.Internal, Subject: Key(cfg), Message: "there is no key for it", Err: err}
	}
	return Cache{Cache: toolcache.Open(ctx, CacheOptions(cfg, key, o))}, nil
}

// Peek opens the cache of cfg for those who only look, with its key: where there is no key or no file yet, there
// is no cache either, and none is made. A gateway that has put a broken file aside may be about to write what
// it knows in its place. The caller closes what it returns, which may be nil.
func Peek(ctx context.Context, cfg *config.Config) (kept *toolcache.Cache, key []byte) {
	if _, err := os.Stat(Key(cfg)); err != nil {
		return nil, nil
	}
	key, err := toolcache.LoadKey(Key(cfg))
	if err != nil || !cfg.Cache.Enabled {
		return nil, key
	}
	path, _ := File(cfg)
	if CheckFile(path) != nil { // opening would make a missing file, and put a broken one aside
		return nil, key
	}
	return toolcache.Open(ctx, CacheOptions(cfg, key, Options{})), key
}

// Verify checks the text of a cache file.
func Verify(data []byte) Report { return toolcache.Verify(data) }

// Migrate says what a cache file would be in the format of now. It changes nothing.
func Migrate(data []byte) (Migration, error) { return toolcache.Migrate(data) }

// MigrateFile writes a cache file of an older format as of now, under the lock that gateways take too, and
// keeps the old one beside it as <file>.v<version>.bak. m is what [Migrate] said of it.
func MigrateFile(ctx context.Context, cfg *config.Config, o Options, path string, m Migration) error {
	const command = "cache migrate"
	at := CacheOptions(cfg, nil, o)
	at.Path = path
	if err := toolcache.MigrateFile(ctx, at); err != nil {
		return NotKept(command, err)
	}
	o.record(ctx, command, map[string]any{"file": path, "from": m.From, "to": m.To})
	return nil
}

// Plain is a cache file without its compression.
func Plain(data []byte) ([]byte, error) { return toolcache.Plain(data) }

// Schema is the JSON Schema of a cache file.
func Schema() []byte { return toolcache.Schema() }

// Writable reports whether a cache file may be written, or made, by the modes of it and its
// folder.
func Writable(path string) bool {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return false
	}
	_, elsewhere := toolcache.Place(path+".lock.none", path) // a name that nobody has is judged by its folder
	return !elsewhere
}

// maxFile is one byte more than a cache file may have.
const maxFile = 64<<20 + 1

// ReadFile reads a file that may be a tool cache.
func ReadFile(path string) ([]byte, error) {
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
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, fail("", "", err)
	}
	return data, nil
}

// CheckFile says why a file cannot be used as a cache: it is missing (kind Unknown), cannot be read (Unavailable), or is
// broken or another program's (Invalid).
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
		Hint: "collie cache verify shows everything that is wrong; a gateway keeps such a file aside and writes a new one",
	}
}

// Off is the error of a cache that is switched off.
func Off(op string) error {
	return &tool.Error{
		Op: op, Kind: tool.Disabled, Message: "the tool cache is switched off: cache.enabled is false",
		Hint: "collie config set cache.enabled true",
	}
}

// NotKept is the error of a command whose change of the cache file was not written; nil stays nil.
func NotKept(command string, err error) error {
	if err == nil {
		return nil
	}
	out := &tool.Error{
		Op: command, Kind: tool.Unavailable, Message: "the cache file was not written", Err: err,
		Hint: "collie cache path shows where it is, and whether it may be written",
	}
	if e, ok := errors.AsType[*tool.Error](err); ok { // it says the same of the file
		out.Subject, out.Message, out.Err = e.Subject, fmt.Sprintf("%s: %s", out.Message, cmp.Or(e.Message, e.Error())), nil
		out.Hint = cmp.Or(e.Hint, out.Hint)
	}
	return out
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
