package toolcache

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Severity is how bad a [Finding] is.
type Severity string

// The severities. An entry with an error is not used, a file with an error outside its entries
// is not read at all.
const (
	severityError   Severity = "error"
	severityWarning Severity = "warning"
)

// Finding is one thing that is wrong with a cache file.
type Finding struct {
	// Pointer is the JSON pointer of what is wrong; empty is the whole file.
	Pointer  string   `json:"pointer"`
	Rule     string   `json:"rule"` // a stable id, such as "time" or "tampered"
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	// Line and Column, from 1, say where the file stops being JSON; else both are 0.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// The rules that a file is checked by; scripts know their ids.
const (
	ruleJSON       = "json"       // not JSON
	ruleUTF8       = "utf8"       // bytes that are not text
	ruleType       = "type"       // a value of the wrong kind or form
	ruleRequired   = "required"   // a field is missing
	ruleUnique     = "unique"     // a name stands twice
	ruleName       = "name"       // not the name of a server
	ruleDefinition = "definition" // a tool, prompt or resource that no server may offer
	ruleTampered   = "tampered"   // tools that do not have their hash
	ruleTime       = "time"       // a moment that cannot be
	ruleOrder      = "order"      // a moment before one that came first
	ruleVersion    = "version"    // a format that is not ours
	ruleSize       = "size"       // larger than the cache takes
)

// reporter gathers findings about one place in the file.
type reporter struct {
	list    *[]Finding
	pointer string
}

// pointerEscape is that of RFC 6901.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func (r reporter) at(name string) reporter {
	return reporter{r.list, r.pointer + "/" + pointerEscape.Replace(name)}
}

func (r reporter) add(s Severity, rule, message string) {
	*r.list = append(*r.list, Finding{Pointer: r.pointer, Rule: rule, Severity: s, Message: message})
}

func (r reporter) fail(rule, message string) { r.add(severityError, rule, message) }
func (r reporter) warn(rule, message string) { r.add(severityWarning, rule, message) }

// firstError is the first finding that is an error.
func firstError(list []Finding) (Finding, bool) {
	for _, f := range list {
		if f.Severity == severityError {
			return f, true
		}
	}
	return Finding{}, false
}

// syntax reports where data stops being JSON.
func (r reporter) syntax(data []byte, err error) {
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
