// Package output writes what commands say: tables, prose, colours, progress and JSON.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
)

// Output is where a command writes, and how.
type Output struct {
	Out  io.Writer
	Err  io.Writer // for what is not a result
	Env  config.Env
	JSON bool // --json
}

// WriteJSON prints JSON that others made, as it is.
func (o *Output) WriteJSON(raw json.RawMessage) error {
	_, err := o.Out.Write(append(bytes.TrimRight(raw, "\n"), '\n'))
	return err
}

// Dim makes a text less important on a terminal that has colours.
func (o *Output) Dim(text string) string {
	if _, plain := o.Env.Lookup("NO_COLOR"); plain || !IsTerminal(o.Out) || o.Env.Get("TERM") == "dumb" {
		return text
	}
	return "\x1b[2m" + text + "\x1b[0m"
}

// Safe is text as w may show it: a terminal must not obey what a server says.
func (o *Output) Safe(w any, text string) string {
	if IsTerminal(w) {
		return Harmless(text)
	}
	return text
}

// First is the first of the values that is not empty, or "".
func First(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// Note tells people something on stderr.
func (o *Output) Note(format string, args ...any) {
	fmt.Fprintln(o.Err, "collie: "+locale.Sprintf(format, args...))
}

// Warn tells people of something that went wrong and did not end the command.
func (o *Output) Warn(format string, args ...any) {
	fmt.Fprintln(o.Err, locale.T("collie: warning: ")+locale.Sprintf(format, args...))
}

// PrintJSON writes one line.
func (o *Output) PrintJSON(v any) error {
	e := json.NewEncoder(o.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
