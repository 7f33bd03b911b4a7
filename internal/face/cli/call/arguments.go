package call

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file shows the arguments of a call to the person who is asked about it; texts that change are shown as a
// difference.

// The prefixes of lines that show a text of several lines. No other line of a question starts with one of them.
const (
	textLine    = "      | "
	goesLine    = "      - "
	comesLine   = "      + "
	staysLine   = "        "
	maxArgLines = 200 // limit for the lines of arguments in a question
	around      = 2   // unchanged lines that are shown before and after a change
)

// replacements are pairs of argument names that tools use for a text and for the text that replaces it.
var replacements = [][2]string{
	{"old", "new"}, {"old_string", "new_string"}, {"oldText", "newText"}, {"oldString", "newString"}, {"old_str", "new_str"}, {"find", "replace"}, {"search", "replace"},
}

// LineKind reports whether a line of [ArgumentLines] shows text that goes (is removed) or comes (is added).
func LineKind(line string) (goes, comes bool) {
	return strings.HasPrefix(line, goesLine), strings.HasPrefix(line, comesLine)
}

// ArgumentLines shows the arguments of a call for a person to read. Texts of several lines, and pairs of a text and its
// replacement, are shown line by line, each line after a prefix, so that other people's text cannot look like ours. There
// are at most limit lines, and one that counts the rest. The result is nil if no argument needs several lines, or if args
// is not a JSON object.
func ArgumentLines(args string, limit int) []string {
	parsed := gjson.Parse(args)
	if !gjson.Valid(args) || !parsed.IsObject() || !worthLines(parsed) {
		return nil
	}
	lines := memberLines(parsed)
	if len(lines) > limit {
		left := len(lines) - limit
		lines = append(lines[:limit:limit], "      "+locale.Sprintf("… and %d lines more", left))
	}
	return lines
}

// worthLines reports whether v is a text of several lines, or contains one, or contains a text with its replacement.
func worthLines(v gjson.Result) (worth bool) {
	if v.Type == gjson.String {
		return strings.Contains(strings.TrimRight(v.String(), "\n"), "\n")
	}
	if v.IsObject() {
		if _, _, ok := replacement(v); ok {
			return true
		}
	}
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(_, member gjson.Result) bool {
			worth = worthLines(member)
			return !worth
		})
	}
	return worth
}

// replacement returns the argument names of a text and of its replacement, if v has both.
func replacement(v gjson.Result) (from, to string, ok bool) {
	members := v.Map()
	for _, p := range replacements {
		if members[p[0]].Type == gjson.String && members[p[1]].Type == gjson.String {
			return p[0], p[1], true
		}
	}
	return "", "", false
}

// memberLines returns the lines of ArgumentLines for the members of an object.
func memberLines(v gjson.Result) (lines []string) {
	from, to, replaces := replacement(v)
	v.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		switch {
		case replaces && name == to:
		case replaces && name == from:
			lines = append(lines, changeLines(value.String(), v.Map()[to].String())...)
		case value.IsObject() && worthLines(value):
			lines = append(lines, "    "+output.OneLine(name)+":")
			lines = append(lines, memberLines(value)...)
		case value.IsArray() && worthLines(value):
			lines = append(lines, "    "+output.OneLine(name)+":")
			for _, item := range value.Array() {
				if item.IsObject() {
					lines = append(lines, memberLines(item)...)
				} else {
					lines = append(lines, marked(textLine, textLinesOf(item.String()))...)
				}
			}
		case worthLines(value):
			lines = append(lines, "    "+output.OneLine(name)+":")
			lines = append(lines, marked(textLine, textLinesOf(value.String()))...)
		default:
			lines = append(lines, "    "+output.OneLine(name+": "+value.String()))
		}
		return true
	})
	return lines
}

// changeLines shows how a text changes. Of the common beginning and end it shows only the lines next to the change.
func changeLines(from, to string) (lines []string) {
	a, b := textLinesOf(from), textLinesOf(to)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return slices.Concat(
		marked(staysLine, a[max(head-around, 0):head]),
		marked(goesLine, a[head:len(a)-tail]),
		marked(comesLine, b[head:len(b)-tail]),
		marked(staysLine, a[len(a)-tail:][:min(tail, around)]),
	)
}

// textLinesOf splits a text into lines that are safe to show on a terminal; an empty text has none.
func textLinesOf(text string) []string {
	if text = strings.TrimSuffix(output.Harmless(text), "\n"); text == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n")
}

func marked(mark string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = mark + l
	}
	return out
}
