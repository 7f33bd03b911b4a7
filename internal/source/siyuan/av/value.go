package av

import (
	"slices"
	"strconv"
	"strings"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/kernel"
)

// This file converts cells that callers write to the form of the kernel.

// write is a cell in the kernel's form, with a function that checks whether it is stored.
type write struct {
	row, column kernel.ID
	data        map[string]any
	matches     func(v *kernel.Value) bool
}

// writeOf converts an input to the kernel's form, for a column that it fits.
func writeOf(in *input, c *kernel.Column) write {
	w := write{row: in.RowID, column: in.ColumnID}
	if c.Type == siyuanapi.ColumnBlock {
		w.data, w.matches = titleValue(*in.Text)
		return w
	}
	switch in.ValueType {
	case "text":
		w.data, w.matches = textValue("text", in.Text, func(v *kernel.Value) *siyuanapi.Content { return v.Text })
	case "url":
		w.data, w.matches = textValue("url", in.URL, func(v *kernel.Value) *siyuanapi.Content { return v.URL })
	case "email":
		w.data, w.matches = textValue("email", in.Email, func(v *kernel.Value) *siyuanapi.Content { return v.Email })
	case "phone":
		w.data, w.matches = textValue("phone", in.Phone, func(v *kernel.Value) *siyuanapi.Content { return v.Phone })
	case "number":
		w.data, w.matches = numberValue(in)
	case "date":
		w.data, w.matches = dateValue(in)
	case "checkbox":
		want := in.Checked != nil && *in.Checked
		w.data = map[string]any{"type": "checkbox", "checkbox": map[string]any{"checked": want}}
		w.matches = func(v *kernel.Value) bool { return v.Checkbox != nil && v.Checkbox.Checked == want }
	case "select":
		var names []string
		if in.Option != nil && *in.Option != "" {
			names = []string{*in.Option}
		}
		w.data, w.matches = selectionValue("select", names, c)
	case "multi_select", "mSelect":
		w.data, w.matches = selectionValue("mSelect", in.Options, c)
	case "mAsset":
		w.data, w.matches = assetsValue(in.Assets)
	case "relation":
		want := in.RelationBlockIDs
		if want == nil {
			want = []kernel.ID{}
		}
		w.data = map[string]any{"type": "relation", "relation": map[string]any{"blockIDs": want}}
		w.matches = func(v *kernel.Value) bool {
			return v.Relation == nil && len(want) == 0 || v.Relation != nil && slices.Equal(v.Relation.RowIDs, want)
		}
	}
	return w
}

// titleValue returns the value of a primary cell that is not bound to a block.
func titleValue(want string) (map[string]any, func(*kernel.Value) bool) {
	return map[string]any{"type": "block", "isDetached": true, "block": map[string]any{"content": want}}, func(v *kernel.Value) bool {
		return v.Block != nil && sameText(v.Block.Content, want)
	}
}

// Each of the following functions returns a value in the kernel's form, and a function that reports whether a stored value is it.

func textValue(typ string, in *string, of func(*kernel.Value) *siyuanapi.Content) (map[string]any, func(*kernel.Value) bool) {
	want := ""
	if in != nil {
		want = *in
	}
	return map[string]any{"type": typ, typ: map[string]any{"content": want}}, func(v *kernel.Value) bool {
		c := of(v)
		return c != nil && sameText(c.Content, want) || c == nil && want == ""
	}
}

func numberValue(in *input) (map[string]any, func(*kernel.Value) bool) {
	n := map[string]any{"isNotEmpty": in.Number != nil}
	if in.Number != nil {
		n["content"] = *in.Number
	}
	if in.NumberFormat != "" {
		n["format"] = in.NumberFormat
	}
	return map[string]any{"type": "number", "number": n}, func(v *kernel.Value) bool {
		if in.Number == nil {
			return v.Number == nil || !v.Number.NotEmpty
		}
		return v.Number != nil && v.Number.NotEmpty && v.Number.Content == *in.Number // the format may be that of the column
	}
}

// dateValue returns a date with all its members. The kernel keeps the old values of missing members, such as the end of
// a former range.
func dateValue(in *input) (map[string]any, func(*kernel.Value) bool) {
	d := map[string]any{"content": 0, "isNotEmpty": false, "hasEndDate": false, "isNotTime": true, "content2": 0, "isNotEmpty2": false}
	data := map[string]any{"type": "date", "date": d}
	if in.Date == nil {
		return data, func(v *kernel.Value) bool { return v.Date == nil || !v.Date.NotEmpty }
	}
	withTime := in.Date.hasTime || in.EndDate != nil && in.EndDate.hasTime
	if in.IncludeTime != nil {
		withTime = *in.IncludeTime
	}
	start := in.Date.at.UnixMilli()
	d["content"], d["isNotEmpty"], d["isNotTime"] = start, true, !withTime
	var end int64
	if in.EndDate != nil {
		end = in.EndDate.at.UnixMilli()
		d["hasEndDate"], d["content2"], d["isNotEmpty2"] = true, end, true
	}
	return data, func(v *kernel.Value) bool {
		return v.Date != nil && v.Date.NotEmpty && v.Date.Content == start && v.Date.DateOnly == !withTime &&
			v.Date.HasEnd == (in.EndDate != nil) && (in.EndDate == nil || v.Date.NotEmpty2 && v.Date.Content2 == end)
	}
}

// colorCount is the number of option colours. The user interface assigns them in turn.
const colorCount = 13

func selectionValue(typ string, names []string, c *kernel.Column) (map[string]any, func(*kernel.Value) bool) {
	chosen, next := []siyuanapi.Option{}, len(c.Options)
	for _, name := range names {
		o := siyuanapi.Option{Content: name}
		for _, known := range c.Options {
			if known.Name == name {
				o.Color = known.Color
			}
		}
		if o.Color == "" {
			o.Color = strconv.Itoa(next%colorCount + 1)
			next++
		}
		chosen = append(chosen, o)
	}
	return map[string]any{"type": typ, "mSelect": chosen}, func(v *kernel.Value) bool {
		return slices.EqualFunc(v.Selection, names, func(o siyuanapi.Option, name string) bool { return sameText(o.Content, name) })
	}
}

// sameText reports whether a text was stored. The kernel may change its whitespace.
func sameText(stored, written string) bool {
	return stored == written || strings.Join(strings.Fields(stored), " ") == strings.Join(strings.Fields(written), " ")
}

func assetsValue(in []assetInput) (map[string]any, func(*kernel.Value) bool) {
	want := []siyuanapi.Asset{}
	for _, a := range in {
		want = append(want, siyuanapi.Asset{Type: a.Type, Name: a.Name, Content: a.Content})
	}
	return map[string]any{"type": "mAsset", "mAsset": want}, func(v *kernel.Value) bool {
		return slices.EqualFunc(v.Assets, want, func(a, b siyuanapi.Asset) bool { return a.Type == b.Type && a.Content == b.Content })
	}
}
