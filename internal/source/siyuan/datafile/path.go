package datafile

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file checks paths of files in a workspace before they are sent to a kernel.

// Bounds of a path and of one name in it, in bytes: what every file system takes.
const (
	maxPath = 1024
	// MaxName is the longest name, in bytes.
	MaxName = 255
)

// Forbidden are characters that have a meaning in names on some system: drives, streams and patterns of Windows, and the
// separators.
const Forbidden = `/\:*?"<>|`

// windowsDevices are names that Windows, where a kernel may run, takes for devices whatever the ending.
var windowsDevices = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$`)

// Device reports whether a name is that of a device on Windows.
func Device(name string) bool { return windowsDevices.MatchString(name) }

// checkName returns what is wrong with one name in a path; "" if it is valid.
func checkName(name string) string {
	switch {
	case name == "":
		return "has an empty part"
	case strings.Trim(PlainDots(name), ".") == "":
		return `has a part "." or ".."`
	case len(name) > MaxName:
		return "has a part of more than 255 bytes"
	case strings.ContainsFunc(name, Unprintable):
		return "has a character that cannot be seen"
	case strings.ContainsAny(name, Forbidden):
		return `has one of the characters ` + Forbidden
	case name[0] == '.':
		return "names a hidden file or folder"
	case name[0] == ' ' || strings.HasSuffix(name, " ") || strings.HasSuffix(name, "."):
		return "has a part that begins with a space, or ends with a space or a dot"
	case Device(name):
		return "has the name of a device"
	}
	return ""
}

// Document reports whether a name is that of a document's own file.
func Document(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".sy") }

// Unprintable reports whether a character moves or hides others instead of being seen.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029' ||
		'\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// PlainDots writes what looks like dots as dots, and drops what has no width.
func PlainDots(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '．', '․', '‥', '…', '﹒', '。', '｡':
			return '.'
		}
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// PlainSlashes writes what looks like a slash or a backslash as a slash.
func PlainSlashes(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '／', '⁄', '∕', '⧸', '＼', '∖', '⧵', '﹨', '\\':
			return '/'
		}
		return r
	}, s)
}

// Check parses a relative path with slashes, or says what is wrong with it.
func Check(path string) (names []string, wrong string) {
	switch {
	case path == "":
		return nil, "is empty"
	case len(path) > maxPath:
		return nil, "is longer than 1024 bytes"
	case !utf8.ValidString(path):
		return nil, "is not valid UTF-8"
	case path[0] == '/':
		return nil, "is absolute"
	}
	names = strings.Split(path, "/")
	for _, name := range names {
		if wrong := checkName(name); wrong != "" {
			return nil, wrong
		}
	}
	// Some systems and converters take other characters for dots and slashes.
	for name := range strings.SplitSeq(PlainSlashes(path), "/") {
		switch dots := PlainDots(name); {
		case name != "" && strings.Trim(dots, ". ") == "":
			return nil, `has a part "." or "..", written with other characters`
		case Document(dots):
			return nil, "names a document, which is not an asset"
		}
	}
	return names, ""
}

// encodedChars are percent-encoded characters that no program encodes in a path of the workspace: a control, a percent
// sign, a dot, a slash, a backslash.
var encodedChars = lazyregexp.New(`(?i)%([01][0-9a-f]|7f|25|2e|2f|5c)`)

// HasEncodedChar reports whether a path has an encoded character that no path has.
func HasEncodedChar(path string) bool { return encodedChars.MatchString(path) }

// BadPathError returns the error for a path that may not be used.
func BadPathError(path, wrong, hint string) *tool.Error {
	return &tool.Error{Op: "check path", Kind: kernel.InvalidPath, Subject: path, Message: wrong, Hint: hint}
}
