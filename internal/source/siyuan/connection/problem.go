package connection

import "fmt"

// Severity is how bad a [Problem] is.
type Severity string

// The severities. A connection with an error is not used.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one thing that is wrong with the settings.
type Problem struct {
	Pointer  string // JSON pointer into the section or the old file; "" is the whole
	Rule     string // stable id: "type", "value", "unknown" or "json"
	Severity Severity
	Message  string
}

// String reads "pointer: message".
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// problems collects them.
type problems []Problem

func (ps *problems) fail(pointer, rule, format string, args ...any) {
	*ps = append(*ps, Problem{pointer, rule, SeverityError, fmt.Sprintf(format, args...)})
}

func (ps *problems) warn(pointer, rule, format string, args ...any) {
	*ps = append(*ps, Problem{pointer, rule, SeverityWarning, fmt.Sprintf(format, args...)})
}
