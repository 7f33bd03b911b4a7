package siyuan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// This file shortens results that are larger than clients accept.

// cutNoteSize is the space in bytes for the members that report a cut.
const cutNoteSize = 240

// capResult returns raw. If it is longer than limit, its longest lists are cut, and added members say so. A list at the
// top becomes the member "value" of an object, as in structured content. Strings are never cut.
func capResult(raw json.RawMessage, limit int) json.RawMessage {
	if len(raw) <= limit {
		return raw
	}
	root := gjson.ParseBytes(raw)
	if root.IsArray() {
		root = gjson.Parse(`{"value":` + root.Raw + `}`)
	}
	c := listCutter{}
	cut := gjson.Parse(c.shorten(root, "", limit-cutNoteSize))
	if !root.IsObject() || c.list == "" {
		return raw
	}
	var b strings.Builder
	b.WriteByte('{')
	cut.ForEach(func(k, v gjson.Result) bool {
		switch k.String() {
		case "truncated", "totalBytes", "hint":
		default:
			b.WriteString(k.Raw + ":" + v.Raw + ",")
		}
		return true
	})
	hint := fmt.Sprintf("%d of %d items of %s are shown; ask for a smaller page or a narrower scope", c.shown, c.total, c.list)
	quoted, err := json.Marshal(hint)
	if err != nil {
		panic("siyuan: a text does not encode: " + err.Error())
	}
	fmt.Fprintf(&b, `"truncated":true,"totalBytes":%d,"hint":%s}`, len(raw), quoted)
	return json.RawMessage(b.String())
}

// listCutter shortens lists and remembers which lost most.
type listCutter struct {
	list         string // its path
	shown, total int
}

// shorten returns v in at most room bytes, or as short as cutting its lists can make it.
func (c *listCutter) shorten(v gjson.Result, path string, room int) string {
	switch {
	case len(v.Raw) <= room:
		return v.Raw
	case v.IsArray():
		return c.shortenList(v, path, room)
	case v.IsObject():
		return c.shortenObject(v, path, room)
	}
	return v.Raw
}

// shortenObject distributes room over the members of an object: what short members do not need goes to the longer ones.
func (c *listCutter) shortenObject(v gjson.Result, path string, room int) string {
	type member struct{ key, raw string }
	var members []member
	var order []int
	room -= len("{}")
	v.ForEach(func(k, m gjson.Result) bool {
		order = append(order, len(members))
		members = append(members, member{k.Raw, m.Raw})
		room -= len(k.Raw) + len(":,")
		return true
	})
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(members[a].raw), len(members[b].raw)) })
	for n, i := range order {
		m := &members[i]
		name := gjson.Parse(m.key).String()
		if path != "" {
			name = path + "." + name
		}
		m.raw = c.shorten(gjson.Parse(m.raw), name, room/(len(order)-n))
		room -= len(m.raw)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.key + ":" + m.raw)
	}
	b.WriteByte('}')
	return b.String()
}

// shortenList cuts a list at its end. The first item that does not fit is itself shortened if it is most of the list, as
// a branch of a tree may be.
func (c *listCutter) shortenList(v gjson.Result, path string, room int) string {
	var b strings.Builder
	b.WriteByte('[')
	shown, total := 0, 0
	full := false
	v.ForEach(func(_, item gjson.Result) bool {
		total++
		if full {
			return true
		}
		raw := item.Raw
		if remaining := room - b.Len() - len(",]"); len(raw) > remaining {
			full = true
			if len(raw) < room/2 {
				return true
			}
			if raw = c.shorten(item, path+"[]", remaining); len(raw) > remaining {
				return true
			}
		}
		if shown++; shown > 1 {
			b.WriteByte(',')
		}
		b.WriteString(raw)
		return true
	})
	if total-shown > c.total-c.shown {
		c.list, c.shown, c.total = path, shown, total
	}
	b.WriteByte(']')
	return b.String()
}
