package toolcache

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// This file describes the members of an entry in the file: how each is written, read and checked.

// field describes a member of an object in the file: how it is written, read and checked.
type field[T any] struct {
	name     string
	required bool
	put      func(*T) json.RawMessage // returns nil to leave it out
	get      func(*T, json.RawMessage) error
}

// fields are the fields of an entry except its lists, in the order of writing: what is read first comes first.
var fields = []field[record]{
	{"version", true, func(*record) json.RawMessage { return quote(version) }, getVersion},
	text("state", false, stateWord, func(r *record) *State { return &r.State }),
	text("stateReason", false, word, func(r *record) *string { return &r.StateReason }),
	timeField("stateAt", false, func(r *record) *time.Time { return &r.StateAt }),
	count("rev", false, func(r *record) *uint64 { return &r.Rev }),
	text("configHash", true, hexHash, func(r *record) *string { return &r.ConfigHash }),
	timeField("lastUpdated", true, func(r *record) *time.Time { return &r.LastUpdated }),
	timeField("validatedAt", false, func(r *record) *time.Time { return &r.ValidatedAt }),
	text("toolsHash", false, hexHash, func(r *record) *string { return &r.ToolsHash }),
	text("toolsSeal", false, hexHash, func(r *record) *string { return &r.seal }),
	text("toolsMac", false, hexHash, func(r *record) *string { return &r.mac }),
	text("fingerprint", false, anyText, func(r *record) *string { return &r.Fingerprint }),
	text("principal", false, anyText, func(r *record) *string { return &r.Principal }),
	objectField("serverConfig", true, func(r *record) *json.RawMessage { return &r.ServerConfig }),
	text("era", false, word, func(r *record) *string { return &r.Era }),
	text("eras", false, word, func(r *record) *string { return &r.Eras }),
	text("protocolVersion", false, anyText, func(r *record) *string { return &r.ProtocolVersion }),
	text("transport", false, word, func(r *record) *string { return &r.Transport }),
	objectField("serverInfo", false, func(r *record) *json.RawMessage { return &r.ServerInfo }),
	objectField("capabilities", false, func(r *record) *json.RawMessage { return &r.Capabilities }),
	text("instructions", false, anyText, func(r *record) *string { return &r.Instructions }),
	{"ttlMs", false, func(r *record) json.RawMessage { return encodeIf(r.TTL > 0, r.TTL.Milliseconds()) }, getTTL},
	text("cacheScope", false, word, func(r *record) *string { return &r.CacheScope }),
	{"truncated", false, func(r *record) json.RawMessage { return encodeIf(r.Truncated, true) }, getTruncated},
	{"dropped", false, func(r *record) json.RawMessage { return encodeIf(len(r.Dropped) > 0, r.Dropped) }, getDropped},
	{"lastError", false, putError, getError},
	{"toolHashes", false, putToolHashes, getToolHashes},
}

// metaFields are the fields of "metadata".
var metaFields = []field[document]{
	timeField("createdAt", true, func(d *document) *time.Time { return &d.created }),
	timeField("lastGlobalUpdate", true, func(d *document) *time.Time { return &d.updated }),
	count("totalWrites", true, func(d *document) *uint64 { return &d.total }),
	count("fileWrites", false, func(d *document) *uint64 { return &d.writes }),
	count("generation", false, func(d *document) *uint64 { return &d.generation }),
	objectField("writer", false, func(d *document) *json.RawMessage { return &d.writer }),
}

// write returns the members of an object.
func write[T any](all []field[T], from *T) (list []member) {
	for _, f := range all {
		if v := f.put(from); v != nil {
			list = append(list, member{f.name, v})
		}
	}
	return list
}

// read reads one member. known is false for a member of a newer version.
func read[T any](all []field[T], to *T, name string, v json.RawMessage, report findingReporter) (known bool) {
	i := slices.IndexFunc(all, func(f field[T]) bool { return f.name == name })
	if i < 0 {
		return false
	}
	if err := all[i].get(to, v); err != nil {
		report.fail(ruleType, err.Error())
	}
	return true
}

// seenMembers has the names of an object's members so far.
type seenMembers map[string]bool

func (m seenMembers) once(name string, report findingReporter) {
	if m[name] {
		report.at(name).fail(ruleUnique, "the field is given twice")
	}
	m[name] = true
}

func (m seenMembers) need(name string, report findingReporter) {
	if !m[name] {
		report.fail(ruleRequired, fmt.Sprintf("the field %q is missing", name))
	}
}

// needAll reports required members that are missing.
func needAll[T any](m seenMembers, all []field[T], report findingReporter) {
	for _, f := range all {
		if f.required {
			m.need(f.name, report)
		}
	}
}

// text returns the description of a string field, left out if empty.
func text[T any, S ~string](name string, required bool, check func(string) error, at func(*T) *S) field[T] {
	return field[T]{
		name, required,
		func(x *T) json.RawMessage {
			if *at(x) == "" {
				return nil
			}
			return quote(string(*at(x)))
		},
		func(x *T, raw json.RawMessage) error {
			s, err := unquote(raw)
			if err == nil {
				err = check(s)
			}
			*at(x) = S(s)
			return err
		},
	}
}

// timeField returns the description of a time field, left out if zero, unless it is required.
func timeField[T any](name string, required bool, at func(*T) *time.Time) field[T] {
	return field[T]{
		name, required,
		func(x *T) json.RawMessage {
			if at(x).IsZero() && !required {
				return nil
			}
			return quote(formatTime(*at(x)))
		},
		func(x *T, raw json.RawMessage) (err error) {
			*at(x), err = parseTime(raw)
			return err
		},
	}
}

// count returns the description of a whole number.
func count[T any](name string, required bool, at func(*T) *uint64) field[T] {
	return field[T]{
		name, required,
		func(x *T) json.RawMessage { return encode(*at(x)) },
		func(x *T, raw json.RawMessage) (err error) {
			*at(x), err = parseCount(raw)
			return err
		},
	}
}

// objectField returns the description of a JSON object that is kept as bytes. If nil it is left out, or written empty if required.
func objectField[T any](name string, required bool, at func(*T) *json.RawMessage) field[T] {
	return field[T]{
		name, required,
		func(x *T) json.RawMessage {
			if *at(x) == nil && required {
				return json.RawMessage("{}")
			}
			return *at(x)
		},
		func(x *T, raw json.RawMessage) error {
			*at(x) = raw
			return expect(raw, '{', "an object")
		},
	}
}

func getVersion(_ *record, raw json.RawMessage) error {
	_, err := versionIn(raw)
	return err
}

// versionIn reads the version of a file or an entry.
func versionIn(raw json.RawMessage) (string, error) {
	s, err := unquote(raw)
	if err == nil && !isVersion(s) {
		err = fmt.Errorf("expected three numbers such as %q, got %.40q", version, s)
	}
	return s, err
}

func stateWord(s string) error {
	switch State(s) {
	case active, removed, invalid, Empty:
		return nil
	}
	return fmt.Errorf("expected active, removed, invalid or empty, got %.40q", s)
}

func getTTL(r *record, raw json.RawMessage) error {
	n, err := parseCount(raw)
	r.TTL = time.Duration(min(n, maxTTL)) * time.Millisecond
	return err
}

// maxTTL, a hundred years in milliseconds, keeps a foreign number from overflowing.
const maxTTL = 100 * 365 * 24 * 3600 * 1000

func getTruncated(r *record, raw json.RawMessage) error {
	return decode(raw, &r.Truncated, "true or false")
}

func getDropped(r *record, raw json.RawMessage) error {
	return decode(raw, &r.Dropped, `a list of {"name", "reason"}`)
}

// lastError is the last failed refresh.
type lastError struct {
	Code string `json:"code"`
	At   string `json:"at"`
}

func putError(r *record) json.RawMessage {
	return encodeIf(r.LastErrorCode != "", lastError{r.LastErrorCode, formatTime(r.LastErrorAt)})
}

func getError(r *record, raw json.RawMessage) error {
	var e lastError
	if err := decode(raw, &e, `{"code", "at"}`); err != nil {
		return err
	}
	at, err := parseTime(quote(e.At))
	r.LastErrorCode, r.LastErrorAt = e.Code, at
	if err == nil {
		err = word(e.Code)
	}
	return err
}

func putToolHashes(r *record) json.RawMessage {
	hashes := map[string]string{}
	for _, def := range r.Tools {
		if name, ok := nameOf(def); ok {
			hashes[name] = ToolHash(def)
		}
	}
	return encodeIf(len(hashes) > 0, hashes)
}

// getToolHashes only checks the hashes: each write computes them anew.
func getToolHashes(_ *record, raw json.RawMessage) error {
	var hashes map[string]string
	if err := decode(raw, &hashes, "an object of names and hashes"); err != nil {
		return err
	}
	for name, h := range hashes {
		if err := hexHash(h); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return nil
}
