package validate_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"collie/internal/pipeline/validate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
	"collie/test/await"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// answerEmpty answers a call with an empty object.
func answerEmpty(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{Raw: []byte(`{}`)}, nil
}

func newCall(a *tool.Action, args string) *tool.Call {
	return &tool.Call{Request: tool.Request{Kind: tool.KindCall, Name: "srv__do"}, Tool: "srv", Action: a, Args: []byte(args)}
}

// outcomeText returns an error as the files in testdata spell it: "fits" for nil, otherwise the message followed by the fields.
func outcomeText(err error) string {
	if err == nil {
		return "fits\n"
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Invalid {
		return fmt.Sprintf("an error of the wrong kind: %v\n", err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, e.Message)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "  %q %s\n", f.Path, f.Message)
	}
	return b.String()
}

func TestMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arc, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			action := &tool.Action{Name: "do", Strict: strings.HasPrefix(name, "strict_"), InputSchema: arc.Files[0].Data}
			var log bytes.Buffer
			stage := validate.New(validate.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			for i := 1; i+1 < len(arc.Files); i += 2 {
				args, want := arc.Files[i], &arc.Files[i+1]
				_, err := tooltest.Checked(t.Context(), stage.Check, newCall(action, string(args.Data)), answerEmpty)
				got := outcomeText(err)
				if *update {
					want.Data = []byte(got)
				} else if diff := cmp.Diff(string(want.Data), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", args.Name, diff)
				}
			}
			if log.Len() > 0 {
				t.Errorf("the schema is not applied: %s", log.String())
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(arc), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestErrorNamesActionAndSchema(t *testing.T) {
	t.Parallel()
	a := &tool.Action{Name: "do", InputSchema: []byte(`{"type":"object","required":["path"]}`)}
	_, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, newCall(a, `{}`), answerEmpty)
	got, _ := errors.AsType[*tool.Error](err)
	const message = `required argument "path" is missing; none are given`
	want := &tool.Error{
		Op: "call", Kind: tool.Invalid, Subject: "srv.do", Message: message, Hint: "see the inputSchema of srv__do",
		Fields: []tool.Field{{Path: "/path", Message: message}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestOtherKindsPass(t *testing.T) {
	t.Parallel()
	never := &tool.Action{InputSchema: []byte(`false`)}
	stage := validate.New(validate.Options{})
	for _, c := range []*tool.Call{
		{Request: tool.Request{Kind: tool.KindRead}, Args: []byte(`[`)},
		{Request: tool.Request{Kind: tool.KindComplete}, Action: never},
		{Request: tool.Request{Kind: tool.KindCall}, Args: []byte(`[`)},
		{Request: tool.Request{Kind: tool.KindCall}, Action: &tool.Action{}, Args: []byte(`{"any":"thing"}`)},
	} {
		if r, err := tooltest.Checked(t.Context(), stage.Check, c, answerEmpty); err != nil || r.Raw == nil {
			t.Errorf("%+v: error %v, want it to run", c, err)
		}
	}
	if _, err := tooltest.Checked(t.Context(), stage.Check, newCall(never, `{}`), answerEmpty); err == nil {
		t.Error("a call that must be refused ran")
	}
}

func TestArgumentsReachTheServerAsTheyCame(t *testing.T) {
	t.Parallel()
	a := &tool.Action{InputSchema: []byte(`{"properties":{"n":{"type":"integer"}}}`)}
	const args = " {\"n\" : 1.0,\"a\":\"\\u0041\"}\n"
	c := newCall(a, args)
	if _, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, c, answerEmpty); err != nil || string(c.Args) != args {
		t.Errorf("error %v, arguments %q, want %q", err, c.Args, args)
	}
}

// logged returns a stage and its log.
func logged() (*validate.Stage, *bytes.Buffer) {
	var log bytes.Buffer
	return validate.New(validate.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

// The schema of our own action is used without checking it against the metaschema, because tests of its
// authors do that. The same schema from a server is rejected as a whole.
func TestOwnSchemasWaitForNoMetaschema(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		stage, log := logged()
		a := &tool.Action{Strict: own, InputSchema: []byte(`{"properties":{"a":{"type":"string"},"b":{"minimum":"1"}},"additionalProperties":false}`)}
		_, err := tooltest.Checked(t.Context(), stage.Check, newCall(a, `{"a":[1]}`), answerEmpty)
		if refused, told := err != nil, log.Len() > 0; refused != own || told == own {
			t.Errorf("a schema of our own: %v; refused: %v, logged: %q", own, err, log)
		}
	}
}

func TestBrokenSchemasAreNotApplied(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, `{"type":"string"}`)
	}))
	t.Cleanup(server.Close)
	local := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(local, []byte(`false`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]string{
		"no JSON":             `{"type":`,
		"no schema":           `42`,
		"unknown type":        `{"type":"text"}`,
		"wrong keyword":       `{"type":"object","required":"path"}`,
		"remote reference":    `{"properties":{"a":{"$ref":"` + server.URL + `/a.json"}}}`,
		"remote through $id":  `{"$id":"` + server.URL + `/","properties":{"a":{"$ref":"b.json"}}}`,
		"remote dialect":      `{"$schema":"` + server.URL + `/meta","type":"object"}`,
		"file":                `{"$ref":"file://` + filepath.ToSlash(local) + `"}`,
		"relative file":       `{"$ref":"schema.json"}`,
		"missing definition":  `{"$ref":"#/$defs/none"}`,
		"leads to itself":     `{"$ref":"#"}`,
		"two that are a ring": `{"$defs":{"a":{"anyOf":[{"type":"object"},{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`,
		"dynamic reference":   `{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"},"b":{"$id":"collie://b","$dynamicAnchor":"n"}}}`,
		"dynamic ring":        `{"$dynamicAnchor":"n","allOf":[{"$dynamicRef":"#n"}]}`,
		"property pattern":    `{"patternProperties":{"^(?!x)":false}}`,
		"too many schemas":    `{"properties":{` + strings.Repeat(`"a":{},`, 10) + `"b":{"enum":[` + strings.Repeat(`{},`, 6000) + `{}]}}}`,
		"two anchors":         `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage, log := logged()
			a := &tool.Action{Name: "do", InputSchema: []byte(schema)}
			for _, args := range []string{`{}`, `{"a":5,"x":1}`, `{"path":null}`} {
				if _, err := tooltest.Checked(t.Context(), stage.Check, newCall(a, args), answerEmpty); err != nil {
					t.Errorf("%s: %v", args, err)
				}
			}
			if _, err := tooltest.Checked(t.Context(), stage.Check, newCall(a, `[]`), answerEmpty); err == nil {
				t.Error("arguments that are not an object passed")
			}
			if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "tool=srv action=do") {
				t.Errorf("warned %d times, want once, with the action:\n%s", n, log.String())
			}
		})
	}
	t.Cleanup(func() {
		if n := requests.Load(); n != 0 {
			t.Errorf("a schema made %d requests", n)
		}
	})
}

// A server's schema cannot keep a processor busy for long.
func TestCostIsBounded(t *testing.T) {
	t.Parallel()
	var ladder strings.Builder // each definition refers to the next one twice: 2^60 steps
	for i := range 60 {
		fmt.Fprintf(&ladder, `"r%d":{"anyOf":[{"$ref":"#/$defs/r%d"},{"$ref":"#/$defs/r%d"}]},`, i, i+1, i+1)
	}
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for name, tt := range map[string]struct{ schema, args string }{
		"references": {`{"$defs":{` + ladder.String() + `"r60":{"type":"string"}},"$ref":"#/$defs/r0"}`, `{}`},
		"names":      {`{"$defs":{` + ladder.String() + `"r60":{"maxLength":0}},"propertyNames":{"$ref":"#/$defs/r0"}}`, `{"a":1}`},
		"recursion":  {`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, deep},
		"numbers":    {`{"properties":{"a":{"uniqueItems":true,"items":{"type":"integer","multipleOf":1e-1000000}}}}`, `{"a":[` + strings.Repeat("1e1000000,", 2000) + `1]}`},
		"digits":     {`{"properties":{"a":{"multipleOf":7}}}`, `{"a":` + strings.Repeat("9", 4<<20) + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := validate.New(validate.Options{})
			start := time.Now()
			_, err := tooltest.Checked(t.Context(), stage.Check, newCall(&tool.Action{InputSchema: []byte(tt.schema)}, tt.args), answerEmpty)
			await.Within(t, "checking", time.Since(start), 25*time.Second)
			if (name == "references" || name == "names" || name == "recursion") && !strings.Contains(outcomeText(err), "too many steps") {
				t.Errorf("outcome %s", outcomeText(err))
			}
		})
	}
}

// Only the first few wrong values are reported; the rest is not collected.
func TestManyWrongValues(t *testing.T) {
	t.Parallel()
	var names strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&names, `"n%05d":1,`, i)
	}
	items := `{"a":[` + strings.Repeat("1,", 1<<17) + `1]}`
	object := `{"a":{` + names.String() + `"z":1}}`
	const tooMany = "the arguments cannot be checked: they hold too many values for a schema with these keywords; send less at once"
	for name, tt := range map[string]struct{ schema, args, want string }{
		"items":       {`{"properties":{"a":{"items":{"type":"string"}}}}`, items, `argument "/a/0": expected string such as "1", got integer 1 (and 9 more)`},
		"items after": {`{"properties":{"a":{"prefixItems":[true],"items":{"type":"string"}}}}`, items, `argument "/a/1": expected string such as "1", got integer 1 (and 9 more)`},
		"draft 7":     {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":{"type":"string"}}}}`, items, `argument "/a/0": expected string such as "1", got integer 1 (and 9 more)`},
		"values":      {`{"properties":{"a":{"additionalProperties":{"type":"string"}}}}`, object, `argument "/a/n00000": expected string such as "1", got integer 1 (and 9 more)`},
		"names":       {`{"properties":{"a":{"additionalProperties":false}}}`, object, `unknown field "n00000" in "/a"; none is known here (and 9 more)`},
		"contains":    {`{"properties":{"a":{"contains":{"type":"string"}}}}`, items, tooMany},
		"patterns":    {`{"properties":{"a":{"patternProperties":{"^n":{"type":"string"}}}}}`, object, tooMany},
		"any":         {`{"properties":{"a":{"type":"array"}}}`, `{"a":[` + strings.Repeat("1,", 2<<20) + `1]}`, "the arguments cannot be checked: they hold more than 2000000 values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, newCall(&tool.Action{InputSchema: []byte(tt.schema)}, tt.args), answerEmpty)
			got, _, _ := strings.Cut(outcomeText(err), "\n")
			if got != tt.want {
				t.Errorf("message %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRecursiveSchemasServeNormalArguments(t *testing.T) {
	t.Parallel()
	a := &tool.Action{InputSchema: []byte(`{"$defs":{"n":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/n"}},"name":{"type":"string"}}}},"properties":{"root":{"$ref":"#/$defs/n"}}}`)}
	args := `{"root":{"kids":[` + strings.Repeat(`{"name":"a","kids":[{},{}]},`, 20_000) + `{}]}}`
	if _, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, newCall(a, args), answerEmpty); err != nil {
		t.Error(err)
	}
}

// A large, honest schema may have many variants for many values.
func TestLargeUnionsServeNormalArguments(t *testing.T) {
	t.Parallel()
	var forms []string
	for i := range 100 {
		forms = append(forms, fmt.Sprintf(`{"properties":{"kind":{"const":"k%d"},"a":{"type":"string"},"b":{"type":"integer"}},"required":["kind"]}`, i))
	}
	a := &tool.Action{InputSchema: []byte(`{"properties":{"steps":{"items":{"anyOf":[` + strings.Join(forms, ",") + `]}}}}`)}
	args := `{"steps":[` + strings.Repeat(`{"kind":"k99","a":"x","b":1},`, 5_000) + `{"kind":"k50"}]}`
	if _, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, newCall(a, args), answerEmpty); err != nil {
		t.Error(err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	stage, log := logged()
	schemas := []string{
		`{"properties":{"n":{"type":"integer"}}}`,
		`{"$defs":{"n":{"properties":{"n":{"type":"integer"},"x":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`,
		`{"$ref":"https://example.com/"}`,
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			for j := range 50 {
				k := (i + j) % len(schemas)
				a := &tool.Action{InputSchema: []byte(schemas[k])}
				if _, err := tooltest.Checked(t.Context(), stage.Check, newCall(a, `{"n":1,"x":{"n":2}}`), answerEmpty); err != nil {
					t.Errorf("schema %d: %v", k, err)
				}
				if _, err := tooltest.Checked(t.Context(), stage.Check, newCall(a, `{"n":"one"}`), answerEmpty); (err == nil) != (k == 2) {
					t.Errorf("schema %d: error %v", k, err)
				}
			}
		})
	}
	wg.Wait()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("warned %d times of one broken schema, want once", n)
	}
}

func TestMessagesAreDeterministic(t *testing.T) {
	t.Parallel()
	a := &tool.Action{Strict: true, InputSchema: []byte(`{"properties":{"a":{"type":"string"},"b":{"anyOf":[{"required":["x","y"],"additionalProperties":false},{"properties":{"q":false,"r":false}}]},"c":{"minimum":5}},"required":["d","e"],"dependentRequired":{"a":["f"],"b":["g"]}}`)}
	const args = `{"a":1,"b":{"q":1,"r":2,"s":3},"c":1,"u":1,"v":2,"w":3}`
	var first string
	for range 50 {
		_, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, newCall(a, args), answerEmpty)
		if got := outcomeText(err); first == "" {
			first = got
		} else if got != first {
			t.Fatalf("two runs differ:\n%s\n%s", first, got)
		}
	}
}

// Whatever is wrong, the message is one short line and reveals no secrets.
func TestMessagesAreShortLines(t *testing.T) {
	t.Parallel()
	a := &tool.Action{Strict: true, InputSchema: []byte(`{"properties":{"n":{"type":"integer"},"password":{"type":"integer"},"e":{"enum":["a","b"]},"p":{"pattern":"^\n$"},"l":{"maxItems":0}}}`)}
	stage := validate.New(validate.Options{})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.SampledFrom([]string{"n", "e", "p"}), rapid.String()).Draw(t, "name")
		val := rapid.StringN(0, 400, -1).Draw(t, "value")
		args := fmt.Sprintf(`{%s:%s,"password":"hunter2-%s"}`, jsonString(name), jsonString(val), strings.Repeat("x", len(val)%7))
		_, err := tooltest.Checked(context.Background(), stage.Check, newCall(a, args), answerEmpty)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok {
			t.Fatalf("a wrong password passed: %v", err)
		}
		for _, line := range append([]tool.Field{{Message: e.Message}}, e.Fields...) {
			if strings.ContainsAny(line.Message, "\r\n") || len([]rune(line.Message)) > 400 {
				t.Fatalf("message %q is not a short line", line.Message)
			}
			if strings.Contains(line.Message, "hunter2") {
				t.Fatalf("message %q tells a secret", line.Message)
			}
		}
	})
}

// Messages show a number whose name tells of a token limit, such as max_tokens, but not the value of a token or a password.
func TestNumbersOfTokensAreShown(t *testing.T) {
	t.Parallel()
	stage := validate.New(validate.Options{})
	for name, shown := range map[string]bool{
		"tokenBudget": true, "max_tokens": true, "tokenLimit": true, "maxOutputTokens": true,
		"token": false, "accessToken": false, "tokens": false, "token_budget_password": false,
	} {
		a := &tool.Action{InputSchema: fmt.Appendf(nil, `{"properties":{%q:{"type":"integer","maximum":32000}}}`, name)}
		_, err := tooltest.Checked(context.Background(), stage.Check, newCall(a, fmt.Sprintf(`{%q:100000}`, name)), answerEmpty)
		if err == nil {
			t.Fatalf("%s: too large a number passed", name)
		}
		if got := strings.Contains(err.Error(), "100000"); got != shown {
			t.Errorf("%s: the number is shown: %t, want %t: %v", name, got, shown, err)
		}
	}
}
