package jsonc

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"collie/internal/sorting"
)

// This file looks at a parsed text: members, duplicate names, JSON pointers.

// Duplicate is a name that occurs twice in an object.
type Duplicate struct {
	Pointer string // JSON pointer (RFC 6901) of the member
	Name    string
	Offset  int // of the second occurrence
	First   int // offset of the first occurrence
}

// Duplicates lists the names that occur twice in one object, in the order of the text. Names
// are equal when their decoded text is.
func (d *Document) Duplicates() []Duplicate {
	var found []Duplicate
	walk("", &d.root, func(pointer string, o *hujson.Object) {
		first := make(map[string]int, len(o.Members))
		for i := range o.Members {
			n := Name(&o.Members[i])
			at := o.Members[i].Name.StartOffset
			if before, twice := first[n]; twice {
				found = append(found, Duplicate{Join(pointer, n), n, at, before})
				continue
			}
			first[n] = at
		}
	})
	sorting.By(found, func(a, b Duplicate) int { return a.Offset - b.Offset })
	return found
}

// walk calls f for every object under v, outer ones first.
func walk(pointer string, v *hujson.Value, f func(string, *hujson.Object)) {
	switch t := v.Value.(type) {
	case *hujson.Object:
		f(pointer, t)
		for i := range t.Members {
			walk(Join(pointer, Name(&t.Members[i])), &t.Members[i].Value, f)
		}
	case *hujson.Array:
		for i := range t.Elements {
			walk(Join(pointer, strconv.Itoa(i)), &t.Elements[i], f)
		}
	}
}

// Name returns the decoded name of a member.
func Name(m *hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

// Member returns the last member of o with that name, since most JSON readers use the last one; nil if there
// is none.
func Member(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if Name(&o.Members[i]) == name {
			return &o.Members[i]
		}
	}
	return nil
}

// Standard returns v as compact standard JSON: comments and white space are dropped, everything else stays as
// written.
func Standard(v *hujson.Value) json.RawMessage {
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Minimize()
	return c.Pack()
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Join appends names to a JSON pointer.
func Join(pointer string, names ...string) string {
	var b strings.Builder
	b.WriteString(pointer)
	for _, n := range names {
		b.WriteByte('/')
		escape.WriteString(&b, n) //nolint:errcheck // a Builder does not fail
	}
	return b.String()
}

// Split is the reverse of [Join]: it returns the names in a JSON pointer.
func Split(pointer string) []string {
	if pointer == "" {
		return nil
	}
	names := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range names {
		names[i] = unescape.Replace(names[i])
	}
	return names
}
