package toolcache

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// This file reads and writes the cache file as a whole.

// document is a cache file. Its entries stay as bytes.
type document struct {
	version    string
	created    time.Time
	updated    time.Time
	total      uint64 // number of commits of entries
	writes     uint64 // number of times the file was written
	generation uint64
	writer     json.RawMessage
	entries    map[string]json.RawMessage

	from  string   // the version on disk, before migration
	plain int      // size in bytes before compression
	extra []member // fields of a newer version, kept as they are
	meta  []member // members of metadata: all of them before readMeta, then the unknown ones
}

// indentBelow is the size up to which a file is indented for people.
const indentBelow = 256 << 10

// isServerName reports whether s can name a server in the file.
func isServerName(s string) bool { return s != "" && consistsOf(s, letters+digits+"_-") }

// newDocument returns an empty document.
func newDocument(now time.Time) *document {
	return &document{version: version, created: now, updated: now, entries: map[string]json.RawMessage{}}
}

// clone returns a copy whose entries can be changed.
func (d *document) clone() *document {
	c := *d
	c.entries = maps.Clone(d.entries)
	return &c
}

// foreignVersionError says that a newer Collie has written the file.
type foreignVersionError struct{ version string }

func (e *foreignVersionError) Error() string {
	return fmt.Sprintf("format %s is newer than %s", e.version, version)
}

// readDocument reads a file of any known version, converted to [version], and reports problems outside its entries.
// For a newer major version the error is a [*foreignVersionError].
func readDocument(data []byte, zone *time.Location, report findingReporter) (*document, error) {
	plain, err := Plain(data)
	if err != nil {
		report.fail(ruleJSON, err.Error())
		return nil, nil
	}
	before := len(*report.list)
	d := parseDocument(plain, report)
	d.plain = len(plain)
	if isVersion(d.version) && versionNumbers(d.version)[0] > versionNumbers(version)[0] {
		*report.list = (*report.list)[:before] // a newer format is not checked by our rules
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

// parseUsable reads a file that is to be used. bad is the first finding that makes it unusable.
func parseUsable(data []byte, zone *time.Location) (d *document, bad *Finding, err error) {
	var findings []Finding
	d, err = readDocument(data, zone, findingReporter{list: &findings})
	if first, ok := firstError(findings); ok {
		bad = &first
	}
	return d, bad, err
}

// parseDocument reads the parts of a file.
func parseDocument(data []byte, report findingReporter) *document {
	d := &document{entries: map[string]json.RawMessage{}}
	s := newScanner(data)
	seen := seenMembers{}
	_, err := s.walkObject(func(name string) error {
		seen.add(name, report)
		return d.readMember(s, name, report.at(name))
	})
	if err == nil {
		err = s.requireEnd()
	}
	if err != nil {
		report.failSyntax(data, err)
		return d
	}
	for _, name := range []string{"version", "mcpServers", "metadata"} {
		seen.require(name, report)
	}
	return d
}

// readMember reads one member of the file as a whole.
func (d *document) readMember(s *scanner, name string, report findingReporter) error {
	var err error
	switch name {
	case "mcpServers":
		_, err = s.walkObject(func(server string) error { return d.readServer(s, server, report.at(server)) })
	case "metadata":
		_, err = s.walkObject(func(name string) error {
			v, err := s.readValue()
			d.meta = append(d.meta, member{name, v})
			return err
		})
	default:
		var v json.RawMessage
		if v, err = s.readValue(); err != nil {
			return err
		}
		if name != "version" {
			d.extra = append(d.extra, member{name, v})
			return nil
		}
		if d.version, err = parseVersion(v); err != nil {
			report.fail(ruleType, err.Error())
		}
		d.from = d.version
		return nil
	}
	return skipMistyped(s, err, report)
}

// skipMistyped reports a value of the wrong type, skips it and continues.
func skipMistyped(s *scanner, err error, report findingReporter) error {
	if wrong, ok := err.(*typeError); ok { //nolint:errorlint // that of an inner value is wrapped by nobody
		report.fail(ruleType, wrong.Error())
		_, err = s.readValue()
	}
	return err
}

// readServer reads the entry of one server, as bytes.
func (d *document) readServer(s *scanner, name string, report findingReporter) error {
	v, err := s.readValue()
	if err != nil {
		return err
	}
	if d.entries[name] != nil {
		report.fail(ruleUnique, "the server is listed twice")
	}
	d.entries[name] = flattenEntry(v)
	return nil
}

// readMeta reads the metadata. The parser leaves it as bytes, since a migration may have to rewrite it first.
func (d *document) readMeta(report findingReporter) {
	seen := seenMembers{}
	var unknown []member
	for _, m := range d.meta {
		seen.add(m.name, report)
		if !decodeField(metaFields, d, m.name, m.value, report.at(m.name)) {
			unknown = append(unknown, m)
		}
	}
	requireAll(seen, metaFields, report)
	d.meta = unknown
}

// render returns the file: first metadata, so that the first bytes identify a version of the file, then the servers
// by name. Up to indentBelow each field and each definition has its own line. What a server sent keeps its bytes.
func (d *document) render() []byte {
	meta := append(encodeFields(metaFields, d), d.meta...)
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
	l.writeObject(0, top, func(m member) {
		switch m.name {
		case "metadata":
			l.writeObject(1, meta, nil)
		case "mcpServers":
			l.writeObject(1, servers, l.writeEntry)
		default:
			l.appendRaw(m.value)
		}
	})
	return append(l.dst, '\n')
}
