// Package output writes what commands print: tables, prose, colours, progress and JSON, for a terminal or a pipe.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

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

// WriteJSON prints JSON unchanged, but escapes control characters at a terminal.
func (o *Output) WriteJSON(raw json.RawMessage) error {
	if IsTerminal(o.Out) {
		raw = escapeControls(raw)
	}
	_, err := o.Out.Write(append(slices.Clip(bytes.TrimRight(raw, "\n")), '\n'))
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

// PrintJSON prints v as JSON on one line. All control characters are escaped, see [IsControl].
func (o *Output) PrintJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := o.Out.Write(escapeControls(text.Bytes()))
	return err
}

// escapeControls escapes the control characters that JSON allows as they are: those from U+007F on, which stand only
// inside of strings. It returns text itself if there are none.
func escapeControls(text []byte) []byte {
	next := bytes.IndexFunc(text, isHighControl)
	if next < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8)
	for next >= 0 {
		r, size := utf8.DecodeRune(text[next:])
		out = append(out, text[:next]...)
		out = fmt.Appendf(out, `\u%04x`, r) // all are below U+10000
		text = text[next+size:]
		next = bytes.IndexFunc(text, isHighControl)
	}
	return append(out, text...)
}

func isHighControl(r rune) bool { return r >= 0x7f && IsControl(r) }
