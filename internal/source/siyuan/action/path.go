package action

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file parses human paths such as /notebook/document, and writes them.

// Virtual files at the root of human paths.
const (
	AgentsFile    = "/AGENTS.md"     // the agent's own memory, which it may write
	UserRulesFile = "/USER_RULES.md" // the user's rules
)

// isVirtual reports whether a normalised path is a virtual file.
func isVirtual(path string) bool { return path == AgentsFile || path == UserRulesFile }

// NormalizePath returns a human path in the form "/notebook/document/child": without surrounding spaces, with one "/"
// at the start and between names, and none at the end. An empty path, or one with characters that no title can have,
// is an error of kind invalid_path.
func NormalizePath(path string) (string, error) {
	trimmed := strings.TrimSpace(path)
	if trimmed == "" {
		return "", badPathError(path, "is empty")
	}
	if !utf8.ValidString(trimmed) || strings.ContainsFunc(trimmed, unicode.IsControl) {
		return "", badPathError(path, "has characters that no title has")
	}
	return "/" + strings.Join(strings.FieldsFunc(trimmed, func(r rune) bool { return r == '/' }), "/"), nil
}

// splitPath returns the decoded names of a normalised path; none for "/".
func splitPath(path string) []string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, p := range parts {
		parts[i] = decodeName(p)
	}
	return parts
}

// joinPath returns the path of names, encoded where needed: the reverse of [splitPath].
func joinPath(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString("/" + EncodeName(n))
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// EncodeName encodes a name of a notebook or document for use in a path: "/" becomes "%2F". A "%" becomes "%25" only
// where it would otherwise look like an encoded character.
func EncodeName(name string) string {
	if !strings.ContainsAny(name, "%/") {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/':
			b.WriteString("%2F")
		case c == '%' && (encodedSeparator(name[i:]) != 0):
			b.WriteString("%25")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// decodeName reverses [EncodeName]. Other percent signs stay: "100%" and "%41" are plain names.
func decodeName(part string) string {
	if !strings.Contains(part, "%") {
		return part
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		if c := encodedSeparator(part[i:]); c != 0 {
			b.WriteByte(c)
			i += 2
			continue
		}
		b.WriteByte(part[i])
	}
	return b.String()
}

// encodedSeparator returns the character that text begins with in encoded form; 0 if it does not.
func encodedSeparator(text string) byte {
	if len(text) < 3 || text[0] != '%' || text[1] != '2' {
		return 0
	}
	switch text[2] {
	case 'F', 'f':
		return '/'
	case '5':
		return '%'
	}
	return 0
}

// cutID removes "#<id>" from the end of a name. It distinguishes things of the same name.
func cutID(name string) (rest string, id kernel.ID, ok bool) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || !kernel.ID(name[i+1:]).Valid() {
		return name, "", false
	}
	return name[:i], kernel.ID(name[i+1:]), true
}

// badPathError returns the error for a malformed human path.
func badPathError(path, message string) *tool.Error {
	return &tool.Error{
		Op: "resolve", Kind: kernel.InvalidPath, Subject: path, Message: fmt.Sprintf("the path %q %s", path, message),
		Hint: `paths are /<notebook>/<document>/<child>; fs(action="ls", path="/") shows the notebooks`,
	}
}

// ambiguousPathError returns the error for a path that several things have; candidates are unique paths of them.
func ambiguousPathError(path, noun string, candidates []string) *tool.Error {
	const limit = 20
	slices.Sort(candidates)
	listed := candidates[:min(len(candidates), limit)]
	return &tool.Error{
		Op: "resolve", Kind: tool.Ambiguous, Subject: path,
		Message: fmt.Sprintf("%d %s have the path %q: %s", len(candidates), noun, path, strings.Join(listed, ", ")),
		Hint:    "use one of these paths", Facts: map[string]any{"candidates": listed},
	}
}
