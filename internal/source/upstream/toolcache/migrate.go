package toolcache

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file converts files of older formats.

// migrate converts a document to [version] in memory. zone is used for times without a zone. A document of a higher
// minor version stays as it is, with its unknown fields.
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

// versionNumbers returns the numbers of a version such as 1.1.0.
func versionNumbers(v string) []int {
	var list []int
	for part := range strings.SplitSeq(v, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = 1 << 30 // all digits, so it is a huge number
		}
		list = append(list, n)
	}
	return list
}

// from10 converts a file of version 1.0.0, which only other programs write: its times may be local ones, its hashes
// are not ours, and its settings are not masked. All its entries become imported ones.
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

// entryFrom10 converts one entry. Its settings are masked, and it is marked as imported. One that cannot be read stays
// as it is.
func entryFrom10(raw json.RawMessage, zone *time.Location) json.RawMessage {
	list, err := members(raw)
	if err != nil {
		return raw // the checks of the entry report it
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

// timeFrom10 brings a time, either a local one without a zone or one of RFC 3339, into the form of [formatTime]. Anything
// else stays as it is.
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

// redact reduces the settings of a server, which another program stored unmasked, to what identifies the server to a
// person, without values.
func redact(raw json.RawMessage) json.RawMessage {
	list, err := members(raw)
	if err != nil {
		return quote(redactedValue) // not an object: nobody knows what is in it
	}
	for i, m := range list {
		switch m.name {
		case "type", "command":
			if _, err := unquote(m.value); err != nil {
				list[i].value = quote(redactedValue)
			}
		case "env", "headers":
			list[i].value = redactValues(m.value)
		default:
			list[i].value = quote(redactedValue)
		}
	}
	return joinObject(list)
}

const redactedValue = "***"

// redactValues keeps the names of an object and masks its values.
func redactValues(raw json.RawMessage) json.RawMessage {
	list, err := members(raw)
	if err != nil {
		return quote(redactedValue)
	}
	for i := range list {
		list[i].value = quote(redactedValue)
	}
	return joinObject(list)
}
