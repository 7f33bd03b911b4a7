package av

import (
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/kernel"
)

// This file converts cells to simple values for readers.

// plain converts the value of a cell to a simple value for readers: a text, a number, a boolean, or a list of these; nil
// for an empty cell.
func plain(v *kernel.Value) any {
	switch v.Type {
	case "block":
		if v.Block != nil {
			return textOrNil(v.Block.Content)
		}
	case "text":
		return textOf(v.Text)
	case "url":
		return textOf(v.URL)
	case "email":
		return textOf(v.Email)
	case "phone":
		return textOf(v.Phone)
	case "template":
		return textOf(v.Template)
	case "number":
		if v.Number != nil && v.Number.NotEmpty {
			return v.Number.Content
		}
	case "date":
		return datePlain(v.Date)
	case "created":
		return datePlain(v.Created)
	case "updated":
		return datePlain(v.Updated)
	case "checkbox":
		return v.Checkbox != nil && v.Checkbox.Checked
	case "select":
		if len(v.Selection) > 0 {
			return v.Selection[0].Content
		}
	case "mSelect":
		return plainList(v.Selection, func(o siyuanapi.Option) any { return o.Content })
	case "mAsset":
		return plainList(v.Assets, func(a siyuanapi.Asset) any { return a.Content })
	case "relation":
		return relationPlain(v.Relation)
	case "rollup":
		if v.Rollup != nil {
			return plainList(v.Rollup.Contents, func(c kernel.Value) any { return plain(&c) })
		}
	}
	return nil
}

// textOf returns the text of a cell, nil for an empty one.
func textOf(c *siyuanapi.Content) any {
	if c == nil {
		return nil
	}
	return textOrNil(c.Content)
}

// textOrNil returns a text, nil for an empty one.
func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// plainList returns a list of what each makes of the items, nil for an empty list.
func plainList[T any](items []T, each func(T) any) any {
	if len(items) == 0 {
		return nil
	}
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = each(item)
	}
	return out
}

// relationPlain returns the related rows by name, or by id if the kernel has not computed the names.
func relationPlain(r *kernel.Relation) any {
	switch {
	case r == nil:
		return nil
	case len(r.Contents) > 0:
		return plainList(r.Contents, func(c kernel.Value) any { return plain(&c) })
	}
	return plainList(r.RowIDs, func(id kernel.ID) any { return string(id) })
}

// datePlain formats a date, a time, or a range of them in local time, like the user interface.
func datePlain(d *siyuanapi.Date) any {
	if d == nil || !d.NotEmpty {
		return nil
	}
	layout := "2006-01-02 15:04"
	if d.DateOnly {
		layout = time.DateOnly
	}
	out := time.UnixMilli(d.Content).Format(layout)
	if d.HasEnd && d.NotEmpty2 {
		out += " → " + time.UnixMilli(d.Content2).Format(layout)
	}
	return out
}
