package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"collie/internal/arguments"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/rawjson"
)

// This file lets a server ask the person at the terminal for values (MCP elicitation): a form field by field, or a page
// to open.

// elicitor asks a person for the information that a server wants (MCP elicitation, 2025-06-18 and later). In
// form mode it asks for each field. In url mode it shows the address of a page and asks whether to go on.
type elicitor struct {
	from string
	in   *root.Lines
	out  io.Writer
}

// The answers without content.
var (
	declinedResult  = json.RawMessage(`{"action":"decline"}`)
	cancelledResult = json.RawMessage(`{"action":"cancel"}`)
)

// FillIn asks a person for the values that a server requests, one line each. params are those of an elicitation/create
// request; FillIn returns its result. from names the server. If in ends early, the result says that the person cancelled.
func FillIn(ctx context.Context, from string, in io.Reader, out io.Writer, params json.RawMessage) (json.RawMessage, error) {
	q := &elicitor{from: from, in: root.NewLines(in), out: out}
	return q.ask(ctx, params)
}

// ask returns the result of an elicitation/create request. The end of the input means cancel.
func (q *elicitor) ask(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	root := gjson.ParseBytes(params)
	q.print("%s asks: %s\n", q.from, output.Harmless(rawjson.Member(root, "message").String()))
	var content json.RawMessage
	var err error
	if rawjson.Member(root, "mode").String() == "url" {
		err = q.url(ctx, rawjson.Member(root, "url").String())
	} else {
		content, err = q.readForm(ctx, json.RawMessage(rawjson.Member(root, "requestedSchema").Raw))
	}
	switch {
	case errors.Is(err, errDeclined):
		return declinedResult, nil
	case errors.Is(err, io.EOF):
		q.print("\n")
		return cancelledResult, nil
	case err != nil:
		return nil, err
	}
	answer := rawjson.Object{}
	answer.Add(rawjson.Quote("action"), rawjson.Quote("accept"))
	if content != nil {
		answer.Add(rawjson.Quote("content"), content)
	}
	return answer.Bytes(), nil
}

var errDeclined = errors.New("declined")

// url shows the address of a page and asks whether to go on. It never opens the page.
func (q *elicitor) url(ctx context.Context, address string) error {
	q.print("  Open this page only if you trust %s:\n  %s\nGo on? [y/N] ", q.from, output.Harmless(address))
	return q.readYes(ctx, false)
}

// readYes reads a yes or a no, as [root.ParseYesNo] knows them; an empty line means yes if usual is set. For no it returns
// errDeclined.
func (q *elicitor) readYes(ctx context.Context, usual bool) error {
	for {
		line, err := q.in.Next(ctx)
		if err != nil {
			return err
		}
		yes, ok := usual, strings.TrimSpace(line) == ""
		if !ok {
			yes, ok = root.ParseYesNo(line)
		}
		switch {
		case !ok:
			q.print("  expected y or n: ")
		case yes:
			return nil
		default:
			return errDeclined
		}
	}
}

// readForm asks for each field of a schema and returns the values as an object.
func (q *elicitor) readForm(ctx context.Context, schema json.RawMessage) (json.RawMessage, error) {
	fields := arguments.Parameters(schema)
	q.print("Answer? An empty line takes the default, Ctrl-D cancels. [Y/n] ")
	if err := q.readYes(ctx, true); err != nil {
		return nil, err
	}
	props := rawjson.Member(gjson.ParseBytes(schema), "properties")
	content := rawjson.Object{}
	for i := range fields {
		value, err := q.field(ctx, &fields[i], rawjson.Member(props, fields[i].Name))
		if err != nil {
			return nil, err
		}
		if value != nil {
			content.Add(rawjson.Quote(fields[i].Name), value)
		}
	}
	return content.Bytes(), nil
}

// field asks for one value until it is valid; nil means that the person left it out.
func (q *elicitor) field(ctx context.Context, p *arguments.Parameter, schema gjson.Result) (json.RawMessage, error) {
	choices, bounds := choicesOf(p, schema), boundsOf(p, schema)
	q.describe(p, choices, bounds)
	for {
		q.print("%s: ", output.Harmless(p.Name))
		line, err := q.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "" && p.Default.Exists():
			return json.RawMessage(p.Default.Raw), nil
		case line == "" && !p.Required:
			return nil, nil
		case line == "":
			q.print("  it is needed\n")
			continue
		}
		if value, ok := fieldValue(line, p, choices); ok && bounds.allow(value) {
			return value, nil
		}
		q.print("  expected %s\n", expectedText(p, choices, bounds))
	}
}

// describe prints the name of a field, what is expected in it, and its numbered choices.
func (q *elicitor) describe(p *arguments.Parameter, choices []choice, bounds bounds) {
	facts := []string{expectedText(p, nil, bounds)}
	if !p.Required {
		facts = append(facts, locale.T("optional"))
	}
	if p.Default.Exists() {
		facts = append(facts, locale.Sprintf("default %s", output.Harmless(p.Default.String())))
	}
	q.print("  %s (%s)", output.Harmless(p.Name), strings.Join(facts, ", "))
	if p.Description != "" {
		q.print("  %s", output.OneLine(p.Description))
	}
	q.print("\n")
	for i, c := range choices {
		q.print("    %d  %s\n", i+1, output.OneLine(c.title))
	}
}

func (q *elicitor) print(format string, args ...any) {
	_, _ = locale.Fprintf(q.out, format, args...) // the person will notice if output does not work
}

// choice is one value of an enumeration with its display name.
type choice struct {
	value gjson.Result
	title string
}

// choicesOf returns the choices of a field. A schema lists them as enum with enumNames, or as const with title in oneOf
// or anyOf, which may also be those of the field's items.
func choicesOf(p *arguments.Parameter, schema gjson.Result) []choice {
	var out []choice
	titles := rawjson.List(rawjson.Member(schema, "enumNames"))
	for i, v := range p.Enum {
		c := choice{v, v.String()}
		if i < len(titles) {
			c.title = titles[i].String()
		}
		out = append(out, c)
	}
	for _, s := range []gjson.Result{schema, rawjson.Member(schema, "items")} {
		for _, o := range append(rawjson.List(rawjson.Member(s, "oneOf")), rawjson.List(rawjson.Member(s, "anyOf"))...) {
			if v := rawjson.Member(o, "const"); v.Exists() && len(p.Enum) == 0 {
				title := rawjson.Member(o, "title").String()
				if title == "" {
					title = v.String()
				}
				out = append(out, choice{v, title})
			}
		}
	}
	return out
}

// fieldValue converts a typed line to the JSON value of a field; ok is false if it does not fit.
func fieldValue(line string, p *arguments.Parameter, choices []choice) (json.RawMessage, bool) {
	if !p.Is("array") {
		return oneValue(line, p.Types, p.Format, choices)
	}
	var items []string
	for _, item := range arguments.SplitItems(line) {
		raw, ok := oneValue(strings.TrimSpace(item), p.Items, "", choices)
		if !ok {
			return nil, false
		}
		items = append(items, string(raw))
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]"), true
}

// oneValue converts a line that holds a value in the format, or the number or name of a choice.
func oneValue(line string, types []string, format string, choices []choice) (json.RawMessage, bool) {
	if len(choices) > 0 {
		i := slices.IndexFunc(choices, func(c choice) bool {
			return line == c.value.String() || strings.EqualFold(line, c.title)
		})
		if n, err := strconv.Atoi(line); i < 0 && err == nil && n >= 1 && n <= len(choices) {
			i = n - 1
		}
		if i < 0 {
			return nil, false
		}
		return json.RawMessage(choices[i].value.Raw), true
	}
	if !inFormat(format, line) {
		return nil, false
	}
	if slices.Equal(types, []string{"boolean"}) {
		yes, ok := root.ParseYesNo(line)
		return json.RawMessage(strconv.FormatBool(yes)), ok
	}
	return rawjson.Convert(line, types)
}

// formats are the string formats that MCP allows in forms, with their names for people.
var formats = map[string]string{
	"email": "an e-mail address such as ann@example.org", "uri": "an address such as https://example.org/page",
	"date": "a date such as 2026-01-31", "date-time": "a time such as 2026-01-31T09:30:00Z",
}

// inFormat reports whether text matches format. Any text matches an unknown format.
func inFormat(format, text string) bool {
	var err error
	switch format {
	case "email":
		name, host, _ := strings.Cut(text, "@")
		return name != "" && strings.Trim(host, ".") != "" && !strings.ContainsAny(host, "@<>") && !strings.ContainsAny(text, " \t<>,;")
	case "uri":
		var u *url.URL
		if u, err = url.Parse(text); err == nil && (u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "") {
			return false
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}

// bounds are what a schema allows of a value: of a number its size, of a text its characters, of a list its items.
type bounds struct {
	least, most gjson.Result              // numbers; others do not count
	text        func(gjson.Result) string // shows one of them to people
}

// boundsOf returns the bounds of a field; those that MCP allows in forms.
func boundsOf(p *arguments.Parameter, schema gjson.Result) bounds {
	of := func(least, most string, text func(gjson.Result) string) bounds {
		return bounds{rawjson.Member(schema, least), rawjson.Member(schema, most), text}
	}
	switch {
	case p.Is("integer"), p.Is("number"):
		return of("minimum", "maximum", func(n gjson.Result) string { return n.Raw })
	case p.Is("string"):
		return of("minLength", "maxLength", func(n gjson.Result) string { return locale.Count(int(n.Num), "character") })
	case p.Is("array"):
		return of("minItems", "maxItems", func(n gjson.Result) string { return locale.Count(int(n.Num), "item") })
	}
	return bounds{}
}

// allow reports whether a value is within b.
func (b bounds) allow(value json.RawMessage) bool {
	v := gjson.ParseBytes(value)
	size := v.Num
	switch {
	case v.Type == gjson.String:
		size = float64(utf8.RuneCountInString(v.Str))
	case v.IsArray():
		size = float64(len(v.Array()))
	}
	return (b.least.Type != gjson.Number || size >= b.least.Num) && (b.most.Type != gjson.Number || size <= b.most.Num)
}

// expectedText says what kind of value a field takes.
func expectedText(p *arguments.Parameter, choices []choice, b bounds) string {
	facts := []string{kindText(p, choices)}
	if b.least.Type == gjson.Number {
		facts = append(facts, locale.Sprintf("at least %s", b.text(b.least)))
	}
	if b.most.Type == gjson.Number {
		facts = append(facts, locale.Sprintf("at most %s", b.text(b.most)))
	}
	return strings.Join(facts, ", ")
}

func kindText(p *arguments.Parameter, choices []choice) string {
	switch {
	case len(choices) > 0:
		return locale.T("one of the choices above")
	case p.Is("boolean"):
		return locale.T("y or n")
	case p.Is("integer"):
		return locale.T("a whole number")
	case p.Is("number"):
		return locale.T("a number")
	case formats[p.Format] != "":
		return locale.T(formats[p.Format])
	}
	return p.TypeName()
}
