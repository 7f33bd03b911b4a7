package av

import (
	"slices"
	"strings"
	"time"

	"collie/internal/siyuanapi"
)

// This file writes values as text.

// isEmpty reports whether a value is empty. What that means depends on its type.
func (v *value) isEmpty() bool {
	if v == nil {
		return true
	}
	switch v.Type {
	case siyuanapi.ColumnNumber:
		return v.Number == nil || !v.Number.NotEmpty
	case siyuanapi.ColumnDate:
		return v.Date == nil || !v.Date.NotEmpty
	case siyuanapi.ColumnCheckbox:
		return v.Checkbox == nil
	case siyuanapi.ColumnRelation:
		return v.Relation == nil || len(v.Relation.BlockIDs) == 0
	case siyuanapi.ColumnRollup:
		return v.Rollup == nil || !slices.ContainsFunc(v.Rollup.Contents, func(c *value) bool { return !c.isEmpty() })
	}
	return strings.TrimSpace(v.text()) == ""
}

// text returns a value as text for readers, "" if it is empty.
func (v *value) text() string {
	if v == nil {
		return ""
	}
	switch v.Type {
	case siyuanapi.ColumnBlock:
		if v.Block != nil {
			return v.Block.Content
		}
	case siyuanapi.ColumnText:
		return contentOf(v.Text)
	case siyuanapi.ColumnURL:
		return contentOf(v.URL)
	case siyuanapi.ColumnEmail:
		return contentOf(v.Email)
	case siyuanapi.ColumnPhone:
		return contentOf(v.Phone)
	case siyuanapi.ColumnTemplate:
		return contentOf(v.Template)
	case siyuanapi.ColumnNumber:
		if v.Number != nil && v.Number.NotEmpty {
			return v.Number.Formatted
		}
	case siyuanapi.ColumnDate:
		return dateText(v.Date)
	case siyuanapi.ColumnCreated:
		if v.Created != nil {
			return v.Created.Formatted
		}
	case siyuanapi.ColumnUpdated:
		if v.Updated != nil {
			return v.Updated.Formatted
		}
	case siyuanapi.ColumnSelect, siyuanapi.ColumnMSelect:
		return join(v.MSelect, func(o siyuanapi.Option) string { return o.Content })
	case siyuanapi.ColumnMAsset:
		return join(v.MAsset, func(a siyuanapi.Asset) string { return strings.TrimSpace(a.Name + " " + a.Content) })
	case siyuanapi.ColumnCheckbox:
		if v.Checkbox != nil && v.Checkbox.Checked {
			return "√"
		}
	case siyuanapi.ColumnRelation:
		if v.Relation != nil {
			return join(v.Relation.Contents, (*value).text)
		}
	case siyuanapi.ColumnRollup:
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

func contentOf(t *siyuanapi.Content) string {
	if t == nil {
		return ""
	}
	return t.Content
}

// dateText returns a date as text, with its end if it has one, in local time.
func dateText(d *siyuanapi.Date) string {
	if d == nil || !d.NotEmpty {
		return ""
	}
	layout := "2006-01-02 15:04"
	if d.DateOnly {
		layout = time.DateOnly
	}
	text := time.UnixMilli(d.Content).Format(layout)
	if d.HasEnd && d.NotEmpty2 {
		text += " → " + time.UnixMilli(d.Content2).Format(layout)
	}
	return text
}

// shownMoment returns a time as cells of created and updated columns show it, an empty one for the zero time.
func shownMoment(t time.Time) *siyuanapi.Moment {
	if t.IsZero() {
		return &siyuanapi.Moment{}
	}
	return &siyuanapi.Moment{Content: t.UnixMilli(), NotEmpty: true, Formatted: t.Format("2006-01-02 15:04")}
}
