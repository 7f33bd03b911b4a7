package validate

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/tool"
)

// A typical schema and typical arguments for it.
const (
	usual     = `{"type":"object","properties":{"text":{"type":"string","description":"d"},"n":{"type":["integer","null"]}},"required":["text"]}`
	usualArgs = `{"text":"the quick brown fox","n":7}`
)

func formOf(t testing.TB, schema string, strict bool) *form {
	t.Helper()
	f := &form{strict: strict}
	if err := f.compile([]byte(schema)); err != nil {
		t.Fatal(err)
	}
	return f
}

// A decision that the stage makes from the JSON text alone agrees with that of the schema library.
func TestFlatAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	schemas := []string{
		usual,
		`{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"number"}},"additionalProperties":false}`,
		`{"properties":{"text":{},"n":true},"required":["n","text"]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"text":{"type":"integer"},"n":{"type":"array"}}}`,
		`{"type":"object","properties":{"text":{"type":["boolean","null"]},"n":{"type":"object"}},"additionalProperties":true}`,
	}
	values := []string{
		`"a"`, `"\u00e9\"{"`, `""`, `1`, `-1`, `0`, `1.0`, `1.5`, `1e2`, `12345678901234567890123`, `true`, `false`, `null`, `[]`, `[1,"a"]`,
		`[{"a":1,"a":2}]`, `{}`, `{"a":1}`, `{"a":1,"a":2}`,
	}
	args := []string{`{}`, ` { "n" : 1 , "text" : "a" } `, `{"\u0074ext":"a","n":1}`, `{"text":"a","\u0074ext":"b","n":1}`, `{"text":"a","n":1,"more":1}`}
	for _, v := range values {
		args = append(args, `{"text":`+v+`,"n":1}`, `{"text":"a","n":`+v+`}`, `{"n":`+v+`}`, `{"text":`+v+`,"n":1,"text":"a"}`, `{"text":"a","n":1,"x":`+v+`}`)
	}
	accepted := 0
	for _, schema := range schemas {
		for _, strict := range []bool{false, true} {
			f := formOf(t, schema, strict)
			if f.flat == nil {
				t.Errorf("%s is not flat", schema)
				continue
			}
			for _, a := range args {
				if !f.flat.accepts([]byte(a)) {
					continue
				}
				accepted++
				doc, n, err := decode([]byte(a), false)
				if err != nil {
					t.Errorf("%s: accepted %s, which is refused: %v", schema, a, err)
				} else if ps := f.problems(doc.(map[string]any), n); len(ps) > 0 {
					t.Errorf("%s: accepted %s, which has problems: %v", schema, a, ps)
				}
			}
		}
	}
	if accepted < len(schemas)*len(values) {
		t.Errorf("%d of the arguments were told from the text, which is next to none", accepted)
	}
}

// A schema with a keyword that flat does not check is left to the schema library.
func TestFlatLeavesOtherSchemas(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"string"}`, `{"type":"object","minProperties":1}`, `{"properties":{"a":{"type":"string","minLength":1}}}`,
		`{"properties":{"a":{"enum":["x"]}}}`, `{"properties":{"a":{"const":1}}}`, `{"properties":{"a":false}}`, `{"required":["a"]}`,
		`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`, `{"properties":{"a":{"not":{}}}}`,
		`{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`, `{"properties":{"a":{"type":"string"}},"allOf":[{"required":["a"]}]}`,
		`{"properties":{"a":{"type":"string"}},"patternProperties":{"^a":{"maxLength":1}}}`,
		`{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`,
		`{"properties":{"a":{"type":"string"}},"dependentRequired":{"a":["b"]}}`, `{"properties":{"a":{"type":"string","pattern":"^b"}}}`,
	} {
		if formOf(t, schema, true).flat != nil {
			t.Errorf("%s counts as flat", schema)
		}
	}
	if formOf(t, `{"properties":{"a":{"type":"string","format":"date"}}}`, true).flat != nil {
		t.Error("the formats of a strict action are not looked at")
	}
}

// Not parallel: it counts allocations.
func TestUsualArgumentsAreNotDecoded(t *testing.T) {
	s := New(Options{})
	c := &tool.Call{Request: tool.Request{Kind: tool.KindCall, Params: json.RawMessage("{}")}, Action: newAction(usual, false), Args: json.RawMessage(usualArgs)}
	check := func() {
		if ps := s.check(t.Context(), c); len(ps) > 0 {
			t.Fatalf("refused: %v", ps)
		}
	}
	check()
	if n := testing.AllocsPerRun(100, check); n > 1 {
		t.Errorf("checking %s allocates %v times, want 1: the text", usualArgs, n)
	}
	c.Args = json.RawMessage(`{"text":"` + strings.Repeat("a", maxQuickSize) + `"}`)
	check()
}
