package arguments

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/rawjson"
)

// notes is a schema with every kind of argument that flags support.
const notes = `{
	"type": "object",
	"properties": {
		"parentID":  {"type": "string", "description": "Where it goes."},
		"avID":      {"type": ["string", "null"]},
		"dry_run":   {"type": "boolean", "default": false},
		"count":     {"type": "integer"},
		"ratio":     {"type": "number"},
		"tags":      {"type": "array", "items": {"type": "string"}},
		"sizes":     {"type": "array", "items": {"type": "integer"}},
		"filters":   {"type": "array", "items": {"type": "object"}},
		"options":   {"$ref": "#/$defs/options"},
		"mode":      {"enum": ["fast", "slow"]},
		"limit":     {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
		"value":     {},
		"either":    {"type": ["string", "number"]},
		"timeout":   {"type": "integer"},
		"标题":        {"type": "string"},
		"no_wrap":   {"type": "boolean"}
	},
	"required": ["parentID"],
	"$defs": {"options": {"type": "object", "properties": {"deep": {"type": "boolean"}}}}
}`

func reader(schema string) *Reader {
	files := map[string]string{"long.md": "# a\n<b>\n", "bad": "\xff"}
	stdin := func() ([]byte, error) { return []byte("from stdin\n"), nil }
	return &Reader{
		Command: "collie t a", Params: Parameters(json.RawMessage(schema)), Stdin: stdin,
		Globals: func(name string) bool { return name == "json" || name == "timeout" },
		File: func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
	}
}

// mistake reports whether err is an [*Error], which is about the words of the command line.
func mistake(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

func TestFlagsBecomeArguments(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"", `{}`},
		{"--parentID a", `{"parentID":"a"}`},
		{"--parent-id a", `{"parentID":"a"}`},
		{"--PARENT_ID=a", `{"parentID":"a"}`},
		{"--parentid a", `{"parentID":"a"}`},
		{"--av-id x", `{"avID":"x"}`},
		{"--标题 你好", `{"标题":"你好"}`},
		{"--parent-id <&>", `{"parentID":"<&>"}`},
		{"--parent-id -x", `{"parentID":"-x"}`},
		{"--parent-id --strange", `{"parentID":"--strange"}`},
		{"--parent-id --count=x --count=1", `{"parentID":"--count=x"}|needs a value`},
		{"--parent-id= --count 1", `{"parentID":"","count":1}`},
		{"--parent-id @long.md", `{"parentID":"# a\n<b>\n"}`},
		{"--parent-id -", `{"parentID":"from stdin\n"}`},
		{"--parent-id @@long.md", `{"parentID":"@long.md"}`},
		{"--parent-id 5", `{"parentID":"5"}`},
		{"--dry-run", `{"dry_run":true}`},
		{"--no-dry-run", `{"dry_run":false}`},
		{"--dry-run true", `{"dry_run":true}`},
		{"--dry-run false --count 1", `{"dry_run":false,"count":1}`},
		{"--dryRun=false", `{"dry_run":false}`},
		{"--no-dry-run=false", `{"dry_run":true}`},
		{"--no-wrap", `{"no_wrap":true}`},
		{"--no-no-wrap", `{"no_wrap":false}`},
		{"--count 12345678901234567890123", `{"count":12345678901234567890123}`},
		{"--count -5", `{"count":-5}`},
		{"--ratio 1.50", `{"ratio":1.50}`},
		{"--ratio 3", `{"ratio":3}`},
		{"--tags a,b --tags c", `{"tags":["a","b","c"]}`},
		{`--tags a\,b,c`, `{"tags":["a,b","c"]}`},
		{`--tags C:\dir`, `{"tags":["C:\\dir"]}`},
		{"--tags 1,true", `{"tags":["1","true"]}`},
		{"--tags=", `{"tags":[]}`},
		{`--tags-json ["a,b"]`, `{"tags":["a,b"]}`},
		{`--tags a --tags-json ["b"]`, `{"tags":["b"]}`},
		{"--sizes 1,2", `{"sizes":[1,2]}`},
		{`--filters-json [{"a":1}]`, `{"filters":[{"a":1}]}`},
		{`--options {"deep":true}`, `{"options":{"deep":true}}`},
		{`--options-json {"deep":1e400}`, `{"options":{"deep":1e400}}`},
		{"--mode fast", `{"mode":"fast"}`},
		{"--limit 3", `{"limit":3}`},
		{"--limit-json null", `{"limit":null}`},
		{"--value 1", `{"value":1}`},
		{"--value {", `{"value":"{"}`},
		{"--either 1", `{"either":1}`},
		{"--either true", `{"either":"true"}`},
		{"-- --timeout 5", `{"timeout":5}`},
		{"--count 1 --parent-id a", `{"parentID":"a","count":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			want, problem, fails := strings.Cut(tt.want, "|")
			got, err := reader(notes).Read(strings.Fields(tt.line), nil)
			if fails {
				if err == nil || !strings.Contains(err.Error(), problem) {
					t.Errorf("read(%q) = %s, %v, want an error with %q", tt.line, got, err, problem)
				}
				return
			}
			if err != nil || string(got) != want {
				t.Errorf("read(%q) = %s, %v, want %s", tt.line, got, err, want)
			}
		})
	}
}

func TestFlagsThatDoNotFit(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"--parnt-id a", "unknown flag --parnt-id; did you mean --parent-id?"},
		{"--zzz a", "flags of collie t a: --parent-id, --av-id, --dry-run"},
		{"word", `unexpected argument "word"`},
		{"--dry-run maybe", `unexpected argument "maybe"`},
		{"--no-dry-run true", `unexpected argument "true"`},
		{"--dry-run=maybe", "expected true or false"},
		{"--parent-id", "--parent-id needs a value: a text, @FILE or - for stdin"},
		{"--parent-id --json", "needs a value"},
		{"--parent-id --", "needs a value"},
		{"--parent-id a --parentID b", "given twice"},
		{"--count 1.5", `--count is "1.5", expected a whole number`},
		{"--count x", "a whole number"},
		{"--count 007", "a whole number"},
		{"--ratio x", "a number"},
		{"--sizes 1,x", `the item "x"`},
		{`--tags ["a"]`, `--tags-json '["a"]'`},
		{"--tags-json a", "not valid JSON"},
		{`--tags-json "a"`, "must be a JSON array"},
		{"--filters a", "--filters-json"},
		{"--options a", "a JSON object"},
		{"--options [1]", "a JSON object"},
		{"--parent-id @missing", "write @@missing for a text"},
		{"--parent-id @bad", "not UTF-8"},
		{"--no-count", "unknown flag --no-count"},
		{"--timeout", "needs a value"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			got, err := reader(notes).Read(strings.Fields(tt.line), nil)
			if !mistake(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("read(%q) = %s, %v, want a usage error with %q", tt.line, got, err, tt.want)
			}
		})
	}
}

func TestFlagsOfAnActionWithoutAny(t *testing.T) {
	t.Parallel()
	_, err := reader(`{"type":"object"}`).Read([]string{"--x"}, nil)
	if err == nil || !strings.Contains(err.Error(), "--args") {
		t.Errorf("error is %v, want one that points to --args", err)
	}
}

func TestSpellingsThatClash(t *testing.T) {
	t.Parallel()
	const schema = `{"properties":{"a_b":{"type":"string"},"aB":{"type":"string"}}}`
	got, err := reader(schema).Read([]string{"--a_b", "1", "--aB", "2"}, nil)
	if err != nil || string(got) != `{"a_b":"1","aB":"2"}` {
		t.Errorf("exact spellings give %s, %v", got, err)
	}
	if _, err := reader(schema).Read([]string{"--a-b", "1"}, nil); err == nil || !strings.Contains(err.Error(), "--a_b or --aB") {
		t.Errorf("error is %v, want both names", err)
	}
}

func TestFlagsIntoArgs(t *testing.T) {
	t.Parallel()
	tests := []struct{ start, line, want string }{
		{start: `{ "x": 1.0,"parentID":"<" }`, want: `{ "x": 1.0,"parentID":"<" }`},
		{start: `{ "x": 1.0,"parentID":"<" }`, line: "--count 1", want: `{"x":1.0,"parentID":"<","count":1}`},
		{start: `{"parentID":"a","x":1}`, line: "--parent-id b", want: `{"parentID":"b","x":1}`},
		{start: `{"parentID":"a","parentID":"c"}`, line: "--parent-id b", want: `{"parentID":"b"}`},
	}
	for _, tt := range tests {
		got, err := reader(notes).Read(strings.Fields(tt.line), json.RawMessage(tt.start))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s with %q = %s, %v, want %s", tt.start, tt.line, got, err, tt.want)
		}
	}
}

// TestAnyValueFindsItsWay writes random arguments as flags, in random spelling and order, and checks that Read returns the
// same arguments.
func TestAnyValueFindsItsWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{2,5}(_[a-z]{2,5}){0,2}`), 1, 6, Normalize).Draw(t, "names")
		names = slices.DeleteFunc(names, func(n string) bool { return n == "json" || n == "timeout" || strings.HasPrefix(n, "no_") })
		want := map[string]any{}
		var schema []string
		var flags [][]string
		for _, name := range names {
			typ := rapid.SampledFrom([]string{"string", "integer", "boolean", "array", "object"}).Draw(t, "type")
			spelt := "--" + rapid.SampledFrom([]string{name, Kebab(name), strings.ToUpper(name), strings.ReplaceAll(name, "_", "")}).Draw(t, "spelling")
			text := rapid.StringMatching(`[^@\-][a-zA-Z <>&"\\'é笔=,]*`)
			switch typ {
			case "string":
				v := text.Draw(t, "text")
				want[name] = v
				flags = append(flags, []string{spelt + "=" + v})
			case "integer":
				v := new(big.Int).Lsh(big.NewInt(rapid.Int64().Draw(t, "number")), uint(rapid.IntRange(0, 99).Draw(t, "shift"))).String()
				want[name] = json.Number(v)
				flags = append(flags, []string{spelt, v})
			case "boolean":
				v := rapid.Bool().Draw(t, "truth")
				want[name] = v
				if !v {
					spelt = "--no-" + spelt[2:]
				}
				flags = append(flags, []string{spelt})
			case "array":
				items := rapid.SliceOfN(text, 1, 4).Draw(t, "items")
				value, escaped := []any{}, []string{}
				for _, item := range items {
					value = append(value, item)
					escaped = append(escaped, strings.ReplaceAll(item, ",", `\,`))
				}
				joined := strings.Join(escaped, ",")
				if strings.Contains(joined, `\\,`) || joined[0] == '[' || slices.ContainsFunc(items, func(s string) bool { return strings.HasSuffix(s, `\`) }) {
					t.Skip("a backslash before a comma has no plain form")
				}
				want[name] = value
				flags = append(flags, []string{spelt + "=" + joined})
			case "object":
				want[name] = map[string]any{"k": json.Number("1")}
				flags = append(flags, []string{spelt + "-json", `{"k":1}`})
			}
			schema = append(schema, fmt.Sprintf("%q:{%q:%q,%q:{%q:%q}}", name, "type", typ, "items", "type", "string"))
		}
		var tokens []string
		for _, f := range rapid.Permutation(flags).Draw(t, "order") {
			tokens = append(tokens, f...)
		}
		raw, err := reader(`{"properties":{`+strings.Join(schema, ",")+`}}`).Read(tokens, nil)
		if err != nil {
			t.Fatalf("read(%q): %v", tokens, err)
		}
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		var got map[string]any
		if err := d.Decode(&got); err != nil {
			t.Fatalf("read(%q) = %s: %v", tokens, raw, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("read(%q) = %s\n%s", tokens, raw, diff)
		}
		var order []string
		rawjson.EachMember(raw, func(name string, _, _ json.RawMessage) { order = append(order, name) })
		if !slices.Equal(order, names) {
			t.Fatalf("members are in the order %q, want that of the schema, %q", order, names)
		}
	})
}

// FuzzFlags checks that any schema and any command line give either an [*Error] or a JSON object whose members are all
// parameters.
func FuzzFlags(f *testing.F) {
	f.Add(notes, "--parent-id\na\n--tags\na,b\n--count\n1")
	f.Add(notes, "--options-json\n{}\n--no-dry-run\n--\n--timeout\n5")
	f.Add(`{"$ref":"#","anyOf":[{"$ref":"#"}]}`, "--x\n1")
	f.Add(`{"properties":{"":{},"-":{},"a.b":{"anyOf":[{"$ref":"#/properties/a.b"}]}}}`, "---\n1\n--a.b\n2")
	f.Add(`{"properties":[1],"oneOf":{"a":1},"required":{}}`, "--0\n1")
	f.Add(`nonsense`, "--x")
	f.Fuzz(func(t *testing.T, schema, line string) {
		r := reader(schema)
		got, err := r.Read(strings.Split(line, "\n"), nil)
		if err != nil {
			if !mistake(err) {
				t.Fatalf("error is %T: %v", err, err)
			}
			return
		}
		if !json.Valid(got) || got[0] != '{' {
			t.Fatalf("arguments are not a JSON object: %s", got)
		}
		known := map[string]bool{}
		for _, p := range r.Params {
			known[p.Name] = true
		}
		rawjson.EachMember(got, func(name string, _, _ json.RawMessage) {
			if !known[name] {
				t.Errorf("%q is not a parameter: %s", name, got)
			}
		})
	})
}

func TestParameters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema string
		want   []string // flag type
	}{
		{notes, []string{
			"parent-id string", "av-id string", "dry-run boolean", "count integer", "ratio number", "tags string[]",
			"sizes integer[]", "filters object[]", "options object", "mode string", "limit integer", "value any",
			"either string|number", "timeout integer", "标题 string", "no-wrap boolean",
		}},
		{`{"oneOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"type":"integer"},"b":{"const":true}}}]}`, []string{"a string", "b boolean"}},
		{`{"$ref":"#/$defs/x~1y","$defs":{"x/y":{"properties":{"a":{"items":{}}}}}}`, []string{"a array"}},
		{`{"properties":{"a":{"$ref":"#/properties/a"}}}`, []string{"a any"}},
		{`{"properties":{"a":{"$ref":"http://example.com/x"}}}`, []string{"a any"}},
		{`{"properties":{"a":true,"b":{"anyOf":[{"type":"string"},{}]}}}`, []string{"a any", "b any"}},
		{`{"properties":{"a":{"allOf":[{"description":"x"},{"type":"string"}]}}}`, []string{"a string"}},
	}
	for _, tt := range tests {
		var got []string
		for _, p := range Parameters(json.RawMessage(tt.schema)) {
			got = append(got, p.Flag+" "+p.TypeName())
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("parameters of %s\n are %q,\nwant %q", tt.schema, got, tt.want)
		}
	}
}
