package config

import (
	"fmt"
	"slices"
	"strings"

	"collie/internal/jsonc"
)

// Severity says how serious a [Finding] is.
type Severity string

// The severities. A file with an error cannot be used; one with a warning can.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is one problem in a settings file.
type Finding struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`    // from 1; 0 if the finding has no place in the file
	Column   int      `json:"column"`  // from 1, in characters
	Pointer  string   `json:"pointer"` // JSON pointer into the file
	Rule     string   `json:"rule"`    // stable id, such as "type" or "R-CF-3"
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// String reads "file:line:column: http.addr: message"; a warning has "warning: " before the message.
func (f Finding) String() string {
	if f.Severity == SeverityWarning {
		return f.Place() + ": warning: " + f.Text()
	}
	return f.Place() + ": " + f.Text()
}

// Place returns "file:line:column", or the file alone if there is no line.
func (f Finding) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// Text returns the setting and the problem: "http.addr: message".
func (f Finding) Text() string {
	if f.Pointer == "" {
		return f.Message
	}
	return dottedPath(f.Pointer) + ": " + f.Message
}

// dottedPath writes a JSON pointer as people do: mcpServers.github.args[1].
func dottedPath(pointer string) string {
	var b strings.Builder
	for _, name := range jsonc.Split(pointer) {
		switch {
		case name != "" && strings.Trim(name, "0123456789") == "":
			b.WriteString("[" + name + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}

// Error holds all findings in the files that were read; at least one is an error.
type Error struct {
	Findings []Finding
}

// Error returns one line for each finding that is an error.
func (e *Error) Error() string {
	var lines []string
	for _, f := range e.Findings {
		if f.Severity == SeverityError {
			lines = append(lines, f.String())
		}
	}
	return strings.Join(lines, "\n")
}

func hasErrors(fs []Finding) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Severity == SeverityError })
}
