package av

import (
	"slices"
	"strings"
	"time"
)

// empty reports whether a value of a type holds nothing.
func (v *value) empty() bool {
	if v == nil {
		return true
	}
	switch v.Type {
	case kindNumber:
		return v.Number == nil || !v.Number.IsNotEmpty
	case kindDate:
		return v.Date == nil || !v.Date.IsNotEmpty
	case kindCheckbox:
		return v.Checkbox == nil
	case kindRelation:
		return v.Relation == nil || len(v.Relation.BlockIDs) == 0
	case kindRollup:
		return v.Rollup == nil || !slices.ContainsFunc(v.Rollup.Contents, func(c *value) bool { return !c.empty() })
	}
	return strings.TrimSpace(v.text()) == ""
}

// text is a value as somebody reads it, "" when it is empty.
func (v *value) text() string {
	if v == nil {
		return ""
	}
	switch v.Type {
	case kindBlock:
		if v.Block != nil {
			return v.Block.Content
		}
	case kindText:
		return v.Text.text()
	case kindURL:
		return v.URL.text()
	case kindEmail:
		return v.Email.text()
	case kindPhone:
		return v.Phone.text()
	case kindTemplate:
		return v.Template.text()
	case kindNumber:
		if v.Number != nil && v.Number.IsNotEmpty {
			return v.Number.FormattedContent
		}
	case kindDate:
		return v.Date.text()
	case kindCreated:
		return v.Created.text()
	case kindUpdated:
		return v.Updated.text()
	case kindSelect, kindMSelect:
		return join(v.MSelect, func(o valueSelect) string { return o.Content })
	case kindMAsset:
		return join(v.MAsset, func(a valueAsset) string { return strings.TrimSpace(a.Name + " " + a.Content) })
	case kindCheckbox:
		if v.Checkbox != nil && v.Checkbox.Checked {
			return "√"
		}
	case kindRelation:
		if v.Relation != nil {
			return join(v.Relation.Contents, (*value).text)
		}
	case kindRollup:
		if v.Rollup != nil {
			return join(v.Rollup.Contents, (*value).text)
		}
	}
	return ""
}

func join[T any](list []T, text func(T) string) string {
	parts := make([]string, len(list))
	for i, one := range list {
		parts[i] = text(one)
	}
	return strings.Join(parts, " ")
}

func (t *valueText) text() string {
	if t == nil {
		return ""
	}
	return t.Content
}

func (d *valueDate) text() string {
	if d == nil || !d.IsNotEmpty {
		return ""
	}
	layout := "2006-01-02 15:04"
	if d.IsNotTime {
		layout = time.DateOnly
	}
	text := time.UnixMilli(d.Content).Format(layout)
	if d.HasEndDate && d.IsNotEmpty2 {
		text += " → " + time.UnixMilli(d.Content2).Format(layout)
	}
	return text
}

func (t *valueTime) text() string {
	if t == nil {
		return ""
	}
	return t.FormattedContent
}

// moment is a time as created and updated cells show it; the zero time shows nothing.
func moment(t time.Time) *valueTime {
	if t.IsZero() {
		return &valueTime{}
	}
	return &valueTime{Content: t.UnixMilli(), IsNotEmpty: true, FormattedContent: t.Format("2006-01-02 15:04")}
}
