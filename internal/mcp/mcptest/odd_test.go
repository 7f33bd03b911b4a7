package mcptest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"collie/internal/mcp/mcptest"
)

func TestOddResultIsValidAndOdd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Int64().Draw(t, "seed")
		size := rapid.IntRange(0, 50_000).Draw(t, "size")
		b := mcptest.OddResult(seed, size)
		if !json.Valid(b) {
			t.Fatal("invalid JSON")
		}
		if bytes.ContainsAny(b, "\n\r") || len(b) < size || !gjson.GetBytes(b, "content.1").IsObject() {
			t.Fatalf("no single line of %d bytes with two contents", size)
		}
		if !bytes.Equal(b, mcptest.OddResult(seed, size)) {
			t.Fatal("the same seed gave other bytes")
		}
		// What makes the result useful: decoding and encoding it does not give the same bytes.
		var v any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(v); bytes.Equal(again, b) {
			t.Fatal("survives decoding and encoding")
		}
		checkNoDuplicateKeys(t, b)
	})
}

func TestOddDefinitionsAreValidTools(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seed")
		names := map[string]bool{}
		for _, d := range mcptest.OddDefinitions(seed) {
			if !json.Valid(d) || len(d) > 256<<10 || bytes.ContainsAny(d, "\n\r") {
				t.Fatalf("not a definition: %.2000s", d)
			}
			checkNoDuplicateKeys(t, d)
			names[gjson.GetBytes(d, "name").Str] = true
			schema := gjson.GetBytes(d, "inputSchema").Raw
			if gjson.Get(schema, "type").Str != "object" {
				t.Fatalf("schema is none of an object: %s", schema)
			}
			compileSchema(t, schema)
		}
		if len(names) != 8 || names[""] {
			t.Fatalf("names %v", names)
		}
	})
}

// compileSchema fails unless schema is a valid JSON Schema.
func compileSchema(t *rapid.T, schema string) {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", v); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile("schema.json"); err != nil {
		t.Fatalf("%v: %.2000s", err, schema)
	}
}

// checkNoDuplicateKeys fails if two keys of one object decode to the same text.
func checkNoDuplicateKeys(t *rapid.T, b []byte) {
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		keys := map[string]bool{}
		v.ForEach(func(k, child gjson.Result) bool {
			if v.IsObject() {
				if keys[k.Str] {
					t.Fatalf("key %q twice in %.500s", k.Str, v.Raw)
				}
				keys[k.Str] = true
			}
			if child.IsObject() || child.IsArray() {
				walk(child)
			}
			return true
		})
	}
	walk(gjson.ParseBytes(b))
}

func TestOddOnTheWire(t *testing.T) {
	t.Parallel()
	const seed, size = 42, 20_000
	got := runInitialized(t, []string{"--odd", "--seed", "42", "--offer", ""},
		listRequest("tools/list", ""), toolCall("2", "odd", fmt.Sprintf(`{"seed":%d,"size":%d}`, seed, size)))
	var want []string
	for _, d := range mcptest.OddDefinitions(seed) {
		want = append(want, string(d))
	}
	if line := `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(want, ",") + `]}}`; got[0] != line {
		t.Errorf("definitions arrived changed: %.500s", got[0])
	}
	if line := `{"jsonrpc":"2.0","id":2,"result":` + string(mcptest.OddResult(seed, size)) + `}`; got[1] != line {
		t.Errorf("the result arrived changed: %.500s", got[1])
	}
}
