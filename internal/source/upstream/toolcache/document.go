package toolcache

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"collie/internal/lazyregexp"
)

// document is a cache file. Entries stay as they lie in it.
type document struct {
	version    string
	created    time.Time
	updated    time.Time
	total      uint64 // entries ever committed
	writes     uint64 // files ever written
	generation uint64
	writer     json.RawMessage
	entries    map[string]json.RawMessage

	from  string   // the version on the disk, before migration
	plain int      // size in bytes before compression
	extra []member // fields that a newer version knows, kept as they are
	meta  []member // of metadata: all of them until readMeta, then those that we do not know
}

// indentBelow is the size up to which a file is laid out for people.
const indentBelow = 256 << 10

var serverName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// newDocument is the file before anything was written.
func newDocument(now time.Time) *document {
	return &document{version: version, created: now, updated: now, entries: map[string]json.RawMessage{}}
}

// clone is a copy whose entries can be changed.
func (d *document) clone() *document {
	c := *d
	c.entries = maps.Clone(d.entries)
	return &c
}

// readDocument reads a file of any version that we know, as of [version], and reports what is
// wrong with it outside its entries. A newer major version is a [*foreignVersionError].
func readDocument(data []byte, zone *time.Location, report reporter) (*document, error) {
	plain, err := expand(data)
	if err != nil {
		report.fail(ruleJSON, err.Error())
		return nil, nil
	}
	before := len(*report.list)
	d := parseDocument(plain, report)
	d.plain = len(plain)
	if versionPattern.MatchString(d.version) && major(d.version) > major(version) {
		*report.list = (*report.list)[:before] // nothing in it is ours to judge
		err := &foreignVersionError{d.version}
		report.at("version").fail(ruleVersion, err.Error())
		return d, err
	}
	if _, bad := firstError(*report.list); bad {
		return d, nil
	}
	if err := migrate(d, zone); err != nil {
		report.at("version").fail(ruleVersion, err.Error())
		return d, err
	}
	d.readMeta(report.at("metadata"))
	return d, nil
}

// parseDocument reads the parts of a file.
func parseDocument(data []byte, report reporter) *document {
	d := &document{entries: map[string]json.RawMessage{}}
	s := newScanner(data)
	seen := map[string]bool{}
	_, err := s.object(func(name string) error {
		if seen[name] {
			report.at(name).fail(ruleUnique, "the field stands twice")
		}
		seen[name] = true
		return d.field(s, name, report.at(name))
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		report.syntax(data, err)
		return d
	}
	for _, name := range []string{"version", "mcpServers", "metadata"} {
		if !seen[name] {
			report.fail(ruleRequired, fmt.Sprintf("the field %q is missing", name))
		}
	}
	return d
}

func (d *document) field(s *scanner, name string, report reporter) error {
	var err error
	switch name {
	case "mcpServers":
		_, err = s.object(func(server string) error { return d.server(s, server, report.at(server)) })
	case "metadata":
		_, err = s.object(func(name string) error {
			v, err := s.value()
			d.meta = append(d.meta, member{name, v})
			return err
		})
	default:
		var v json.RawMessage
		if v, err = s.value(); err != nil {
			return err
		}
		if name == "version" {
			d.readVersion(v, report)
		} else {
			d.extra = append(d.extra, member{name, v})
		}
	}
	return asFinding(s, err, report)
}

// asFinding reports a value of the wrong kind, passes over it and goes on.
func asFinding(s *scanner, err error, report reporter) error {
	if wrong, ok := err.(*typeError); ok { //nolint:errorlint // that of an inner value is wrapped by nobody
		report.fail(ruleType, wrong.Error())
		_, err = s.value()
	}
	return err
}

func (d *document) readVersion(v json.RawMessage, report reporter) {
	text, err := unquote(v)
	if err == nil && !versionPattern.MatchString(text) {
		err = fmt.Errorf("expected three numbers such as %q, got %.40q", version, text)
	}
	if err != nil {
		report.fail(ruleType, err.Error())
	}
	d.version, d.from = text, text
}

func (d *document) server(s *scanner, name string, report reporter) error {
	v, err := s.value()
	if err != nil {
		return err
	}
	if d.entries[name] != nil {
		report.fail(ruleUnique, "the server stands twice")
	}
	d.entries[name] = flat(v)
	return nil
}

// metaField is a field of "metadata".
type metaField struct {
	name     string
	required bool
	put      func(*document) json.RawMessage
	get      func(*document, json.RawMessage) error
}

var metaFields = []metaField{
	metaTime("createdAt", func(d *document) *time.Time { return &d.created }).must(),
	metaTime("lastGlobalUpdate", func(d *document) *time.Time { return &d.updated }).must(),
	metaCount("totalWrites", func(d *document) *uint64 { return &d.total }).must(),
	metaCount("fileWrites", func(d *document) *uint64 { return &d.writes }),
	metaCount("generation", func(d *document) *uint64 { return &d.generation }),
	{name: "writer", put: func(d *document) json.RawMessage { return d.writer }, get: func(d *document, v json.RawMessage) error {
		d.writer = v
		return expect(v, '{', "an object")
	}},
}

func (f metaField) must() metaField {
	f.required = true
	return f
}

func metaTime(name string, at func(*document) *time.Time) metaField {
	return metaField{
		name: name,
		put:  func(d *document) json.RawMessage { return quote(formatTime(*at(d))) },
		get: func(d *document, v json.RawMessage) (err error) {
			*at(d), err = parseTime(v)
			return err
		},
	}
}

func metaCount(name string, at func(*document) *uint64) metaField {
	return metaField{
		name: name,
		put:  func(d *document) json.RawMessage { return encode(*at(d)) },
		get: func(d *document, v json.RawMessage) (err error) {
			*at(d), err = parseCount(v)
			return err
		},
	}
}

// readMeta reads the metadata, which the parser has only kept: a migration may have to write it
// anew first.
func (d *document) readMeta(report reporter) {
	seen := map[string]bool{}
	var unknown []member
	for _, m := range d.meta {
		if seen[m.name] {
			report.at(m.name).fail(ruleUnique, "the field stands twice")
		}
		seen[m.name] = true
		i := slices.IndexFunc(metaFields, func(f metaField) bool { return f.name == m.name })
		if i < 0 {
			unknown = append(unknown, m)
		} else if err := metaFields[i].get(d, m.value); err != nil {
			report.at(m.name).fail(ruleType, err.Error())
		}
	}
	for _, f := range metaFields {
		if f.required && !seen[f.name] {
			report.fail(ruleRequired, fmt.Sprintf("the field %q is missing", f.name))
		}
	}
	d.meta = unknown
}

// render writes the file: metadata first, so that the first bytes tell two versions apart, then
// the servers by name. Up to indentBelow each field and each definition has a line of its own;
// what a server sent is never laid out anew.
func (d *document) render() []byte {
	var meta []member
	for _, f := range metaFields {
		if v := f.put(d); v != nil {
			meta = append(meta, member{f.name, v})
		}
	}
	meta = append(meta, d.meta...)
	var servers []member
	size := 0
	for _, name := range slices.Sorted(maps.Keys(d.entries)) {
		servers = append(servers, member{name, d.entries[name]})
		size += len(d.entries[name]) + len(name) + 4
	}
	l := layout{dst: make([]byte, 0, size+size/8+1024), indent: size < indentBelow}
	top := append([]member{
		{"version", quote(d.version)},
		{"metadata", joinObject(meta)},
		{"mcpServers", nil},
	}, d.extra...)
	l.members(0, top, func(m member) {
		switch m.name {
		case "metadata":
			l.members(1, meta, nil)
		case "mcpServers":
			l.members(1, servers, l.entry)
		default:
			l.raw(m.value)
		}
	})
	return append(l.dst, '\n')
}
