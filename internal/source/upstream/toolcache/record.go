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

// version is the format written: 1.1.0 adds optional fields to 1.0.0.
const version = "1.1.0"

// State of an [Entry]; only an active one is served.
type State string

// The states. Callers set the first; the others are the cache's own.
const (
	Empty   State = "empty" // the server confirmed that it has no tools now
	active  State = "active"
	removed State = "removed" // its server is no longer configured
	invalid State = "invalid" // its configuration changed, or it was found broken
)

// Entry is what is kept of one server. Lists hold definitions byte for byte as the
// server sent them. An Entry is not changed once it has been given to or taken from a
// [Cache].
type Entry struct {
	Tools             []json.RawMessage
	Prompts           []json.RawMessage
	Resources         []json.RawMessage
	ResourceTemplates []json.RawMessage

	ConfigHash  string // entry.ConfigHash: 64 hexadecimal digits
	Fingerprint string // of the files behind the command, entry.Fingerprint; empty if there are none
	Principal   string // digest of who was signed in; empty if nobody was
	// ServerConfig is the redacted snapshot of the configuration, entry.Snapshot.
	ServerConfig json.RawMessage

	Era             string // legacy or modern: what was spoken last
	Eras            string // legacy, modern or both: what the server speaks; empty where only one was tried
	ProtocolVersion string
	Transport       string // stdio, http or sse: what worked
	ServerInfo      json.RawMessage
	Capabilities    json.RawMessage
	Instructions    string

	TTL        time.Duration // smallest ttlMs over all pages; 0 means that none was given
	CacheScope string        // public, private or empty: the strictest over all pages

	Truncated bool      // the list was cut at a limit
	Dropped   []Dropped // what was left out of the lists, and why

	// What the cache itself keeps; ignored in [Cache.Store].
	State         State
	StateReason   string // a stable code
	StateAt       time.Time
	LastUpdated   time.Time // when the content last changed or was first stored
	ValidatedAt   time.Time // when a live server last confirmed it
	ToolsHash     string
	LastErrorCode string // of the last failed refresh; empty if the last one worked
	LastErrorAt   time.Time
	Rev           uint64 // grows with every change
	// Sealed says that this home has written the tools: nobody has edited them since.
	Sealed bool
}

// Dropped is one entry of a list that was left out.
type Dropped struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// record is an [Entry] as it lies in the file.
type record struct {
	*Entry
	seal  string   // see sealTools
	mac   string   // of the seal, under the key of this home; see [Entry.Sealed]
	whole bool     // the seal fits
	extra []member // fields that a newer version knows, kept as they are
}

// list is one list of an entry.
type list struct {
	name string
	at   func(*Entry) *[]json.RawMessage
	key  string // what each element must have
}

// lists are in the order in which they are written, behind everything else.
var lists = []list{
	{"tools", func(e *Entry) *[]json.RawMessage { return &e.Tools }, "name"},
	{"prompts", func(e *Entry) *[]json.RawMessage { return &e.Prompts }, "name"},
	{"resources", func(e *Entry) *[]json.RawMessage { return &e.Resources }, "uri"},
	{"resourceTemplates", func(e *Entry) *[]json.RawMessage { return &e.ResourceTemplates }, "uriTemplate"},
}

func listNamed(name string) *list {
	for i := range lists {
		if lists[i].name == name {
			return &lists[i]
		}
	}
	return nil
}

// encode writes an entry on one line. Definitions go out byte for byte. A key signs the
// seal; without one nobody does.
func (r *record) encode(key []byte) json.RawMessage {
	r = &record{Entry: r.Entry, extra: r.extra}
	if r.ToolsHash != "" {
		r.seal = sealTools(r.ToolsHash, r.Tools)
		if len(key) > 0 {
			r.mac = signSeal(key, r.seal)
		}
	}
	all := append(write(fields, r), r.extra...)
	for _, l := range lists {
		if values := *l.at(r.Entry); len(values) > 0 || l.name == "tools" {
			all = append(all, member{l.name, joinArray(values)})
		}
	}
	return joinObject(all)
}

// joinObject writes an object as it is, nothing between its members.
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

// decodeRecord reads an entry and reports everything that is wrong with it. Parts that are
// wrong are left out of the record.
func decodeRecord(raw json.RawMessage, report reporter) *record {
	r := &record{Entry: &Entry{}}
	if !utf8.Valid(raw) {
		report.fail(ruleUTF8, "some text is not UTF-8")
	}
	seen := met{}
	s := newScanner(raw)
	_, err := s.object(func(name string) error {
		seen.once(name, report)
		return s.field(r, name, report.at(name))
	})
	if err != nil {
		report.fail(ruleJSON, err.Error())
		return r
	}
	needAll(seen, fields, report)
	seen.need("tools", report)
	r.complete()
	return r
}

// complete fills in what 1.0.0 does not have.
func (r *record) complete() {
	if r.ValidatedAt.IsZero() {
		r.ValidatedAt = r.LastUpdated
	}
	r.State = cmp.Or(r.State, active)
}

func (s *scanner) field(r *record, name string, report reporter) error {
	if l := listNamed(name); l != nil {
		return s.list(l, r.Entry, report)
	}
	v, err := s.value()
	if err != nil {
		return err
	}
	if !read(fields, r, name, v, report) {
		r.extra = append(r.extra, member{name, v})
	}
	return nil
}

// list reads one list and checks each of its definitions.
func (s *scanner) list(l *list, e *Entry, report reporter) error {
	var defs []json.RawMessage
	names := map[string]bool{}
	err := s.array(func(i int) error {
		d, err := s.definition(l)
		if wrong, ok := errors.AsType[*typeError](err); ok {
			report.at(strconv.Itoa(i)).fail(ruleType, wrong.Error())
			_, err = s.value()
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
			report.at(strconv.Itoa(i)).fail(ruleUnique, fmt.Sprintf("%s %q stands twice", l.key, name))
		default:
			names[name] = true
			defs = append(defs, d.raw)
		}
		return nil
	})
	*l.at(e) = defs
	if wrong, ok := errors.AsType[*typeError](err); ok {
		report.fail(ruleType, wrong.Error())
		_, err = s.value()
	}
	return err
}
