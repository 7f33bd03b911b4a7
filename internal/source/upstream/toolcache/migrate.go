package toolcache

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// foreignVersionError is a file that a newer Collie has written.
type foreignVersionError struct{ version string }

func (e *foreignVersionError) Error() string {
	return fmt.Sprintf("format %s is newer than %s", e.version, version)
}

// migrate brings a document to [version], in memory. zone is that of times which do not say
// theirs. A higher minor version is left as it is, fields that we do not know included.
func migrate(d *document, zone *time.Location) error {
	of := versionNumbers(d.version)
	switch {
	case slices.Compare(of, versionNumbers(version)) >= 0:
		return nil
	case of[0] == 1 && of[1] == 0:
		from10(d, zone)
		d.version = version
		return nil
	}
	return fmt.Errorf("format %s is not one that can be brought to %s", d.version, version)
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
			m.value = quote(version)
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
