package jsonc_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/jsonc"
)

func TestParseErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	tooDeep := strings.Repeat("[", jsonc.MaxDepth+1)
	for name, tc := range map[string]struct{ text, want string }{
		"missing value":      {"{\n  \"a\": ,\n}", "2:8: "},
		"columns are runes":  {`{"名字": x}`, "1:8: "},
		"not UTF-8":          {"{\n\"a\": \"\xff\"}", "2:7: the file is not UTF-8"},
		"UTF-16":             {"\xff\xfe{\x00", "1:1: the file is UTF-16"},
		"deep":               {"\n" + tooDeep, "2:65: nested deeper than 64 levels"},
		"deep object names":  {strings.Repeat("{", 100), "1:65: nested deeper"},
		"unclosed comment":   {"{} /* x", "1:4: "},
		"something after it": {"{} 1", "1:4: "},
		"with a BOM":         {"\xef\xbb\xbf{x}", "1:2: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := jsonc.Parse([]byte(tc.text))
			if _, ok := errors.AsType[*jsonc.Error](err); !ok {
				t.Fatalf("error %v is not a *jsonc.Error", err)
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got %q, want it to start with %q", err, tc.want)
			}
		})
	}
}

func TestParseTakesWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":               {" \n", `{}`},
		"BOM alone":             {"\xef\xbb\xbf", `{}`},
		"BOM and comments":      {"\xef\xbb\xbf// hello\n{\"a\": /* 1 */ 2,}", `{"a":2}`},
		"comment at the end":    {"{} // end", `{}`},
		"brackets in a string":  {`{"a": "` + strings.Repeat("[", 100) + `"}`, `{"a":"` + strings.Repeat("[", 100) + `"}`},
		"brackets in comments":  {"/*" + strings.Repeat("{", 100) + "*/{}//" + strings.Repeat("{", 100), `{}`},
		"numbers stay as given": {`{"a": 9007199254740993.0}`, `{"a":9007199254740993.0}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := jsonc.Parse([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(jsonc.Standard(d.Root())); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	d, err := jsonc.Parse([]byte("{\n \"a\": [{\"x/y\": 1, \"x\\u002fy\": 2}],\n \"b\": 1,\n \"b\": 2}"))
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		Pointer, Name string
		Line, Column  int
	}
	var got []place
	for _, dup := range d.Duplicates() {
		line, column := d.Position(dup.Offset)
		got = append(got, place{dup.Pointer, dup.Name, line, column})
	}
	want := []place{{Pointer: "/a/0/x~1y", Name: "x/y", Line: 2, Column: 19}, {Pointer: "/b", Name: "b", Line: 4, Column: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "0", "x/y"}, jsonc.Split("/a/0/x~1y")); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, path, value, want string }{
		"blank text":       {text: "\n", path: "/s/a", value: `{"command":"x","args":["1","2"]}`, want: "{\n  \"s\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"args\": [\"1\", \"2\"]\n    }\n  }\n}\n"},
		"empty object":     {text: "{}", path: "/a", value: `1`, want: "{\n  \"a\": 1\n}"},
		"only a comment":   {text: "{\n  // note\n}\n", path: "/a", value: `1`, want: "{\n  // note\n  \"a\": 1\n}\n"},
		"after the last":   {text: "{\n\t\"a\": 1\n}\n", path: "/b", value: `[]`, want: "{\n\t\"a\": 1,\n\t\"b\": []\n}\n"},
		"after a comment":  {text: "{\n  \"a\": 1 // one\n}", path: "/b", value: `{}`, want: "{\n  \"a\": 1, // one\n  \"b\": {}\n}"},
		"trailing comma":   {text: "{\n  \"a\": 1, // one\n  // \"c\": 3\n}", path: "/b", value: `2`, want: "{\n  \"a\": 1, // one\n  \"b\": 2,\n  // \"c\": 3\n}"},
		"one line":         {text: `{"a": 1}`, path: "/b", value: `{ "c": 2 }`, want: `{"a": 1, "b": {"c":2}}`},
		"one line, comma":  {text: `{"a": 1,}`, path: "/b", value: `2`, want: `{"a": 1, "b": 2,}`},
		"CRLF":             {text: "{\r\n  \"a\": 1 // x\r\n}\r\n", path: "/b", value: `2`, want: "{\r\n  \"a\": 1, // x\r\n  \"b\": 2\r\n}\r\n"},
		"BOM":              {text: "\xef\xbb\xbf{\n  \"a\": 1\n}", path: "/b", value: `2`, want: "\xef\xbb\xbf{\n  \"a\": 1,\n  \"b\": 2\n}"},
		"replace":          {text: "{\"a\": /* x */ 1 /* y */}", path: "/a", value: `"z"`, want: "{\"a\": /* x */ \"z\" /* y */}"},
		"replace by block": {text: "{\n  \"a\": 1\n}", path: "/a", value: `{"b":{"c":[{"d":1}]}}`, want: "{\n  \"a\": {\n    \"b\": {\n      \"c\": [\n        {\n          \"d\": 1\n        }\n      ]\n    }\n  }\n}"},
		"same value":       {text: "{ \"a\" : {\"x\":1, /* c */ \"y\":[2]} }", path: "/a", value: `{"y":[2],"x":1}`, want: "{ \"a\" : {\"x\":1, /* c */ \"y\":[2]} }"},
		"null on the way":  {text: "{\n  \"s\": null\n}", path: "/s/a", value: `1`, want: "{\n  \"s\": {\n    \"a\": 1\n  }\n}"},
		"empty inside":     {text: "{\n  \"s\": { }\n}", path: "/s/a", value: `1`, want: "{\n  \"s\": {\n    \"a\": 1\n  }\n}"},
		"missing parents":  {text: "{\n  \"x\": 0\n}", path: "/s/t", value: `1`, want: "{\n  \"x\": 0,\n  \"s\": {\n    \"t\": 1\n  }\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonc.Set([]byte(tc.text), jsonc.Split(tc.path), json.RawMessage(tc.value))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, path, want string }{
		"first line":       {"{\n  \"a\": 1, // one\n  \"b\": 2\n}", "/a", "{\n  \"b\": 2\n}"},
		"last line":        {"{\n  \"a\": 1, // one\n  \"b\": {\n    \"c\": 3\n  }\n}", "/b", "{\n  \"a\": 1 // one\n}"},
		"trailing comma":   {"{\n  \"a\": 1,\n  \"b\": 2,\n}", "/b", "{\n  \"a\": 1,\n}"},
		"the only one":     {"{\n  // note\n  \"a\": 1\n}", "/a", "{\n  // note\n}"},
		"inside one line":  {`{"a": 1, "b": 2, "c": 3}`, "/b", `{"a": 1, "c": 3}`},
		"end of one line":  {`{"a": 1, "b": 2}`, "/b", `{"a": 1}`},
		"start, one line":  {`{"a": 1, "b": 2}`, "/a", `{"b": 2}`},
		"only one, inline": {`{"a": 1}`, "/a", `{}`},
		"deeper, CRLF":     {"{\r\n  \"s\": {\r\n    \"a\": 1,\r\n    \"b\": 2\r\n  }\r\n}", "/s/a", "{\r\n  \"s\": {\r\n    \"b\": 2\r\n  }\r\n}"},
		"comma in front":   {"{\n  \"a\": 1 // one\n  , \"b\": 2\n}", "/b", "{\n  \"a\": 1 // one\n  \n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := jsonc.Remove([]byte(tc.text), jsonc.Split(tc.path))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	t.Parallel()
	if _, err := jsonc.Remove([]byte(`{"a": {}}`), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), `"/a/b"`) {
		t.Errorf("remove of a missing member: %v", err)
	}
	if _, err := jsonc.Set([]byte(`{"a": [1]}`), []string{"a", "b"}, json.RawMessage(`1`)); err == nil || !strings.Contains(err.Error(), `"/a" is not an object`) {
		t.Errorf("set below an array: %v", err)
	}
	if _, err := jsonc.Set([]byte(`{}`), []string{"a"}, json.RawMessage(`nope`)); err == nil {
		t.Error("set to something that is not JSON: no error")
	}
}
