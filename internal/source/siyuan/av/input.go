package av

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// This file reads cells as callers write them, in several forms.

// input is a cell to write, as callers give it. The value is in the member for its valueType, or in the generic member
// value.
type input struct {
	RowID     kernel.ID       `json:"rowID" about:"row id, never a block's or a value's" list:"yes"`
	ColumnID  kernel.ID       `json:"columnID" about:"column id" list:"yes"`
	ValueType string          `json:"valueType" about:"must fit the column" enum:"text,number,date,checkbox,select,multi_select,mSelect,relation,url,email,phone,mAsset" list:"yes"`
	Value     json.RawMessage `json:"value" about:"the value, instead of the member for its type" list:"text"`
	Clear     bool            `json:"clear" about:"empty the cell instead"`

	Text             *string      `json:"text" about:"text"`
	Number           *float64     `json:"number" about:"number"`
	NumberFormat     string       `json:"numberFormat" about:"number: such as CNY or percent"`
	Date             *dateInput   `json:"date" about:"date: ISO text or epoch ms"`
	EndDate          *dateInput   `json:"endDate" about:"date: the end of a range"`
	IncludeTime      *bool        `json:"includeTime" about:"date: show the time of day"`
	Checked          *bool        `json:"checked" about:"checkbox"`
	Option           *string      `json:"option" about:"select: an option by its name"`
	Options          []string     `json:"options" about:"multi_select: options by their names"`
	RelationBlockIDs []kernel.ID  `json:"relationBlockIDs" about:"relation: row ids of the other database"`
	URL              *string      `json:"url" about:"url"`
	Email            *string      `json:"email" about:"email"`
	Phone            *string      `json:"phone" about:"phone"`
	Assets           []assetInput `json:"assets" about:"mAsset"`
}

type assetInput struct {
	Type    string `json:"type" enum:"image,file" req:"true"`
	Content string `json:"content" about:"path below assets/, or an address" req:"true"`
	Name    string `json:"name"`
}

// valueType is a form of cell values in arguments.
type valueType struct {
	name     string
	column   string // type of columns that accept it
	member   string // member that contains the value
	expected string // expected form, for errors
}

// valueTypes are all forms of values. Multiple selections may also be called by the type of their column.
var valueTypes = []valueType{
	{name: "text", column: "text", member: "text", expected: "a text"},
	{name: "number", column: "number", member: "number", expected: "a number"},
	{name: "date", column: "date", member: "date", expected: "a date"},
	{name: "checkbox", column: "checkbox", member: "checked", expected: "true or false"},
	{name: "select", column: "select", member: "option", expected: "the name of an option"},
	{name: "multi_select", column: "mSelect", member: "options", expected: "a list of names of options"},
	{name: "relation", column: "relation", member: "relationBlockIDs", expected: "a list of row ids"},
	{name: "url", column: "url", member: "url", expected: "a text"},
	{name: "email", column: "email", member: "email", expected: "a text"},
	{name: "phone", column: "phone", member: "phone", expected: "a text"},
	{name: "mAsset", column: "mAsset", member: "assets", expected: `a list such as [{"type":"file","content":"assets/a.pdf"}]`},
	{name: "mSelect", column: "mSelect", member: "options", expected: "a list of names of options"},
}

// typeNamed returns the valueType with a name; nil if it is unknown.
func typeNamed(name string) *valueType {
	for i := range valueTypes {
		if valueTypes[i].name == name {
			return &valueTypes[i]
		}
	}
	return nil
}

// givenMembers returns the members of an input that have a value.
func (in *input) givenMembers() []string {
	var out []string
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"text", in.Text != nil},
		{"number", in.Number != nil},
		{"date", in.Date != nil},
		{"checked", in.Checked != nil},
		{"option", in.Option != nil},
		{"options", in.Options != nil},
		{"relationBlockIDs", in.RelationBlockIDs != nil},
		{"url", in.URL != nil},
		{"email", in.Email != nil},
		{"phone", in.Phone != nil},
		{"assets", in.Assets != nil},
		{"value", in.Value != nil && string(in.Value) != "null"},
		{"clear", in.Clear || string(in.Value) == "null"},
	} {
		if m.set {
			out = append(out, m.name)
		}
	}
	return out
}

// normalize moves the content of value to the member it belongs to, and checks it. On an error it also returns the name
// of the member at fault.
func (in *input) normalize(a *action.Action) (member, wrong string) {
	typ := typeNamed(in.ValueType)
	if typ == nil {
		return "valueType", fmt.Sprintf("is %q, expected one of text, number, date, checkbox, select, multi_select, relation, url, email, phone, mAsset", in.ValueType)
	}
	got := in.givenMembers()
	switch {
	case len(got) == 0:
		return typ.member, fmt.Sprintf("is missing, it holds the value of a %s; clear=true empties the cell", typ.name)
	case len(got) > 1:
		return got[0], "and " + strings.Join(got[1:], ", ") + " are given, a cell has one value"
	case got[0] != "value" && got[0] != "clear" && got[0] != typ.member:
		return got[0], fmt.Sprintf("does not go with valueType %s, whose value stands in %s", typ.name, typ.member)
	}
	if typ.name != "date" && (in.EndDate != nil || in.IncludeTime != nil) {
		return "endDate", "and includeTime are for dates only"
	}
	if typ.name != "number" && in.NumberFormat != "" {
		return "numberFormat", "is for numbers only"
	}
	if in.EndDate != nil && got[0] == "clear" {
		return "endDate", "needs a date to begin with"
	}
	if got[0] == "value" {
		return in.fromValue(typ, a.Param(typ.member))
	}
	return in.checkAndDeduplicate()
}

// fromValue decodes the member value.
func (in *input) fromValue(typ *valueType, p *action.Param) (member, wrong string) {
	value := gjson.ParseBytes(in.Value)
	if list := value.Array(); typ.member == "option" && value.IsArray() && len(list) == 1 {
		value = list[0]
	}
	raw, err := json.Marshal(map[string]json.RawMessage{typ.member: p.Fit(json.RawMessage(value.Raw))})
	if err == nil {
		err = json.Unmarshal(raw, in)
	}
	if err != nil {
		return "value", fmt.Sprintf("is %s, expected %s for valueType %s", content.Clip(string(in.Value), 60), typ.expected, typ.name)
	}
	if member, wrong = in.checkAndDeduplicate(); member == typ.member {
		member = "value"
	}
	return member, wrong
}

// checkAndDeduplicate checks what the schema cannot express, and what the schema would check if the value had not come in the member
// value. It removes duplicate selections.
func (in *input) checkAndDeduplicate() (member, wrong string) {
	switch {
	case in.Date != nil && in.Date.wrong != "":
		return "date", in.Date.wrong
	case in.EndDate != nil && in.EndDate.wrong != "":
		return "endDate", in.EndDate.wrong
	}
	for i, name := range in.Options {
		if name == "" {
			return fmt.Sprintf("options/%d", i), "is empty, expected the name of an option"
		}
	}
	for i, a := range in.Assets {
		switch {
		case a.Type != "image" && a.Type != "file":
			return fmt.Sprintf("assets/%d/type", i), fmt.Sprintf("is %q, expected image or file", a.Type)
		case a.Content == "":
			return fmt.Sprintf("assets/%d/content", i), "is empty, expected a path below assets/ or an address"
		}
	}
	if in.Options != nil {
		in.Options = action.Distinct(in.Options)
	}
	if in.RelationBlockIDs != nil {
		in.RelationBlockIDs = action.Distinct(in.RelationBlockIDs)
	}
	return "", ""
}

// dateInput is a date as callers give it. An invalid date is stored with its problem, so that the error can name the
// cell.
type dateInput struct {
	at      time.Time
	hasTime bool
	wrong   string
}

// ArgSchema returns the schema of the argument: a text or a number.
func (dateInput) ArgSchema() string { return `{"type":["string","integer"]}` }

// dateLayouts are the accepted date formats. Without a time zone the date is in local time, as in the user interface.
// The parts of a date may also be separated by / or 年月日.
var dateLayouts = []struct {
	layout  string
	hasTime bool
}{
	{time.RFC3339Nano, true},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-1-2T15:04:05", true},
	{"2006-1-2T15:04", true},
	{"2006-1-2 15:04:05", true},
	{"2006-1-2 15:04", true},
	{"2006-1-2", false},
}

// compactLayouts are date formats that consist only of digits, such as SiYuan's own, by length.
var compactLayouts = map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}

const dateForms = "expected ISO text such as 2024-08-01 or 2024-08-01T09:30, or epoch milliseconds"

// UnmarshalJSON reads a date. It never fails: see [dateInput].
func (m *dateInput) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil || string(raw) == "null" {
		text = string(raw)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		*m = dateInput{wrong: "is empty, " + dateForms + "; clear=true empties the cell"}
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*m = parseDigits(text, n)
		return nil
	}
	plain := strings.NewReplacer("/", "-", "年", "-", "月", "-", "日", "").Replace(text)
	for _, l := range dateLayouts {
		if at, err := time.ParseInLocation(l.layout, plain, time.Local); err == nil {
			*m = dateInput{at: at, hasTime: l.hasTime}
			return nil
		}
	}
	*m = dateInput{wrong: "is " + content.Clip(string(raw), 60) + ", which is not a date, " + dateForms}
	return nil
}

// parseDigits parses a date that consists of digits: SiYuan's own format, or milliseconds.
func parseDigits(text string, n int64) dateInput {
	if at, err := time.ParseInLocation(compactLayouts[len(text)], text, time.Local); err == nil && at.Year() > 1900 && at.Year() < 2200 { // other years are rather milliseconds
		return dateInput{at: at, hasTime: len(text) > len("20060102")}
	}
	at := time.UnixMilli(n)
	if n >= 1e9 && n < 1e10 { // seconds since 1970, or a date in January or February 1970 in milliseconds
		return dateInput{wrong: "is " + text + ", which looks like seconds and would be " + at.Format(time.DateOnly) + ", " + dateForms}
	}
	h, m, s := at.Clock()
	return dateInput{at: at, hasTime: h+m+s > 0}
}
