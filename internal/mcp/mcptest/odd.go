package mcptest

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// This file writes random JSON that is valid but unusual, to find programs that do not pass it on unchanged.

// Pieces of odd JSON: valid, but changed by any program that decodes and encodes it again.
var (
	oddNumbers = []string{
		"12345678901234567890", "9007199254740993", "-9007199254740993", "18446744073709551616",
		"1e400", "-1E+400", "2.5e-330", "-0", "-0.0", "0e0", "1.0", "1", "1.10", "100e-2", "1E2", "0.1e1",
		"3.141592653589793238462643383279", "0.30000000000000004",
	}
	oddStrings = []string{
		`""`, `"\u00e9"`, `"é"`, `"e\u0301"`, `"a\/b"`, `"a/b"`, `"\u0041"`, `"A"`, `"\u000a"`, `"\n"`,
		`"😀"`, `"\ud83d\ude00"`, `"👩‍👩‍👧"`, `"新闻"`, `"\u65b0\u95fb"`, `"日本語のテキスト"`, `"한국어"`, `"עברית"`,
		`"<b>&amp;</b>"`, `"\u003cb\u003e"`, `"\u0000"`, `"\b\f\r\t\\\""`, "\"\u2028\u2029\"", `"\u2028"`, "\"\x7f\"",
		`"\ud800"`, `"\uFEFF"`, `" padded "`, `"null"`, `"1"`, `"data: x"`, `"{\"a\":1}"`,
	}
	oddKeys = []string{
		"x-vendor", "com.example/key", "Name", "NAME", "clé", `cl\u00e9-escaped`, "新", `a\/b`, "", "$ref-like", "_meta-like",
		"with space", "constructor", "__proto__", "0", `\ud83d\ude00`, "type-like", "nextCursor-like",
	}
	oddSpaces = []string{"", "", "", "", "", " ", "  ", "\t"} // mostly none
)

// oddWriter writes random JSON as text, because decoded values could not hold the odd details.
type oddWriter struct {
	rng   *rand.Rand
	b     []byte
	names int
}

// newOddWriter returns a writer whose choices depend on seed alone.
func newOddWriter(seed int64) *oddWriter {
	const stream = 0x6f6464 // "odd": any number would do
	return &oddWriter{rng: rand.New(rand.NewPCG(uint64(seed), stream))}
}

// member is one member of an object; key is the text between the quotes.
type member struct {
	key   string
	write func()
}

func (w *oddWriter) pickOne(from []string) string { return from[w.rng.IntN(len(from))] }
func (w *oddWriter) text(s string)                { w.b = append(w.b, s...) }
func (w *oddWriter) space()                       { w.text(w.pickOne(oddSpaces)) }
func (w *oddWriter) number()                      { w.text(w.pickOne(oddNumbers)) }

// string writes a string, which is sometimes very long.
func (w *oddWriter) string() {
	const oneInLong, longLength = 40, 4000 // one string in 40 has about 4000 bytes
	if w.rng.IntN(oneInLong) > 0 {
		w.text(w.pickOne(oddStrings))
		return
	}
	s := w.pickOne(oddStrings)
	if s = s[1 : len(s)-1]; s == "" {
		s = "long "
	}
	w.text(`"` + strings.Repeat(s, 1+longLength/len(s)) + `"`)
}

// value writes any value, nested at most depth levels deep.
func (w *oddWriter) value(depth int) {
	kinds := 8 // the cases below
	if depth <= 0 {
		kinds = 6 // without the last two, which nest
	}
	switch w.rng.IntN(kinds) {
	case 0, 1:
		w.number()
	case 2, 3:
		w.string()
	case 4:
		w.text(w.pickOne([]string{"true", "false", "null"}))
	case 5:
		w.text(w.pickOne([]string{"[]", "{}", "[ ]", "{ }"}))
	case 6:
		w.array(w.rng.IntN(5), func(int) { w.value(depth - 1) })
	case 7:
		w.object(w.extraMembers(1+w.rng.IntN(4), depth-1)...)
	}
}

func (w *oddWriter) array(n int, item func(i int)) {
	w.text("[")
	for i := range n {
		if i > 0 {
			w.text(",")
		}
		w.space()
		item(i)
		w.space()
	}
	w.text("]")
}

// object writes the members in random order.
func (w *oddWriter) object(members ...member) {
	w.rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	w.text("{")
	for i, m := range members {
		if i > 0 {
			w.text(",")
		}
		w.space()
		w.text(`"` + m.key + `"`)
		w.space()
		w.text(":")
		w.space()
		m.write()
	}
	w.space()
	w.text("}")
}

// extraMembers returns n members that no protocol defines. Their keys carry a running number, because two keys of
// one object that decode to the same text would make it invalid.
func (w *oddWriter) extraMembers(n, depth int) []member {
	members := make([]member, n)
	for i := range members {
		w.names++
		members[i] = member{w.pickOne(oddKeys) + strconv.Itoa(w.names), func() { w.value(depth) }}
	}
	return members
}

// nested writes a value inside n levels of arrays and objects.
func (w *oddWriter) nested(n int) {
	var ends []byte
	for range n {
		if w.rng.IntN(2) == 0 {
			w.text("[")
			ends = append(ends, ']')
		} else {
			w.text(`{"d":`)
			ends = append(ends, '}')
		}
	}
	w.number()
	for _, end := range slices.Backward(ends) {
		w.b = append(w.b, end)
	}
}

func (w *oddWriter) result() json.RawMessage { return w.b }
