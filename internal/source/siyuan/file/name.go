package file

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a path and of one name in it, in bytes: what every file system takes.
const (
	maxPath = 1024
	maxName = 255
)

// forbidden are characters that some system gives a meaning in names: drives and streams of
// Windows, its patterns, and the separators.
const forbidden = `/\:*?"<>|`

// devices are names that Windows, where a kernel may run, takes for devices whatever the ending.
var devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$`)

// checkName says what is wrong with one name in a path, "" if nothing is.
func checkName(name string) string {
	switch {
	case name == "":
		return "has an empty part"
	case strings.Trim(plainDots(name), ".") == "":
		return `has a part "." or ".."`
	case len(name) > maxName:
		return "has a part of more than 255 bytes"
	case strings.ContainsFunc(name, unprintable):
		return "has a character that cannot be seen"
	case strings.ContainsAny(name, forbidden):
		return `has one of the characters ` + forbidden
	case name[0] == '.':
		return "names a hidden file or folder"
	case name[0] == ' ' || strings.HasSuffix(name, " ") || strings.HasSuffix(name, "."):
		return "has a part that begins with a space, or ends with a space or a dot"
	case devices.MatchString(name):
		return "has the name of a device"
	}
	return ""
}

// document reports whether a name is that of a document's own file.
func document(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".sy") }

// unprintable reports whether a character moves or hides others instead of being seen.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029' ||
		'\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// plainDots writes what looks like dots as dots, and drops what has no width.
func plainDots(s string) string {
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

// plainSlashes writes what looks like a slash or a backslash as a slash.
func plainSlashes(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '／', '⁄', '∕', '⧸', '＼', '∖', '⧵', '﹨', '\\':
			return '/'
		}
		return r
	}, s)
}

// checkPath takes a relative path with slashes apart, or says what is wrong with it.
func checkPath(path string) (names []string, wrong string) {
	switch {
	case path == "":
		return nil, "is empty"
	case len(path) > maxPath:
		return nil, "is longer than 1024 bytes"
	case !utf8.ValidString(path):
		return nil, "is no valid UTF-8"
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
	for name := range strings.SplitSeq(plainSlashes(path), "/") {
		switch dots := plainDots(name); {
		case name != "" && strings.Trim(dots, ". ") == "":
			return nil, `has a part "." or "..", written with other characters`
		case document(dots):
			return nil, "names a document, which is no asset"
		}
	}
	return names, ""
}
