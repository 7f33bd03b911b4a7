package validate

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxQuickSize is the size, in bytes, of the largest text that quickDecode and [flat] read.
const maxQuickSize = 64 << 10

// quickDecode is like decode for small texts that are known to be valid JSON, in half the time. ok is false if decode would
// report an error (a duplicate name, too many values), or if a string has a lone surrogate, which gjson misreads.
func quickDecode(raw []byte) (v any, values int, ok bool) {
	if len(raw) > maxQuickSize {
		return nil, 0, false
	}
	q := quickReader{ok: true}
	v = q.value(gjson.ParseBytes(raw))
	return v, q.values, q.ok
}

type quickReader struct {
	values int
	ok     bool
}

func (q *quickReader) value(r gjson.Result) any {
	q.values++
	switch r.Type {
	case gjson.True:
		return true
	case gjson.False:
		return false
	case gjson.Number:
		return number(r.Raw)
	case gjson.String:
		q.ok = q.ok && !hasLoneSurrogate(r)
		return r.Str
	case gjson.JSON:
		if r.IsArray() {
			return q.array(r)
		}
		return q.object(r)
	case gjson.Null:
	}
	return nil
}

func (q *quickReader) object(r gjson.Result) any {
	m := make(map[string]any)
	r.ForEach(func(k, v gjson.Result) bool {
		if _, twice := m[k.Str]; twice || hasLoneSurrogate(k) {
			q.ok = false
			return false
		}
		m[k.Str] = q.value(v)
		return q.ok
	})
	return m
}

func (q *quickReader) array(r gjson.Result) any {
	a := []any{}
	r.ForEach(func(_, v gjson.Result) bool {
		a = append(a, q.value(v))
		return q.ok
	})
	return a
}

// hasLoneSurrogate reports whether s has an escape for half of a surrogate pair. gjson combines that with whatever
// escape follows, so that it reads a different text than all other readers.
func hasLoneSurrogate(s gjson.Result) bool {
	return len(s.Raw) != len(s.Str)+len(`""`) && strings.ContainsRune(s.Str, utf8.RuneError)
}
