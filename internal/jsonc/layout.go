package jsonc

import (
	"bytes"
	"encoding/json"

	"github.com/tailscale/hujson"
)

// This file formats added values like the text around them.

// layout is the style of a text (line breaks, indentation), so that additions look like the rest.
type layout struct {
	newline string
	unit    string // one step of indentation
}

// layout takes the line break from the first line and the indentation from the first member on a line of its
// own.
func (d *Document) layout() layout {
	l := layout{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(d.body, '\n'); i > 0 && d.body[i-1] == '\r' {
		l.newline = "\r\n"
	}
	if o, ok := d.root.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		if indent, own := d.indentAt(o.Members[0].Name.StartOffset); own && indent != "" {
			l.unit = indent
		}
	}
	return l
}

// indentAt returns the white space at the start of the line that holds offset. own reports whether only white
// space precedes offset on that line.
func (d *Document) indentAt(offset int) (indent string, own bool) {
	line := d.body[bytes.LastIndexByte(d.body[:offset], '\n')+1 : offset]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// format writes v for a place whose line starts with indent. Arrays of plain values stay on one line.
func (l layout) format(b *bytes.Buffer, v *hujson.Value, indent string) {
	inner := indent + l.unit
	switch t := v.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			l.open(b, '{', i, inner)
			b.Write(Standard(&t.Members[i].Name))
			b.WriteString(": ")
			l.format(b, &t.Members[i].Value, inner)
		}
		l.closeBracket(b, "{}", len(t.Members), indent)
	case *hujson.Array:
		if plain(t) {
			for i := range t.Elements {
				if i > 0 {
					b.WriteString(", ")
				} else {
					b.WriteByte('[')
				}
				b.Write(Standard(&t.Elements[i]))
			}
			if len(t.Elements) == 0 {
				b.WriteByte('[')
			}
			b.WriteByte(']')
			return
		}
		for i := range t.Elements {
			l.open(b, '[', i, inner)
			l.format(b, &t.Elements[i], inner)
		}
		l.closeBracket(b, "[]", len(t.Elements), indent)
	default:
		b.Write(Standard(v))
	}
}

// open starts the i-th item of an object or array on a line of its own.
func (l layout) open(b *bytes.Buffer, bracket byte, i int, inner string) {
	if i == 0 {
		b.WriteByte(bracket)
	} else {
		b.WriteByte(',')
	}
	b.WriteString(l.newline + inner)
}

// closeBracket ends an object or array of n items.
func (l layout) closeBracket(b *bytes.Buffer, brackets string, n int, indent string) {
	if n == 0 {
		b.WriteString(brackets)
		return
	}
	b.WriteString(l.newline + indent + brackets[1:])
}

func plain(a *hujson.Array) bool {
	for i := range a.Elements {
		if _, ok := a.Elements[i].Value.(hujson.Literal); !ok {
			return false
		}
	}
	return true
}

// text formats value for a place whose line starts with indent; with inline set, on one line.
func (l layout) text(value json.RawMessage, indent string, inline bool) (string, error) {
	if inline {
		var b bytes.Buffer
		err := json.Compact(&b, value)
		return b.String(), err
	}
	v, err := hujson.Parse(value)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	l.format(&b, &v, indent)
	return b.String(), nil
}
