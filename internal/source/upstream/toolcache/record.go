package toolcache

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

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

// encodeRecord writes an entry on one line. Definitions go out byte for byte. A key signs the
// seal; without one nobody does.
func encodeRecord(r *record, key []byte) json.RawMessage {
	if r.mac = ""; r.ToolsHash != "" {
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
	seen.all(append(required(fields), "tools"), report)
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
