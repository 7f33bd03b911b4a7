package call

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
	"collie/internal/sorting"
)

// This file renders results of our own tools for people: what was done to what, the important values first.

// Limits for what is shown to a person.
const (
	maxScalars = 8  // single values of a result
	maxItems   = 10 // of a list inside a value
	maxRows    = 50 // of a list without pages; with only ten, most of a folder would be hidden
)

// resultView formats the payload of an action of our own tools for people.
type resultView struct {
	action     string // "fs.read"
	subjectArg string // the target named by the call, used if the payload names none
	width      int    // of the terminal, 0 if there is none
	colour     output.Painter
}

func newResultView(p commands, target *namedTarget, args json.RawMessage) *resultView {
	v := &resultView{action: target.tool.Name + "." + target.action.Name, width: output.TerminalWidth(p.Out)}
	v.colour = p.Painter(p.Out)
	if names := target.action.Positional; len(names) > 0 {
		if value := rawjson.Member(gjson.ParseBytes(args), names[0]); value.Type == gjson.String {
			v.subjectArg = value.String()
		}
	}
	return v
}

// subjectMembers are the members that identify what a result is about, in order of preference.
var subjectMembers = []string{"path", "title", "name", "label", "id"}

// firstMembers are the members shown first.
var firstMembers = []string{"id", "name", "title", "path", "hPath", "label", "type", "notebook", "count", "total"}

// textMembers are the members printed in full.
var textMembers = []string{"content", "markdown", "kramdown", "text", "html", "dom"}

// pageMembers are the members about paging, which the last line shows.
var pageMembers = []string{"total", "page", "pageSize", "pageCount", "hasNextPage"}

// filterMembers are the members about notes that were left out because they may not be read.
var filterMembers = []string{"partial", "filteredOutCount", "reason", "permissionSummary"}

// memberPair is a member of an object.
type memberPair struct {
	name  string
	value gjson.Result
}

// render returns the text for a payload: a line with the action and its subject, then single values, lists, and long
// texts.
func (v *resultView) render(data gjson.Result) string {
	var b strings.Builder
	if !data.IsObject() {
		b.WriteString(v.successLine(v.subjectArg))
		switch {
		case data.IsArray():
			b.WriteString(v.list("", rawjson.List(data), maxRows))
		default:
			b.WriteString(withLineEnd(rawjson.PlainValue(json.RawMessage(data.Raw))))
		}
		return b.String()
	}
	subject, member := v.subject(data)
	b.WriteString(v.successLine(subject))
	paged := rawjson.Member(data, "pageCount").Exists()
	var scalars, sections, texts []memberPair
	data.ForEach(func(k, m gjson.Result) bool {
		e := memberPair{k.String(), m}
		switch {
		case e.name == member, e.name == "success" && m.Bool(), m.Type == gjson.Null, asExpected(e),
			paged && slices.Contains(pageMembers, e.name), v.isFiltered(data) && slices.Contains(filterMembers, e.name):
		case m.Type == gjson.String && (slices.Contains(textMembers, e.name) || strings.Contains(strings.TrimSpace(m.String()), "\n")):
			texts = append(texts, e)
		case m.Type == gjson.JSON:
			sections = append(sections, e)
		case m.Type != gjson.String || m.String() != "":
			scalars = append(scalars, e)
		}
		return true
	})
	b.WriteString(v.scalars(scalars))
	for _, s := range sections {
		b.WriteString(v.section(s, paged))
	}
	for _, t := range texts {
		b.WriteString(v.text(t, len(texts) > 1))
	}
	b.WriteString(pageFooter(data, paged))
	if n := rawjson.Member(data, "filteredOutCount").Int(); v.isFiltered(data) {
		locale.Fprintf(&b, "(%d more in notebooks that may not be read)\n", n)
	}
	return b.String()
}

// asExpected reports whether a member has the value that means nothing is missing or wrong.
func asExpected(e memberPair) bool {
	return slices.Contains([]string{"partial", "truncated"}, e.name) && e.value.Type == gjson.False ||
		slices.Contains([]string{"errors", "warnings", "failures"}, e.name) && e.value.IsArray() && len(e.value.Array()) == 0
}

// isFiltered reports whether notes that may not be read were left out of a result.
func (v *resultView) isFiltered(data gjson.Result) bool {
	return rawjson.Member(data, "reason").String() == filteredReason
}

// successLine returns the line that says that the call succeeded.
func (v *resultView) successLine(subject string) string {
	return strings.TrimRight(v.colour.Mark("✓")+" "+v.action+" "+output.Cut(subject), " ") + "\n"
}

// subject returns what a result is about, and the name of the member that this was read from.
func (v *resultView) subject(data gjson.Result) (subject, member string) {
	for _, name := range subjectMembers {
		if name == "path" && strings.HasSuffix(rawjson.Member(data, name).String(), ".sy") && rawjson.Member(data, "hPath").String() != "" {
			name = "hPath" // a storage path consists of ids
		}
		if m := rawjson.Member(data, name); m.Type == gjson.String && m.String() != "" {
			return m.String(), name
		}
	}
	return v.subjectArg, ""
}

// scalars returns rows of names and values, the most important first.
func (v *resultView) scalars(all []memberPair) string {
	rank := func(e memberPair) int {
		if i := slices.Index(firstMembers, e.name); i >= 0 {
			return i
		}
		return len(firstMembers)
	}
	sorting.Stable(all, func(a, b memberPair) int { return rank(a) - rank(b) })
	var rows [][]string
	for _, e := range all[:min(len(all), maxScalars)] {
		value := cell(e.value)
		if strings.HasSuffix(strings.ToLower(e.name), "hint") { // hints say what to call next
			value = root.WithCommandLines(value)
		}
		rows = append(rows, []string{"  " + e.name, value})
	}
	text := output.LayOut(nil, rows, v.width)
	if n := len(all) - len(rows); n > 0 {
		text += locale.Sprintf("  … %d more; --json shows all\n", n)
	}
	return text
}

// section renders a list or an object under its name.
func (v *resultView) section(e memberPair, paged bool) string {
	switch {
	case e.value.IsArray() && len(rawjson.List(e.value)) == 0:
		return output.LayOut(nil, [][]string{{"  " + e.name, "none"}}, v.width)
	case e.value.IsArray():
		limit := maxRows
		if paged || isTree(rawjson.List(e.value)) {
			limit = len(rawjson.List(e.value))
		}
		return v.list(e.name, rawjson.List(e.value), limit)
	case e.name == "table" && rawjson.Member(e.value, "columns").IsArray():
		return v.database(e.value)
	}
	var rows [][]string
	e.value.ForEach(func(k, m gjson.Result) bool {
		rows = append(rows, []string{"    " + k.String(), cell(m)})
		return true
	})
	return fmt.Sprintf("  %s\n", output.OneLine(e.name)) + output.LayOut(nil, rows, v.width)
}

// text renders a text in full, under its name if there are several.
func (v *resultView) text(e memberPair, several bool) string {
	head := "\n"
	if several {
		head = "\n" + e.name + ":\n"
	}
	return head + withLineEnd(e.value.String())
}

// pageFooter returns the line about the current page.
func pageFooter(data gjson.Result, paged bool) string {
	if !paged {
		return ""
	}
	page, pages := rawjson.Member(data, "page").Int(), rawjson.Member(data, "pageCount").Int()
	line := locale.Sprintf("page %d of %d, %d in all", page, pages, rawjson.Member(data, "total").Int())
	if rawjson.Member(data, "hasNextPage").Bool() {
		line += locale.Sprintf("; --page %d shows the next", page+1)
	}
	return line + "\n"
}

// withLineEnd returns a text with a line break at its end.
func withLineEnd(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// cell returns a value on one line.
func cell(v gjson.Result) string {
	switch {
	case v.Type == gjson.Null:
		return ""
	case v.IsArray():
		return output.Cut(rawjson.JoinValues(v.Array(), maxItems))
	}
	return output.Cut(rawjson.PlainValue(json.RawMessage(v.Raw)))
}
