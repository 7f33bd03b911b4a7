package toolcache

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// This file has the entry of one server, and writes and reads it.

// version is the format that is written: 1.1.0 adds optional fields to 1.0.0.
const version = "1.1.0"

// State of an [Entry]; only active ones are served.
type State string

// The states. Callers set the first; the cache sets the others.
const (
	Empty   State = "empty" // the server confirmed that it has no tools
	active  State = "active"
	removed State = "removed" // its server is no longer configured
	invalid State = "invalid" // the configuration changed, or the entry is broken
)

// Entry is what is stored for one server. Lists hold definitions byte for byte as the server sent them. An Entry must
// not be changed once it was given to a [Cache] or returned by one.
type Entry struct {
	Tools             []json.RawMessage
	Prompts           []json.RawMessage
	Resources         []json.RawMessage
	ResourceTemplates []json.RawMessage

	ConfigHash  string // entry.ConfigHash: 64 hexadecimal digits
	Fingerprint string // entry.Fingerprint of the files behind the command; empty if there are none
	Principal   string // digest of who was signed in; empty if nobody was
	// ServerConfig is the masked snapshot of the configuration, entry.Snapshot.
	ServerConfig json.RawMessage

	Era             string // legacy or modern: the era last used
	Eras            string // legacy, modern or both: what the server speaks; empty if only one was tried
	ProtocolVersion string
	Transport       string // stdio, http or sse: the one that worked
	ServerInfo      json.RawMessage
	Capabilities    json.RawMessage
	Instructions    string

	TTL        time.Duration // smallest ttlMs of all pages; 0 if none was given
	CacheScope string        // public, private or empty: the strictest of all pages

	Truncated bool      // the list was cut at a limit
	Dropped   []Dropped // entries that were left out of the lists, and why

	// The following fields are set by the cache; [Cache.Store] ignores them.
	State         State
	StateReason   string // stable code
	StateAt       time.Time
	LastUpdated   time.Time // when the content last changed or was first stored
	ValidatedAt   time.Time // when a live server last confirmed it
	ToolsHash     string
	LastErrorCode string // of the last refresh; empty if it succeeded
	LastErrorAt   time.Time
	Rev           uint64 // grows with every change
	// Sealed says that this home wrote the tools and nobody has edited them since.
	Sealed bool
}

// Dropped is an entry of a list that was left out.
type Dropped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// record is an [Entry] as it is in the file.
type record struct {
	*Entry
	seal      string   // see sealTools
	mac       string   // signature of the seal with the key of this home; see [Entry.Sealed]
	sealValid bool     // the seal is valid
	extra     []member // fields of a newer version, kept as they are
}

// list describes one of an entry's lists.
type list struct {
	name string
	at   func(*Entry) *[]json.RawMessage
	key  string // the member that every element must have
}

// lists are in the order in which they are written, after all other fields.
var lists = []list{
	{"tools", func(e *Entry) *[]json.RawMessage { return &e.Tools }, "name"},
	{"prompts", func(e *Entry) *[]json.RawMessage { return &e.Prompts }, "name"},
	{"resources", func(e *Entry) *[]json.RawMessage { return &e.Resources }, "uri"},
	{"resourceTemplates", func(e *Entry) *[]json.RawMessage { return &e.ResourceTemplates }, "uriTemplate"},
}

func findList(name string) *list {
	for i := range lists {
		if lists[i].name == name {
			return &lists[i]
		}
	}
	return nil
}

// encode returns an entry on one line, with its definitions byte for byte. key signs the seal; nil leaves it
// unsigned.
func (r *record) encode(key []byte) json.RawMessage {
	r = &record{Entry: r.Entry, extra: r.extra}
	if r.ToolsHash != "" {
		r.seal = sealTools(r.ToolsHash, r.Tools)
		if len(key) > 0 {
			r.mac = signSeal(key, r.seal)
		}
	}
	all := append(encodeFields(fields, r), r.extra...)
	for _, l := range lists {
		if values := *l.at(r.Entry); len(values) > 0 || l.name == "tools" {
			all = append(all, member{l.name, joinArray(values)})
		}
	}
	return joinObject(all)
}

// joinObject writes an object without white space between its members.
func joinObject(members []member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.name) + len(m.value) + 4
	}
	dst := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, quote(m.name)...), ':'), m.value...)
	}
	return append(dst, '}')
}

// decodeRecord reads an entry and reports everything that is wrong in it. Wrong parts are left out of the record.
func decodeRecord(raw json.RawMessage, report findingReporter) *record {
	r := &record{Entry: &Entry{}}
	if !utf8.Valid(raw) {
		report.fail(ruleUTF8, "some text is not UTF-8")
	}
	seen := seenMembers{}
	s := newScanner(raw)
	_, err := s.walkObject(func(name string) error {
		seen.add(name, report)
		return s.readMember(r, name, report.at(name))
	})
	if err != nil {
		report.fail(ruleJSON, err.Error())
		return r
	}
	requireAll(seen, fields, report)
	seen.require("tools", report)
	r.fillIn()
	return r
}

// fillIn fills in fields that 1.0.0 does not have.
func (r *record) fillIn() {
	if r.ValidatedAt.IsZero() {
		r.ValidatedAt = r.LastUpdated
	}
	r.State = cmp.Or(r.State, active)
}

func (s *scanner) readMember(r *record, name string, report findingReporter) error {
	if l := findList(name); l != nil {
		return s.readList(l, r.Entry, report)
	}
	v, err := s.readValue()
	if err != nil {
		return err
	}
	if !decodeField(fields, r, name, v, report) {
		r.extra = append(r.extra, member{name, v})
	}
	return nil
}

// readList reads one list and checks each of its definitions.
func (s *scanner) readList(l *list, e *Entry, report findingReporter) error {
	var defs []json.RawMessage
	names := map[string]bool{}
	err := s.walkArray(func(i int) error {
		d, err := s.readDefinition(l)
		if wrong, ok := errors.AsType[*typeError](err); ok {
			report.at(strconv.Itoa(i)).fail(ruleType, wrong.Error())
			_, err = s.readValue()
			return err
		}
		if err != nil {
			return err
		}
		name, err := d.check(l)
		switch {
		case err != nil:
			report.at(strconv.Itoa(i)).fail(ruleDefinition, err.Error())
		case names[name]:
			report.at(strconv.Itoa(i)).fail(ruleUnique, fmt.Sprintf("%s %q is listed twice", l.key, name))
		default:
			names[name] = true
			defs = append(defs, d.raw)
		}
		return nil
	})
	*l.at(e) = defs
	if wrong, ok := errors.AsType[*typeError](err); ok {
		report.fail(ruleType, wrong.Error())
		_, err = s.readValue()
	}
	return err
}
