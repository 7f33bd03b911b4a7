package salvage

import (
	"encoding/binary"
)

// This file decodes rows of SQLite.

// maxPayload bounds the size of a row in bytes; the largest rows are assets.
const maxPayload = 300 << 20

// value is the value of a column: an int64, a string or bytes, nil for NULL.
type value = any

// row is a row of a table or index.
type row struct {
	n      int64 // row number in a table
	values []value
}

// text returns a column; false if it is not text.
func (r *row) text(i int) (string, bool) { s, ok := r.values[i].(string); return s, ok }

// number returns a column; false if it is not an integer.
func (r *row) number(i int) (int64, bool) { n, ok := r.values[i].(int64); return n, ok }

// read decodes the row at an offset of a page; ok is false if there is none.
func (p *pages) read(data []byte, at int, table bool) (r row, ok bool) {
	size, n := varint(data[at:])
	if n == 0 || size > maxPayload || size < 2 {
		return r, false
	}
	at += n
	if table {
		id, n := varint(data[at:])
		if n == 0 {
			return r, false
		}
		r.n = int64(id)
		at += n
	}
	payload := p.payload(data, at, int(size), table)
	if payload == nil {
		return r, false
	}
	r.values = decode(payload)
	return r, r.values != nil
}

// payload returns the content of a row, with its overflow pages; nil if one is missing. How many bytes of it are in the page
// itself, local, follows the formulas of the SQLite file format, "B-tree Pages".
func (p *pages) payload(data []byte, at, size int, table bool) []byte {
	maxLocal := pageSize - 35
	if !table {
		maxLocal = (pageSize-12)*64/255 - 23
	}
	local := size
	if size > maxLocal {
		least := (pageSize-12)*32/255 - 23
		if local = least + (size-least)%(pageSize-4); local > maxLocal {
			local = least
		}
	}
	if at+local > len(data) {
		return nil
	}
	if local == size {
		return data[at : at+size]
	}
	if at+local+4 > len(data) || size/(pageSize-4) > p.count {
		return nil
	}
	out := append(make([]byte, 0, size), data[at:at+local]...)
	next := int(binary.BigEndian.Uint32(data[at+local:]))
	for len(out) < size {
		overflow := p.page(next)
		if overflow == nil {
			return nil
		}
		next = int(binary.BigEndian.Uint32(overflow))
		out = append(out, overflow[4:4+min(pageSize-4, size-len(out))]...)
	}
	return out
}

// decode returns the columns of a row, nil if the payload is not that of a row.
func decode(payload []byte) (values []value) {
	const maxHeader = 200 // bytes; no table of a vault has so many columns
	header, at := varint(payload)
	if at == 0 || header > uint64(len(payload)) || header > maxHeader {
		return nil
	}
	body := int(header)
	for at < int(header) {
		kind, n := varint(payload[at:header])
		if n == 0 {
			return nil
		}
		at += n
		// The kinds of values and their sizes, by the SQLite file format, "Record Format".
		size := 0
		switch {
		case kind <= 4:
			size = int(kind)
		case kind == 5:
			size = 6
		case kind == 6 || kind == 7:
			size = 8
		case kind >= 12 && kind < 2*maxPayload:
			size = int(kind-12) / 2
		case kind != 8 && kind != 9:
			return nil
		}
		if body+size > len(payload) {
			return nil
		}
		part := payload[body : body+size]
		body += size
		switch {
		case kind == 0:
			values = append(values, nil)
		case kind <= 6: // an integer
			v := int64(int8(part[0]))
			for _, b := range part[1:] {
				v = v<<8 | int64(b)
			}
			values = append(values, v)
		case kind == 8 || kind == 9: // the constants 0 and 1
			values = append(values, int64(kind-8))
		case kind == 7: // a float, which no column of notes has
			values = append(values, part)
		case kind%2 == 1: // a text; an even kind is a blob
			values = append(values, string(part))
		default:
			values = append(values, part)
		}
	}
	if body != len(payload) {
		return nil
	}
	return values
}
