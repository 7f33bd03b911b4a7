// Package output writes what commands print: tables, prose, colours, progress and JSON, for a terminal or a pipe.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
)

// Output says where and how a command writes.
type Output struct {
	Out  io.Writer
	Err  io.Writer // for everything except results
	Env  config.Env
	JSON bool // --json
}

// WriteJSON prints JSON unchanged.
func (o *Output) WriteJSON(raw json.RawMessage) error {
	_, err := o.Out.Write(append(bytes.TrimRight(raw, "\n"), '\n'))
	return err
}

// Dim makes a text less prominent on a terminal with colours.
func (o *Output) Dim(text string) string {
	if !o.colours(o.Out) {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// Safe returns text in a form that is safe to show on w: a terminal must not obey a server's text.
func (o *Output) Safe(w any, text string) string {
	if IsTerminal(w) {
		return Harmless(text)
	}
	return text
}

// FirstNonEmpty returns the first value that is not empty, or "".
func FirstNonEmpty(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// Note prints a message for people on stderr.
func (o *Output) Note(format string, args ...any) {
	fmt.Fprintln(o.Err, "collie: "+locale.Sprintf(format, args...))
}

// Warn prints a warning about something that failed without ending the command.
func (o *Output) Warn(format string, args ...any) {
	fmt.Fprintln(o.Err, locale.T("collie: warning: ")+locale.Sprintf(format, args...))
}

// PrintJSON prints v as JSON on one line.
func (o *Output) PrintJSON(v any) error {
	e := json.NewEncoder(o.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
