package av

import (
	"encoding/json"
	"fmt"
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// input is a cell to write, as callers name it. The value stands in the member that belongs to
// the valueType, or in value for all of them.
type input struct {
	RowID     kernel.ID       `json:"rowID" about:"row id, never a block's or a value's"`
	ColumnID  kernel.ID       `json:"columnID" about:"column id"`
	ValueType string          `json:"valueType" about:"must fit the column" enum:"text,number,date,checkbox,select,multi_select,relation,url,email,phone,mAsset"`
	Value     json.RawMessage `json:"value" about:"the value, instead of the member for its type"`
	Clear     bool            `json:"clear" about:"empty the cell instead"`

	Text             *string      `json:"text" about:"text"`
	Number           *float64     `json:"number" about:"number"`
	NumberFormat     string       `json:"numberFormat" about:"number: such as CNY or percent"`
	Date             *moment      `json:"date" about:"date: ISO text or epoch ms"`
	EndDate          *moment      `json:"endDate" about:"date: the end of a range"`
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

// columnTypes says which type of column takes which valueType.
var columnTypes = map[string]string{
	"text": "text", "number": "number", "date": "date", "checkbox": "checkbox", "select": "select", "multi_select": "mSelect",
	"relation": "relation", "url": "url", "email": "email", "phone": "phone", "mAsset": "mAsset",
}

// members says in which member the value of a valueType stands.
var members = map[string]string{
	"text": "text", "number": "number", "date": "date", "checkbox": "checked", "select": "option", "multi_select": "options",
	"relation": "relationBlockIDs", "url": "url", "email": "email", "phone": "phone", "mAsset": "assets",
}

// given are the members of an input that hold a value.
func (in *input) given() []string {
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

// settle moves what stands in value to the member that it belongs to. It returns the member at
// fault with what is wrong with it.
func (in *input) settle() (member, wrong string) {
	want := members[in.ValueType]
	if want == "" {
		return "valueType", fmt.Sprintf("is %q, expected one of text, number, date, checkbox, select, multi_select, relation, url, email, phone, mAsset", in.ValueType)
	}
	got := in.given()
	switch {
	case len(got) == 0:
		return want, fmt.Sprintf("is missing, it holds the value of a %s; clear=true empties the cell", in.ValueType)
	case len(got) > 1:
		return got[0], "and " + strings.Join(got[1:], ", ") + " are given, a cell has one value"
	case got[0] != "value" && got[0] != "clear" && got[0] != want:
		return got[0], fmt.Sprintf("does not go with valueType %s, whose value stands in %s", in.ValueType, want)
	}
	if in.ValueType != "date" && (in.EndDate != nil || in.IncludeTime != nil) {
		return "endDate", "and includeTime are for dates only"
	}
	if in.ValueType != "number" && in.NumberFormat != "" {
		return "numberFormat", "is for numbers only"
	}
	if in.EndDate != nil && got[0] == "clear" {
		return "endDate", "needs a date to begin with"
	}
	if got[0] != "value" {
		return in.assetsFit()
	}
	raw, err := json.Marshal(map[string]json.RawMessage{want: in.Value})
	if err == nil {
		err = json.Unmarshal(raw, in)
	}
	if err != nil {
		return "value", fmt.Sprintf("does not fit valueType %s: %v", in.ValueType, err)
	}
	return in.assetsFit()
}

// assetsFit checks what the schema says of assets, for those that came in value.
func (in *input) assetsFit() (member, wrong string) {
	for i, a := range in.Assets {
		switch {
		case a.Type != "image" && a.Type != "file":
			return fmt.Sprintf("assets/%d/type", i), fmt.Sprintf("is %q, expected image or file", a.Type)
		case a.Content == "":
			return fmt.Sprintf("assets/%d/content", i), "is empty, expected a path below assets/ or an address"
		}
	}
	return "", ""
}
