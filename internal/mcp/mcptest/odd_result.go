package mcptest

import "encoding/json"

// OddResult returns a tool result of at least size bytes, on one line. It is valid JSON, full of details that
// a careless relay changes: unknown keys and content types, numbers beyond float64, escaped and unescaped
// characters, unusual order, white space and depth. It has none of the fields that a gateway may edit. The
// same seed and size give the same bytes.
func OddResult(seed int64, size int) json.RawMessage {
	w := newOddWriter(seed)
	members := append(w.extraMembers(3, 4),
		member{"content", func() { w.writeContent(size) }},
		member{"structuredContent", func() { w.object(w.extraMembers(5, 6)...) }},
		member{"_meta", func() { w.object(w.metaMembers(200)...) }},
	)
	if w.rng.IntN(2) == 0 {
		members = append(members, member{"isError", func() { w.text("false") }})
	}
	w.object(members...)
	return w.result()
}

// writeContent writes at least two content blocks, until the text is size bytes long.
func (w *oddWriter) writeContent(size int) {
	w.text("[")
	for n := 0; n < 2 || len(w.b) < size; n++ {
		if n > 0 {
			w.text(",")
		}
		w.space()
		w.writeBlock()
		w.space()
	}
	w.text("]")
}

func (w *oddWriter) writeBlock() {
	literal := func(s string) func() { return func() { w.text(s) } }
	var members []member
	switch w.rng.IntN(6) {
	case 0, 1:
		members = []member{{"type", literal(`"text"`)}, {"text", w.string}}
	case 2:
		// This is not Base64: a relay that decodes data fails here.
		members = []member{{"type", literal(`"x-vendor/hologram"`)}, {"data", literal(`"not base64 !?"`)}, {"mimeType", literal(`"model/x"`)}}
	case 3:
		members = []member{{"type", literal(`"image"`)}, {"data", literal(`"iVBORw0KGgo="`)}, {"mimeType", literal(`"image\/png"`)}}
	case 4:
		members = []member{{"type", literal(`"resource_link"`)}, {"uri", literal(`"fake://\u0069tem/1"`)}, {"name", w.string}, {"size", w.number}}
	case 5:
		members = []member{{"type", literal(`"resource"`)}, {"resource", func() {
			w.object(append(w.extraMembers(1, 1), member{"uri", literal(`"fake://item/2"`)}, member{"text", w.string})...)
		}}}
	}
	if w.rng.IntN(2) == 0 {
		members = append(members, member{"annotations", func() {
			w.object(append(w.extraMembers(1, 2), member{"priority", literal("1.0")}, member{"audience", literal(`["user" ]`)})...)
		}})
	}
	w.object(append(members, w.extraMembers(w.rng.IntN(3), 3)...)...)
}

// metaMembers returns vendor keys for a _meta object; one of them is nested depth levels deep.
func (w *oddWriter) metaMembers(depth int) []member {
	return append(w.extraMembers(2, 3),
		member{"com.example/deep", func() { w.nested(depth) }},
		member{"com.example/list", func() { w.array(len(oddNumbers), func(i int) { w.text(oddNumbers[i]) }) }},
	)
}
