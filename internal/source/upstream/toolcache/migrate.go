package toolcache

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// step turns a document of one version into the next one. It changes nothing else and depends on
// nothing but its arguments.
type step struct {
	from, to string // major.minor
	apply    func(*document, *time.Location)
}

// steps are in order. A new format adds one, with a golden file before and after.
var steps = []step{
	{"1.0", "1.1", from10},
}

// foreignVersionError is a file that a newer Collie has written.
type foreignVersionError struct{ version string }

func (e *foreignVersionError) Error() string {
	return fmt.Sprintf("format %s is newer than %s", e.version, version)
}

// migrate brings a document to [version], in memory. zone is that of times which do not say
// theirs. A higher minor version is left as it is, fields that we do not know included.
func migrate(d *document, zone *time.Location) error {
	if compareVersions(d.version, version) >= 0 {
		return nil
	}
	for _, s := range steps {
		if minorVersion(d.version) == s.from {
			s.apply(d, zone)
			d.version = s.to + ".0"
		}
	}
	if compareVersions(d.version, version) < 0 {
		return fmt.Errorf("format %s is not one that can be brought to %s", d.version, version)
	}
	return nil
}

func versionNumbers(v string) []int {
	var list []int
	for part := range strings.SplitSeq(v, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = 1 << 30 // digits only, so it is large
		}
		list = append(list, n)
	}
	return list
}

func compareVersions(a, b string) int { return slices.Compare(versionNumbers(a), versionNumbers(b)) }

func major(v string) int { return versionNumbers(v)[0] }

func minorVersion(v string) string { return v[:strings.LastIndexByte(v, '.')] }

// from10 takes what other programs wrote: times may be local ones, hashes are not ours,
// and the settings are in the clear. Nobody but them writes 1.0.0, so every entry is imported.
func from10(d *document, zone *time.Location) {
	for i, m := range d.meta {
		if m.name == "createdAt" || m.name == "lastGlobalUpdate" {
			d.meta[i].value = timeFrom10(m.value, zone)
		}
	}
	for name, raw := range d.entries {
		d.entries[name] = entryFrom10(raw, zone)
	}
}

func entryFrom10(raw json.RawMessage, zone *time.Location) json.RawMessage {
	list, err := members(raw)
	if err != nil {
		return raw // the checks of the entry say so
	}
	out := make([]member, 0, len(list)+3)
	for _, m := range list {
		switch m.name {
		case "version":
			m.value = quote("1.1.0")
		case "lastUpdated":
			m.value = timeFrom10(m.value, zone)
			out = append(out, m, member{"validatedAt", m.value})
			continue
		case "serverConfig":
			m.value = redact(m.value)
		case "state", "stateReason", "validatedAt":
			continue
		}
		out = append(out, m)
	}
	return joinObject(append(out, member{"state", quote(string(active))}, member{"stateReason", quote(reasonImported)}))
}

// timeFrom10 reads a local time without a zone; what is not a time stays.
func timeFrom10(raw json.RawMessage, zone *time.Location) json.RawMessage {
	text, err := unquote(raw)
	if err != nil {
		return raw
	}
	for _, form := range []string{"2006-01-02 15:04:05", time.RFC3339Nano} {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return quote(formatTime(t))
		}
	}
	return raw
}

// redact keeps what tells a person which server it was, and none of the values, since another
// program wrote them in the clear.
func redact(raw json.RawMessage) json.RawMessage {
	list, err := members(raw)
	if err != nil {
		return raw
	}
	for i, m := range list {
		switch m.name {
		case "type", "command":
			if _, err := unquote(m.value); err != nil {
				list[i].value = quote(hidden)
			}
		case "env", "headers":
			list[i].value = redactValues(m.value)
		default:
			list[i].value = quote(hidden)
		}
	}
	return joinObject(list)
}

const hidden = "***"

// redactValues keeps the names of an object.
func redactValues(raw json.RawMessage) json.RawMessage {
	list, err := members(raw)
	if err != nil {
		return quote(hidden)
	}
	for i := range list {
		list[i].value = quote(hidden)
	}
	return joinObject(list)
}
