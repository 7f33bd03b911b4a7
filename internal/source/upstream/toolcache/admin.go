package toolcache

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"collie/internal/tool"
)

// This file has what people do with a cache file: clear, prune, import and migrate.

// Clear deletes the entries of the named servers, or of all if none is named, and returns the names of those deleted.
// Running servers write theirs again with their next list.
func (c *Cache) Clear(names ...string) []string {
	return c.erase(func(name string, _ *slot) bool { return len(names) == 0 || slices.Contains(names, name) })
}

// Prune deletes the entries of servers that were removed from the configuration longer than age ago, and returns
// their names.
func (c *Cache) Prune(age time.Duration) []string {
	if c == nil {
		return nil
	}
	now := c.opts.Now()
	return c.erase(func(_ string, s *slot) bool {
		r := s.parse(now)
		return r != nil && r.State == removed && now.Sub(r.StateAt) >= age
	})
}

func (c *Cache) erase(chosen func(name string, s *slot) bool) (erased []string) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.slots)) {
		if s := c.slots[name]; !s.deleted && chosen(name, s) {
			s.markDeleted()
			erased = append(erased, name)
		}
	}
	if len(erased) > 0 {
		c.wakeWriter()
	}
	return erased
}

// Entries returns what is stored, by server, in the form of the file. Broken entries are returned as they were found.
func (c *Cache) Entries() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if c == nil {
		return out
	}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, s := range c.slots {
		switch {
		case s.deleted:
		case s.raw != nil && !s.isDirty():
			out[name] = s.raw
		case s.parse(now) != nil:
			out[name] = s.rec.encode(c.opts.Key)
		}
	}
	return out
}

// Imported is the result of [Cache.Import] for one server.
type Imported struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"`
	// Skipped says why the entry was not imported; empty if it was.
	Skipped string `json:"skipped,omitempty"`
}

// Import copies entries from another cache file, of Collie or of a program with the same format, for servers that
// have none. They are marked as imported: until their server confirms them, they are served only with
// Options.TrustImported, and as stale. If data is not a cache file, the error is a [tool.Error] of kind Invalid.
func (c *Cache) Import(data []byte) ([]Imported, error) { return c.importFrom(data, time.Local) }

// importFrom reads times without a zone as times in zone.
func (c *Cache) importFrom(data []byte, zone *time.Location) ([]Imported, error) {
	if c == nil {
		return nil, &tool.Error{Op: "import tool cache", Kind: tool.Disabled, Message: "the tool cache is switched off"}
	}
	d, err := parseForImport(data, zone)
	if err != nil {
		return nil, err
	}
	list := []Imported{}
	now := c.opts.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.entries)) {
		list = append(list, c.importEntry(name, d.entries[name], now))
	}
	c.wakeWriter()
	return list, nil
}

func parseForImport(data []byte, zone *time.Location) (*document, error) {
	wrong := func(message string) error {
		return &tool.Error{Op: "import tool cache", Kind: tool.Invalid, Message: message, Hint: "collie cache verify FILE shows everything that is wrong"}
	}
	if len(data) > maxFile {
		return nil, wrong(errTooLarge.Error())
	}
	d, bad, err := parseUsable(data, zone)
	switch {
	case err != nil:
		return nil, wrong(err.Error())
	case bad != nil && bad.Line > 0:
		return nil, wrong(fmt.Sprintf("line %d column %d: %s", bad.Line, bad.Column, bad.Message))
	case bad != nil:
		return nil, wrong(bad.Pointer + ": " + bad.Message)
	}
	return d, nil
}

// importEntry imports one entry.
func (c *Cache) importEntry(name string, raw json.RawMessage, now time.Time) Imported {
	r, _, why := parseEntry(raw, now)
	switch s := c.slots[name]; {
	case !isServerName(name):
		return Imported{Name: name, Skipped: "not the name of a server"}
	case r == nil:
		return Imported{Name: name, Skipped: why.Pointer + ": " + why.Message}
	case len(r.Tools) == 0:
		return Imported{Name: name, Skipped: "no tools"}
	case s != nil && !s.deleted && s.parse(now) != nil && s.rec.StateReason != reasonImported:
		return Imported{Name: name, Tools: len(r.Tools), Skipped: "there is a list of its own"}
	}
	e := *r.Entry
	e.State, e.StateReason, e.StateAt = active, reasonImported, roundTime(now)
	if e.ToolsHash == "" {
		e.ToolsHash, _ = hashTools(e.Tools) // cannot fail: they were parsed
	}
	s := c.slots[name]
	if s == nil {
		s = &slot{}
		c.slots[name] = s
	}
	e.Rev = max(e.Rev, s.disk.Rev) + 1
	s.seen, s.live = now, false
	s.replace(&record{Entry: &e, extra: r.extra})
	return Imported{Name: name, Tools: len(e.Tools)}
}

// Migration is the planned conversion of a file in an older format.
type Migration struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Before and After are the texts of the file as it is and as it would be.
	Before []byte `json:"-"`
	After  []byte `json:"-"`
}

// Changed reports whether there is anything to convert.
func (m Migration) Changed() bool { return m.From != m.To }

// Migrate returns how a file would be converted, and writes nothing: a cache converts its file at its next write, and
// keeps the old one. Errors are those of [Cache.Import].
func Migrate(data []byte) (Migration, error) { return migrateFrom(data, time.Local) }

func migrateFrom(data []byte, zone *time.Location) (Migration, error) {
	d, err := parseForImport(data, zone)
	if err != nil {
		return Migration{}, err
	}
	before, err := Plain(data)
	if err != nil {
		return Migration{}, err
	}
	m := Migration{From: d.from, To: d.version, Before: before, After: before}
	if m.Changed() {
		m.After = d.render()
	}
	return m, nil
}

// MigrateFile converts the cache file of o to the current format, under the lock that gateways take too, and keeps
// the old one as <file>.v<version>.bak.
func MigrateFile(ctx context.Context, o Options) error {
	o.setDefaults()
	f := newFile(o)
	defer f.Close()
	_, err := f.Load(ctx)
	if err == nil {
		_, err = f.Commit(ctx, nil)
	}
	return err
}
