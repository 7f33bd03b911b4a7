package modelapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/upstream/modelapi"
	"collie/test/catalogs"
)

// exceededLimits returns the limits that a definition exceeds, by API.
func exceededLimits(name, def string) map[string][]string {
	out := map[string][]string{}
	for _, a := range modelapi.APIs() {
		for _, b := range a.Check(name, json.RawMessage(def)) {
			out[a.Name] = append(out[a.Name], b.Limit)
		}
	}
	return out
}

// TestBreakers: for each documented limit, a definition that exceeds it is reported at the right place, and at no
// other.
func TestBreakers(t *testing.T) {
	t.Parallel()
	const (
		closed = `"additionalProperties":false`
		fine   = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	)
	deep := `{"type":"string"}`
	for range 6 {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	var many strings.Builder
	many.WriteString(`{"type":"object","properties":{"a":{"type":"string"}`)
	for i := range 100 {
		many.WriteString(`,"b` + strings.Repeat("x", i/10) + string(rune('0'+i%10)) + `":{"type":"string"}`)
	}
	many.WriteString(`}}`)
	all := []string{"OpenAI", "Anthropic", "Amazon Bedrock Converse", "Mistral", "Gemini, parametersJsonSchema", "Gemini, parameters", "OpenAI, strict"}
	for what, tt := range map[string]struct {
		name, description, schema string
		limit                     string // a part of it
		at                        []string
	}{
		"nothing":              {schema: fine},
		"no arguments":         {schema: `{"type":"object"}`},
		"no properties":        {schema: `{"type":"object","properties":{}}`},
		"the longest text":     {schema: fine, description: strings.Repeat("字", 1024)},
		"a longer text":        {schema: fine, description: strings.Repeat("字", 1025), limit: "more than 1024 characters", at: []string{"OpenAI", "OpenAI, strict"}},
		"a long name":          {schema: fine, name: strings.Repeat("a", 65), limit: "a name that", at: all},
		"a dot in a name":      {schema: fine, name: "a.b", limit: "a name that", at: []string{"OpenAI", "Anthropic", "Amazon Bedrock Converse", "Mistral", "OpenAI, strict"}},
		"a digit before names": {schema: fine, name: "1a", limit: "a name that", at: []string{"Gemini, parametersJsonSchema", "Gemini, parameters"}},
		"no object":            {schema: `{"type":"string"}`, limit: "not of type object", at: all},
		"alternatives":         {schema: `{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"type":"object"}]}`, limit: "oneOf at the root", at: []string{"Anthropic"}},
		"a keyword":            {schema: `{"type":"object","properties":{"a":{"type":"string","contentEncoding":"x"}}}`, limit: "the keyword contentEncoding", at: all[4:]},
		"a keyword as a name":  {schema: `{"type":"object","properties":{"contentEncoding":{"type":"string"}}}`},
		"a name of a property": {schema: `{"type":"object","properties":{"a b":{"type":"string"}}}`, limit: "a name of a property", at: []string{"Anthropic", "Gemini, parameters"}},
		"no type":              {schema: `{"type":"object","properties":{"a":{"description":"x"}}}`, limit: "without a type", at: all[5:]},
		"two types":            {schema: `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, limit: "several types", at: []string{"Gemini, parameters"}},
		"a number in an enum":  {schema: `{"type":"object","properties":{"a":{"type":"integer","enum":[1]}}}`, limit: "not text", at: []string{"Gemini, parameters"}},
		"an open object":       {schema: `{"type":"object","properties":{"a":{"type":"object"}}}`, limit: "without properties", at: all[5:]},
		"a list of anything":   {schema: `{"type":"object","properties":{"a":{"type":"array"}}}`, limit: "without items", at: all[5:]},
		"five levels":          {schema: strings.Replace(deep, `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"string"}`, 1)},
		"six levels":           {schema: deep, limit: "levels of objects", at: []string{"OpenAI, strict"}},
		"101 properties":       {schema: many.String(), limit: "more than 100 properties", at: []string{"OpenAI, strict"}},
		"1,001 values": {
			schema: `{"type":"object","properties":{"a":{"type":"string","enum":["a"` + strings.Repeat(`,"a"`, 1000) + `]}}}`,
			limit:  "more than 1000 values", at: []string{"OpenAI, strict"},
		},
		"within a list":   {schema: `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","contains":1}}}}`, limit: "the keyword contains", at: all[4:]},
		"within a branch": {schema: `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","contains":1}]}}}`, limit: "the keyword contains", at: all[4:]},
		"closed already":  {schema: `{"type":"object","properties":{"a":{"type":"string"}},` + closed + `}`, limit: "the keyword additionalProperties", at: []string{"Gemini, parameters"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			name := tt.name
			if name == "" {
				name = "tool"
			}
			if tt.description == "" {
				tt.description = "what it does"
			}
			got := exceededLimits(name, `{"name":"tool","description":"`+tt.description+`","inputSchema":`+tt.schema+`}`)
			for _, api := range all {
				finds := slices.ContainsFunc(got[api], func(limit string) bool { return tt.limit != "" && strings.Contains(limit, tt.limit) })
				if finds != slices.Contains(tt.at, api) || tt.limit == "" && len(got[api]) > 0 {
					t.Errorf("%s: %q", api, got[api])
				}
			}
		})
	}
	if got := exceededLimits("tool", `{"description":"","inputSchema":`+fine+`}`); len(got) != 1 || len(got["Amazon Bedrock Converse"]) != 1 {
		t.Errorf("an empty description: %q", got)
	}
}

// TestPublicServers: definitions of public servers are judged as expected, and judging does not change them.
func TestPublicServers(t *testing.T) {
	t.Parallel()
	tools := 0
	found := map[string]int{} // number of tools that break any limit, by API
	for _, s := range catalogs.Servers() {
		for _, def := range s.Tools {
			tools++
			before := string(def)
			for api := range exceededLimits(gjson.GetBytes(def, "name").String(), before) {
				found[api]++
			}
			if string(def) != before {
				t.Fatalf("%s is another definition now", before)
			}
		}
	}
	t.Logf("%d tools, of which break a limit: %v", tools, found)
	if found["Mistral"] != 0 || found["OpenAI"] == 0 || found["OpenAI"] > tools/10 || found["Gemini, parameters"] < tools/3 {
		t.Errorf("%d tools, of which break a limit: %v", tools, found)
	}
}

// TestFormLeavesWhatItIsGiven: Form returns a copy and leaves its argument unchanged.
func TestFormLeavesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	const raw = `{"properties":{"a":{"anyOf":[{"enum":["x"],"type":"string"}]},"b":{"items":{"properties":{"c":{"type":"string"}},"type":"object"},"type":"array"}},"required":["b"],"type":"object"}`
	for _, a := range modelapi.APIs() {
		var schema any
		if err := json.Unmarshal([]byte(raw), &schema); err != nil {
			t.Fatal(err)
		}
		formed := a.Form(schema)
		if after, err := json.Marshal(schema); err != nil || string(after) != raw {
			t.Errorf("%s: %s, %v", a.Name, after, err)
		}
		text, err := json.Marshal(formed)
		if err != nil || a.Strict != strings.Contains(string(text), `"required":["a","b"]`) || a.Strict != strings.Contains(string(text), `{"type":"null"}`) {
			t.Errorf("%s gets %s, %v", a.Name, text, err)
		}
	}
}
