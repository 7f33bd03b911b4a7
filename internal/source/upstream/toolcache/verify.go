package toolcache

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// This file checks a cache file, including the hash of each list.

// Report is what [Verify] finds in a cache file.
type Report struct {
	Version     string     `json:"version"` // of the file as it is
	Bytes       int        `json:"bytes"`
	PlainBytes  int        `json:"plainBytes"`
	Compressed  bool       `json:"compressed"`
	Generation  uint64     `json:"generation"`
	TotalWrites uint64     `json:"totalWrites"`
	Servers     []Verified `json:"servers"`
	Findings    []Finding  `json:"findings"`
}

// Verified is one server's entry in a [Report].
type Verified struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Tools  int    `json:"tools"`
	Usable bool   `json:"usable"` // it has no error; it may still be old
}

// OK reports whether no finding is an error.
func (r Report) OK() bool {
	_, bad := firstError(r.Findings)
	return !bad
}

// Verify checks a cache file as the loader does, and also the hash of every list. It lists everything that is wrong,
// with JSON pointers into the file as converted to [version]. Only errors outside the entries make the whole file
// unusable.
func Verify(data []byte) Report { return verify(data, time.Now(), time.Local) }

// verify reads times without a zone as times in zone.
func verify(data []byte, now time.Time, zone *time.Location) Report {
	r := Report{Bytes: len(data), Compressed: isCompressed(data), Servers: []Verified{}, Findings: []Finding{}}
	report := findingReporter{list: &r.Findings}
	if len(data) > maxFile {
		report.fail(ruleSize, errTooLarge.Error())
		return r
	}
	d, err := readDocument(data, zone, report)
	if d == nil {
		return r
	}
	r.Version, r.PlainBytes, r.Generation, r.TotalWrites = d.from, d.plain, d.generation, d.total
	if err != nil {
		return r
	}
	checkDocument(d, now, report)
	for _, name := range slices.Sorted(maps.Keys(d.entries)) {
		r.Servers = append(r.Servers, verifyEntry(d, name, now, report.at("mcpServers").at(name)))
	}
	return r
}

var errTooLarge = errors.New("larger than 64 MiB")

// checkDocument checks what cannot be checked field by field.
func checkDocument(d *document, now time.Time, report findingReporter) {
	meta := report.at("metadata")
	checkTime(d.created, now, meta.at("createdAt"))
	checkTime(d.updated, now, meta.at("lastGlobalUpdate"))
	if d.updated.Before(d.created) {
		meta.at("lastGlobalUpdate").warn(ruleOrder, "it is before createdAt")
	}
}

func verifyEntry(d *document, name string, now time.Time, report findingReporter) Verified {
	before := len(*report.list)
	if !isServerName(name) {
		report.fail(ruleName, "a server's name has letters, digits, _ and - only; this entry is not used")
	}
	r := decodeRecord(d.entries[name], report)
	checkRecord(r, now, false, report)
	_, bad := firstError((*report.list)[before:])
	return Verified{Name: name, State: r.State, Tools: len(r.Tools), Usable: !bad}
}

// The earliest possible time, before Collie existed, and how far clocks may differ.
var earliestTime = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

const maxClockSkew = 5 * time.Minute

// checkRecord checks what cannot be checked field by field. With trustSeal it does not compute the hash of tools
// whose seal is valid.
func checkRecord(r *record, now time.Time, trustSeal bool, report findingReporter) {
	checkTime(r.LastUpdated, now, report.at("lastUpdated"))
	checkTime(r.ValidatedAt, now, report.at("validatedAt"))
	if r.ToolsHash == "" {
		return
	}
	if r.sealValid = r.seal == sealTools(r.ToolsHash, r.Tools); r.sealValid && trustSeal {
		return
	}
	if sum, err := hashTools(r.Tools); err != nil || sum != r.ToolsHash {
		report.at("toolsHash").fail(ruleTampered, "the tools are not those that were stored: their hash differs")
	}
}

func checkTime(t, now time.Time, report findingReporter) {
	switch {
	case t.IsZero(): // already reported by the reader
	case t.Before(earliestTime):
		report.warn(ruleTime, fmt.Sprintf("%s is before %d", formatTime(t), earliestTime.Year()))
	case t.After(now.Add(maxClockSkew)):
		report.warn(ruleTime, formatTime(t)+" is in the future")
	}
}

// parseEntry parses and checks an entry for use. reason is empty, invalid or tampered.
func parseEntry(raw json.RawMessage, now time.Time) (r *record, reason string, why Finding) {
	var findings []Finding
	report := findingReporter{list: &findings}
	r = decodeRecord(raw, report)
	if bad, ok := firstError(findings); ok {
		return nil, reasonInvalid, bad
	}
	checkRecord(r, now, true, report)
	if bad, ok := firstError(findings); ok {
		return nil, reasonTampered, bad
	}
	return r, "", Finding{}
}

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of the file format, draft 2020-12. The loader also checks what a schema cannot
// express.
func Schema() []byte { return slices.Clone(schema) }

// Severity is how bad a [Finding] is.
type Severity string

// The severities. An entry with an error is not used. A file with an error outside its entries is not used at all.
const (
	severityError   Severity = "error"
	severityWarning Severity = "warning"
)

// Finding is one thing that is wrong with a cache file.
type Finding struct {
	// Pointer is the JSON pointer of the place; empty means the whole file.
	Pointer  string   `json:"pointer"`
	Rule     string   `json:"rule"` // a stable id, such as "time" or "tampered"
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	// Line and Column, from 1, are where the file stops being JSON; otherwise both are 0.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// The ids of the rules, which scripts may rely on.
const (
	ruleJSON       = "json"       // not JSON
	ruleUTF8       = "utf8"       // invalid UTF-8
	ruleType       = "type"       // a value of the wrong type or form
	ruleRequired   = "required"   // a field is missing
	ruleUnique     = "unique"     // a duplicate name
	ruleName       = "name"       // not a valid name of a server
	ruleDefinition = "definition" // a tool, prompt or resource that no server may offer
	ruleTampered   = "tampered"   // tools that do not match their hash
	ruleTime       = "time"       // an impossible time
	ruleOrder      = "order"      // a time before an earlier event
	ruleVersion    = "version"    // an unknown format
	ruleSize       = "size"       // larger than the cache takes
)

// findingReporter collects findings about one place in the file.
type findingReporter struct {
	list    *[]Finding
	pointer string
}

// pointerEscape escapes a name for a JSON pointer (RFC 6901).
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func (r findingReporter) at(name string) findingReporter {
	return findingReporter{r.list, r.pointer + "/" + pointerEscape.Replace(name)}
}

func (r findingReporter) add(s Severity, rule, message string) {
	*r.list = append(*r.list, Finding{Pointer: r.pointer, Rule: rule, Severity: s, Message: message})
}

func (r findingReporter) fail(rule, message string) { r.add(severityError, rule, message) }
func (r findingReporter) warn(rule, message string) { r.add(severityWarning, rule, message) }

// firstError returns the first finding that is an error.
func firstError(list []Finding) (Finding, bool) {
	for _, f := range list {
		if f.Severity == severityError {
			return f, true
		}
	}
	return Finding{}, false
}

// failSyntax reports where data stops being JSON.
func (r findingReporter) failSyntax(data []byte, err error) {
	f := Finding{Pointer: r.pointer, Rule: ruleJSON, Severity: severityError, Message: err.Error()}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		f.Line, f.Column = position(data, int(e.ByteOffset))
		f.Message = e.Err.Error()
	} else if wrong, ok := errors.AsType[*typeError](err); ok {
		f.Rule, f.Message = ruleType, wrong.Error()
	} else { // an unexpected end
		f.Line, f.Column = position(data, len(data))
	}
	*r.list = append(*r.list, f)
}
