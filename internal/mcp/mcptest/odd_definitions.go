package mcptest

import (
	"encoding/json"
	"strconv"
)

// oddNames are the names of the odd tools. They are only slightly odd, because a gateway may edit names.
var oddNames = []string{"odd_one", "odd-two", "odd.three", "Odd4", "odd/five", "o", "odd__seven", "odd_8_with_a_rather_long_name_that_still_fits"}

// OddDefinitions returns the tool definitions that --odd --seed N lists. They keep every rule of the protocol
// and are otherwise as odd as [OddResult]. The same seed gives the same bytes.
func OddDefinitions(seed int64) []json.RawMessage {
	definitions := make([]json.RawMessage, len(oddNames))
	for i, name := range oddNames {
		definitions[i] = oddDefinition(seed*int64(len(oddNames))+int64(i), name)
	}
	return definitions
}

func oddDefinition(seed int64, name string) json.RawMessage {
	w := newOddWriter(seed)
	members := append(w.extraMembers(3, 4),
		member{"name", func() { w.text(`"` + name + `"`) }},
		member{"inputSchema", func() { w.schema(3) }},
	)
	optional := []member{
		{"description", w.string},
		{"title", w.string},
		{"annotations", func() {
			w.object(append(w.extraMembers(2, 2), member{"readOnlyHint", func() { w.text("true") }})...)
		}},
		{"execution", func() {
			w.object(append(w.extraMembers(1, 1), member{"taskSupport", func() { w.text(`"optional"`) }})...)
		}},
		{"icons", func() {
			w.array(2, func(i int) {
				w.object(append(w.extraMembers(1, 1),
					member{"src", func() { w.text(`"https:\/\/example.com\/` + strconv.Itoa(i) + `.png"`) }},
					member{"sizes", func() { w.text(`["48x48" ,"any"]`) }})...)
			})
		}},
		{"_meta", func() { w.object(w.metaMembers(20)...) }},
	}
	for _, m := range optional {
		if w.rng.IntN(4) > 0 {
			members = append(members, m)
		}
	}
	w.object(members...)
	return w.result()
}

// schema writes an object schema that compiles. Odd are its bounds and the values that a schema may choose
// freely.
func (w *oddWriter) schema(depth int) {
	members := append(w.extraMembers(2, 2),
		member{"type", func() { w.text(`"object"`) }},
		member{"properties", func() { w.properties(depth) }},
	)
	if w.rng.IntN(2) == 0 {
		members = append(members, member{"$schema", func() { w.text(`"https:\/\/json-schema.org\/draft\/2020-12\/schema"`) }})
	}
	if w.rng.IntN(2) == 0 {
		members = append(members, member{"required", func() { w.text("[]") }})
	}
	w.object(members...)
}

func (w *oddWriter) properties(depth int) {
	bound := func(name, value string) member { return member{name, func() { w.text(value) }} }
	free := func(name string) member { return member{name, func() { w.value(2) }} }
	members := []member{
		{"n", func() {
			w.object(bound("type", `"integer"`), bound("maximum", "12345678901234567890"), bound("minimum", "-0"),
				bound("multipleOf", "1.0"), free("default"))
		}},
		{`\u00e9`, func() {
			w.object(append(w.extraMembers(2, 2), bound("type", `"string"`), bound("minLength", "0"), member{"description", w.string})...)
		}},
		{"any", func() { w.text("true") }},
		{"none", func() { w.object(free("const"), member{"examples", func() { w.array(3, func(int) { w.value(2) }) }}) }},
		{"新", func() {
			w.object(member{"enum", func() { w.array(5, func(i int) { w.text(oddStrings[i*3]) }) }}, bound("title", `"\/"`))
		}},
	}
	if depth > 0 {
		members = append(members, member{"nested", func() { w.schema(depth - 1) }})
	}
	w.object(members...)
}
