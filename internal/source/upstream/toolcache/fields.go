package toolcache

import (
	"encoding/json"
	"fmt"
	"time"
)

// field is one field of an entry in the file but for its lists: how it is written, and how it
// is read and checked.
type field struct {
	name     string
	required bool
	put      func(*record) json.RawMessage // nil leaves it out
	get      func(*record, json.RawMessage) error
}

// fields are in the order in which they are written: what is looked at first comes first.
var fields = []field{
	{"version", true, func(*record) json.RawMessage { return quote(version) }, getVersion},
	{"state", false, func(r *record) json.RawMessage { return quote(string(r.state())) }, getState},
	text("stateReason", word, func(r *record) *string { return &r.StateReason }),
	moment("stateAt", func(r *record) *time.Time { return &r.StateAt }),
	{"rev", false, func(r *record) json.RawMessage { return encode(r.Rev) }, getRev},
	text("configHash", hexHash, func(r *record) *string { return &r.ConfigHash }).must(),
	moment("lastUpdated", func(r *record) *time.Time { return &r.LastUpdated }).must(),
	moment("validatedAt", func(r *record) *time.Time { return &r.ValidatedAt }),
	text("toolsHash", hexHash, func(r *record) *string { return &r.ToolsHash }),
	text("toolsSeal", hexHash, func(r *record) *string { return &r.seal }),
	text("toolsMac", hexHash, func(r *record) *string { return &r.mac }),
	text("fingerprint", anyText, func(r *record) *string { return &r.Fingerprint }),
	text("principal", anyText, func(r *record) *string { return &r.Principal }),
	{"serverConfig", true, putConfig, getConfig},
	text("era", word, func(r *record) *string { return &r.Era }),
	text("eras", word, func(r *record) *string { return &r.Eras }),
	text("protocolVersion", anyText, func(r *record) *string { return &r.ProtocolVersion }),
	text("transport", word, func(r *record) *string { return &r.Transport }),
	object("serverInfo", func(r *record) *json.RawMessage { return &r.ServerInfo }),
	object("capabilities", func(r *record) *json.RawMessage { return &r.Capabilities }),
	text("instructions", anyText, func(r *record) *string { return &r.Instructions }),
	{"ttlMs", false, putTTL, getTTL},
	text("cacheScope", word, func(r *record) *string { return &r.CacheScope }),
	{"truncated", false, func(r *record) json.RawMessage { return encodeIf(r.Truncated, true) }, getTruncated},
	{"dropped", false, func(r *record) json.RawMessage { return encodeIf(len(r.Dropped) > 0, r.Dropped) }, getDropped},
	{"lastError", false, putError, getError},
	{"toolHashes", false, putToolHashes, getToolHashes},
}

// fieldNamed is a table of fields.
var fieldNamed = func() map[string]*field {
	m := map[string]*field{}
	for i := range fields {
		m[fields[i].name] = &fields[i]
	}
	return m
}()

func (f field) must() field {
	f.required = true
	return f
}

// text is a string; empty is left out.
func text(name string, check func(string) error, at func(*record) *string) field {
	return field{
		name: name,
		put: func(r *record) json.RawMessage {
			if *at(r) == "" {
				return nil
			}
			return quote(*at(r))
		},
		get: func(r *record, raw json.RawMessage) error {
			s, err := unquote(raw)
			if err == nil {
				err = check(s)
			}
			*at(r) = s
			return err
		},
	}
}

// moment is a time; the zero one is left out.
func moment(name string, at func(*record) *time.Time) field {
	return field{
		name: name,
		put: func(r *record) json.RawMessage {
			if at(r).IsZero() {
				return nil
			}
			return quote(formatTime(*at(r)))
		},
		get: func(r *record, raw json.RawMessage) error {
			t, err := parseTime(raw)
			*at(r) = t
			return err
		},
	}
}

// object is a JSON object that is kept as it came; nil is left out.
func object(name string, at func(*record) *json.RawMessage) field {
	return field{
		name: name,
		put:  func(r *record) json.RawMessage { return *at(r) },
		get: func(r *record, raw json.RawMessage) error {
			*at(r) = raw
			return expect(raw, '{', "an object")
		},
	}
}

func getVersion(_ *record, raw json.RawMessage) error {
	s, err := unquote(raw)
	if err == nil && !versionPattern.MatchString(s) {
		err = fmt.Errorf("expected three numbers such as %q, got %.40q", version, s)
	}
	return err
}

func getState(r *record, raw json.RawMessage) error {
	s, err := unquote(raw)
	if err != nil {
		return err
	}
	switch r.State = State(s); r.State {
	case active, removed, invalid, Empty:
		return nil
	}
	return fmt.Errorf("expected active, removed, invalid or empty, got %.40q", s)
}

func getRev(r *record, raw json.RawMessage) (err error) {
	r.Rev, err = parseCount(raw)
	return err
}

func putConfig(r *record) json.RawMessage {
	if r.ServerConfig == nil {
		return json.RawMessage("{}")
	}
	return r.ServerConfig
}

func getConfig(r *record, raw json.RawMessage) error {
	r.ServerConfig = raw
	return expect(raw, '{', "an object")
}

func putTTL(r *record) json.RawMessage { return encodeIf(r.TTL > 0, r.TTL.Milliseconds()) }

func getTTL(r *record, raw json.RawMessage) error {
	n, err := parseCount(raw)
	r.TTL = time.Duration(min(n, maxTTL)) * time.Millisecond
	return err
}

// maxTTL keeps a foreign number from overflowing: a hundred years in milliseconds.
const maxTTL = 100 * 365 * 24 * 3600 * 1000

func getTruncated(r *record, raw json.RawMessage) error {
	return decode(raw, &r.Truncated, "true or false")
}

func getDropped(r *record, raw json.RawMessage) error {
	return decode(raw, &r.Dropped, `a list of {"name", "reason"}`)
}

// lastError is the last refresh that failed.
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

// getToolHashes checks them only: they are computed anew whenever they are written.
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
