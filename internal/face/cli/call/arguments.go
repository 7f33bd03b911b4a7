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

// The begin of lines that show a text of several lines. No other line of a question begins so.
const (
	textLine    = "      | "
	goesLine    = "      - "
	comesLine   = "      + "
	staysLine   = "        "
	maxArgLines = 200
	around      = 2 // lines that are shown beside a change
)

// replacements are the names that tools give to a text and what takes its place.
var replacements = [][2]string{
	{"old", "new"}, {"old_string", "new_string"}, {"oldText", "newText"}, {"oldString", "newString"}, {"old_str", "new_str"}, {"find", "replace"}, {"search", "replace"},
}

// LineKind returns the kind of a line of [ArgumentLines].
func LineKind(line string) (goes, comes bool) {
	return strings.HasPrefix(line, goesLine), strings.HasPrefix(line, comesLine)
}

// ArgumentLines shows the arguments of a call for a person to read: those that are texts of several lines, or a text and what
// takes its place, line by line, each line behind a mark of ours, so that other people's text cannot look like ours. There
// are at most limit lines. It is empty for arguments that fit on one line, and for such as are not a JSON object.
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

// worthLines reports whether an object, or one within it, has a text of several lines or a replacement.
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

// replacement returns the names of a text and of what takes its place, if v has both.
func replacement(v gjson.Result) (from, to string, ok bool) {
	members := v.Map()
	for _, p := range replacements {
		if members[p[0]].Type == gjson.String && members[p[1]].Type == gjson.String {
			return p[0], p[1], true
		}
	}
	return "", "", false
}

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

// changeLines shows how a text changes. The common beginning and end are shown once, and shortened.
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
