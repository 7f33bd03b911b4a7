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
	encode   func(*T) json.RawMessage // returns nil to leave it out
	decode   func(*T, json.RawMessage) error
}

// fields are the fields of an entry except its lists, in the order of writing: what is read first comes first.
var fields = []field[record]{
	{"version", true, func(*record) json.RawMessage { return quote(version) }, checkVersion},
	textField("state", false, checkState, func(r *record) *State { return &r.State }),
	textField("stateReason", false, checkWord, func(r *record) *string { return &r.StateReason }),
	timeField("stateAt", false, func(r *record) *time.Time { return &r.StateAt }),
	countField("rev", false, func(r *record) *uint64 { return &r.Rev }),
	textField("configHash", true, checkHash, func(r *record) *string { return &r.ConfigHash }),
	timeField("lastUpdated", true, func(r *record) *time.Time { return &r.LastUpdated }),
	timeField("validatedAt", false, func(r *record) *time.Time { return &r.ValidatedAt }),
	textField("toolsHash", false, checkHash, func(r *record) *string { return &r.ToolsHash }),
	textField("toolsSeal", false, checkHash, func(r *record) *string { return &r.seal }),
	textField("toolsMac", false, checkHash, func(r *record) *string { return &r.mac }),
	textField("fingerprint", false, acceptAny, func(r *record) *string { return &r.Fingerprint }),
	textField("principal", false, acceptAny, func(r *record) *string { return &r.Principal }),
	objectField("serverConfig", true, func(r *record) *json.RawMessage { return &r.ServerConfig }),
	textField("era", false, checkWord, func(r *record) *string { return &r.Era }),
	textField("eras", false, checkWord, func(r *record) *string { return &r.Eras }),
	textField("protocolVersion", false, acceptAny, func(r *record) *string { return &r.ProtocolVersion }),
	textField("transport", false, checkWord, func(r *record) *string { return &r.Transport }),
	objectField("serverInfo", false, func(r *record) *json.RawMessage { return &r.ServerInfo }),
	objectField("capabilities", false, func(r *record) *json.RawMessage { return &r.Capabilities }),
	textField("instructions", false, acceptAny, func(r *record) *string { return &r.Instructions }),
	{"ttlMs", false, func(r *record) json.RawMessage { return encodeIf(r.TTL > 0, r.TTL.Milliseconds()) }, decodeTTL},
	textField("cacheScope", false, checkWord, func(r *record) *string { return &r.CacheScope }),
	{"truncated", false, func(r *record) json.RawMessage { return encodeIf(r.Truncated, true) }, decodeTruncated},
	{"dropped", false, func(r *record) json.RawMessage { return encodeIf(len(r.Dropped) > 0, r.Dropped) }, decodeDropped},
	{"lastError", false, encodeLastError, decodeLastError},
	{"toolHashes", false, encodeToolHashes, checkToolHashes},
}

// metaFields are the fields of "metadata".
var metaFields = []field[document]{
	timeField("createdAt", true, func(d *document) *time.Time { return &d.created }),
	timeField("lastGlobalUpdate", true, func(d *document) *time.Time { return &d.updated }),
	countField("totalWrites", true, func(d *document) *uint64 { return &d.total }),
	countField("fileWrites", false, func(d *document) *uint64 { return &d.writes }),
	countField("generation", false, func(d *document) *uint64 { return &d.generation }),
	objectField("writer", false, func(d *document) *json.RawMessage { return &d.writer }),
}

// encodeFields returns the members of an object.
func encodeFields[T any](all []field[T], from *T) (list []member) {
	for _, f := range all {
		if v := f.encode(from); v != nil {
			list = append(list, member{f.name, v})
		}
	}
	return list
}

// decodeField reads one member. known is false for a member of a newer version.
func decodeField[T any](all []field[T], to *T, name string, v json.RawMessage, report findingReporter) (known bool) {
	i := slices.IndexFunc(all, func(f field[T]) bool { return f.name == name })
	if i < 0 {
		return false
	}
	if err := all[i].decode(to, v); err != nil {
		report.fail(ruleType, err.Error())
	}
	return true
}

// seenMembers has the names of an object's members so far.
type seenMembers map[string]bool

// add notes a member, and reports one that is given twice.
func (m seenMembers) add(name string, report findingReporter) {
	if m[name] {
		report.at(name).fail(ruleUnique, "the field is given twice")
	}
	m[name] = true
}

// require reports a member that is missing.
func (m seenMembers) require(name string, report findingReporter) {
	if !m[name] {
		report.fail(ruleRequired, fmt.Sprintf("the field %q is missing", name))
	}
}

// requireAll reports required members that are missing.
func requireAll[T any](m seenMembers, all []field[T], report findingReporter) {
	for _, f := range all {
		if f.required {
			m.require(f.name, report)
		}
	}
}

// textField returns the description of a string field, left out if empty.
func textField[T any, S ~string](name string, required bool, check func(string) error, at func(*T) *S) field[T] {
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

// countField returns the description of a whole number.
func countField[T any](name string, required bool, at func(*T) *uint64) field[T] {
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
			return expectKind(raw, '{', "an object")
		},
	}
}

func checkVersion(_ *record, raw json.RawMessage) error {
	_, err := parseVersion(raw)
	return err
}

// parseVersion reads the version of a file or an entry.
func parseVersion(raw json.RawMessage) (string, error) {
	s, err := unquote(raw)
	if err == nil && !isVersion(s) {
		err = fmt.Errorf("expected three numbers such as %q, got %.40q", version, s)
	}
	return s, err
}

func checkState(s string) error {
	switch State(s) {
	case active, removed, invalid, Empty:
		return nil
	}
	return fmt.Errorf("expected active, removed, invalid or empty, got %.40q", s)
}

func decodeTTL(r *record, raw json.RawMessage) error {
	n, err := parseCount(raw)
	r.TTL = time.Duration(min(n, maxTTL)) * time.Millisecond
	return err
}

// maxTTL, a hundred years in milliseconds, keeps a foreign number from overflowing.
const maxTTL = 100 * 365 * 24 * 3600 * 1000

func decodeTruncated(r *record, raw json.RawMessage) error {
	return decode(raw, &r.Truncated, "true or false")
}

func decodeDropped(r *record, raw json.RawMessage) error {
	return decode(raw, &r.Dropped, `a list of {"name", "reason"}`)
}

// lastError is the last failed refresh.
type lastError struct {
	Code string `json:"code"`
	At   string `json:"at"`
}

func encodeLastError(r *record) json.RawMessage {
	return encodeIf(r.LastErrorCode != "", lastError{r.LastErrorCode, formatTime(r.LastErrorAt)})
}

func decodeLastError(r *record, raw json.RawMessage) error {
	var e lastError
	if err := decode(raw, &e, `{"code", "at"}`); err != nil {
		return err
	}
	at, err := parseTime(quote(e.At))
	r.LastErrorCode, r.LastErrorAt = e.Code, at
	if err == nil {
		err = checkWord(e.Code)
	}
	return err
}

func encodeToolHashes(r *record) json.RawMessage {
	hashes := map[string]string{}
	for _, def := range r.Tools {
		if name, ok := nameOf(def); ok {
			hashes[name] = ToolHash(def)
		}
	}
	return encodeIf(len(hashes) > 0, hashes)
}

// checkToolHashes only checks the hashes: each write computes them anew.
func checkToolHashes(_ *record, raw json.RawMessage) error {
	var hashes map[string]string
	if err := decode(raw, &hashes, "an object of names and hashes"); err != nil {
		return err
	}
	for name, h := range hashes {
		if err := checkHash(h); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return nil
}
