package av

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/siyuanapi"
)

// FuzzDatabase parses and renders files of databases. Nothing may panic, and a database that was written must be read back
// unchanged.
func FuzzDatabase(f *testing.F) {
	f.Add([]byte(`{"spec":5,"id":"20240801120000-avmain1","name":"n","keyValues":[{"key":{"id":"p","type":"block"},"values":[{"blockID":"r","block":{"content":"x"}}]},` +
		`{"key":{"id":"n","type":"number"},"values":[{"blockID":"r","number":{"content":1.5,"isNotEmpty":true}}]},{"key":{"id":"s","type":"select","options":[{"name":"a"}]}}],` +
		`"keyIDs":null,"viewID":"v","views":[{"id":"v","type":"table","table":{"columns":[{"id":"n","calc":{"operator":"Sum"}}]},"sorts":[{"column":"n","order":"DESC"}],` +
		`"filters":[{"combination":"and","filters":[{"column":"n","operator":">","value":{"number":{"content":1,"isNotEmpty":true}}}]}],"itemIds":["r"],` +
		`"group":{"field":"s"},"groups":[{"id":"g","groupVal":{"mSelect":[{"content":"a"}]}},{"groupVal":7}]}],"more":{"a":1}}`))
	f.Add([]byte(`{"keyValues":[{"key":{"id":"t","type":"template","template":".action{.title}"}}],"views":[{"type":"kanban","kanban":{"fields":[1,{"id":"t"}]}}]}`))
	f.Add([]byte(`{"keyValues":[{"key":{"id":1}},null,{"key":{"id":"p","type":"block"},"values":[null,{"block":null,"blockID":"r","type":7}]}],"views":[3]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		db := parseDatabase(data)
		if db == nil {
			return
		}
		first, _ := db.MarshalJSON()
		again := parseDatabase(first)
		if again == nil {
			t.Fatalf("%s was read from %s and cannot be read", first, data)
		}
		if second, _ := again.MarshalJSON(); string(first) != string(second) {
			t.Fatal(cmp.Diff(string(first), string(second)))
		}
		dbs := &databases{open: map[string]*database{}}
		for _, v := range append(slices.Clone(db.views), object{}) {
			for _, query := range []string{"", "x"} {
				r := &rendering{sheet: newSheet(dbs, db), view: view{v}, query: query}
				if _, err := json.Marshal(r.reply()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// FuzzMerge merges arbitrary JSON into a cell. A value that is accepted must be one that can be written and read back; one
// that is refused must leave the cell as it was.
func FuzzMerge(f *testing.F) {
	for _, data := range []string{
		`{"type":"number","number":{"content":1,"isNotEmpty":true}}`, `{"number":{"content":"1"}}`, `{"mSelect":[{"content":"a"},null]}`,
		`{"relation":{"blockIDs":["a"],"contents":[null]}}`, `{"block":null}`, `{"NUMBER":{"content":2}}`, `null`, `[]`, `{"rollup":{"contents":[{"rollup":{}}]}}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := value{
			ID: "i", BlockID: "r", Type: siyuanapi.ColumnNumber, Number: &siyuanapi.Number{Content: 7, NotEmpty: true}, MSelect: []siyuanapi.Option{{Content: "kept"}},
			Relation: &valueRelation{BlockIDs: []string{"kept"}},
		}
		was := string(before.encode())
		v := before
		err := v.merge(data)
		if got := string(before.encode()); got != was {
			t.Fatalf("merging %s into a copy changes the original to %s", data, got)
		}
		if err != nil {
			if got := string(v.encode()); got != was {
				t.Fatalf("%s is refused and changes %s to %s", data, was, got)
			}
			return
		}
		var back value
		if err := json.Unmarshal(v.encode(), &back); err != nil {
			t.Fatalf("%s makes %s, which cannot be read: %v", data, v.encode(), err)
		}
		for _, kind := range append(slices.Clone(addableTypes), siyuanapi.ColumnBlock) {
			v.Type = kind
			v.complete()
			_, _ = v.isEmpty(), v.plain()
		}
	})
}

// Rounding removes the error of binary fractions, and nothing else.
func TestRoundBinary(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]float64{
		0.1 + 0.2: 0.3, 0.30000000000000004 - 0.1: 0.2, 2000000002: 2000000002, 15000000001: 15000000001, 1e300: 1e300, -1234567890123.5: -1234567890123.5,
		math.Inf(-1): math.Inf(-1),
	} {
		if got := roundBinary(n); got != want {
			t.Errorf("%v is %v, want %v", n, got, want)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n      float64
		format string
		want   string
	}{
		{n: 42.5, want: "42.5"},
		{n: 1e21, want: "1000000000000000000000"},
		{n: -1234567.891, format: "commas", want: "-1,234,567.891"},
		{n: 0.256, format: "percent", want: "25.6%"},
		{n: 1234.5, format: "usDollar", want: "$1,234.50"},
		{n: -3, format: "yuan", want: "-CN¥3.00"},
		{n: 7, format: "no such", want: "7"},
	} {
		if got := formatNumber(tt.n, tt.format); got != tt.want {
			t.Errorf("%v as %q is %s, want %s", tt.n, tt.format, got, tt.want)
		}
	}
}
