package action_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type echoArgs struct {
	ID    kernel.ID      `json:"id" about:"a block" req:"true"`
	Count int            `json:"count" about:"how many" default:"3" min:"1" max:"9"`
	Ratio float64        `json:"ratio" about:"a part"`
	Deep  bool           `json:"deep" about:"all below it"`
	Kind  string         `json:"kind" about:"which" enum:"a,b" default:"a"`
	IDs   []kernel.ID    `json:"ids" about:"blocks" min:"1" unique:"true"`
	Cells []sampleCell   `json:"cells" about:"cells" unique:"row,column"`
	Attrs map[string]any `json:"-"`
	More  struct {
		Text string `json:"text" about:"a text"`
	} `json:"more" about:"an object"`
	Tags  map[string]string `json:"tags" about:"words" list:"json"`
	Edits sampleEdits       `json:"edits" about:"one or several" list:"yes"`
}

// sampleEdits may be one object or a list of objects.
type sampleEdits struct{}

func (sampleEdits) ArgSchema() string {
	const one = `{"type":"object","properties":{"old":{"type":"string"},"all":{"type":"boolean"}},"required":["old"],"additionalProperties":false}`
	return `{"anyOf":[` + one + `,{"type":"array","items":` + one + `}]}`
}

type sampleCell struct {
	Row    string          `json:"row" req:"true"`
	Column string          `json:"column" req:"true"`
	Number float64         `json:"number"`
	Names  []string        `json:"names"`
	On     bool            `json:"isOn"`
	Value  json.RawMessage `json:"value"`
}

// echoAction returns an action whose result is its arguments.
func echoAction() *action.Action {
	return action.New(action.Spec{
		Tool: "test", Name: "echo", Purpose: "Return the arguments", Class: action.Creates, Unguarded: "it is a test",
		Aliases: map[string]string{"block": "id"}, Positional: []string{"id"}, Example: `{"id":"20240101120000-abcdefg"}`,
	}, func(_ context.Context, _ *action.Request, a echoArgs) (any, error) { return a, nil })
}

func TestAdapt(t *testing.T) {
	t.Parallel()
	a := echoAction()
	for name, c := range map[string]struct{ args, want string }{
		"nothing to do":      {`{"id":"x", "count":5}`, `{"id":"x", "count":5}`},
		"alias":              {`{"block":"x"}`, `{"id":"x"}`},
		"alias beside it":    {`{"block":"x","id":"y"}`, `{"block":"x","id":"y"}`},
		"number in a text":   {`{"count":"5","ratio":" 0.5 "}`, `{"count":5,"ratio":0.5}`},
		"no number":          {`{"count":"five"}`, `{"count":"five"}`},
		"truth in a text":    {`{"deep":"True"}`, `{"deep":true}`},
		"text in a number":   {`{"id":5}`, `{"id":"5"}`},
		"one for a list":     {`{"ids":"x"}`, `{"ids":["x"]}`},
		"a list in a text":   {`{"ids":"[\"x\",\"y\"]"}`, `{"ids":["x","y"]}`},
		"an object in text":  {`{"more":"{\"text\":\"t\"}"}`, `{"more":{"text":"t"}}`},
		"null":               {`{"id":"x","count":null,"ids":null}`, `{"id":"x"}`},
		"null where needed":  {`{"id":null,"count":1}`, `{"count":1}`},
		"null beside alias":  {`{"id":null,"block":"x"}`, `{"id":"x"}`},
		"null in a map":      {`{"tags":{"a":null,"b":1}}`, `{"tags":{"b":"1"}}`},
		"null in a form":     {`{"edits":{"old":"a","all":null}}`, `{"edits":{"old":"a"}}`},
		"null in its list":   {`{"edits":[{"old":"a","all":null}]}`, `{"edits":[{"old":"a"}]}`},
		"a form in a text":   {`{"edits":"{\"old\":1}"}`, `{"edits":{"old":"1"}}`},
		"big number":         {`{"count":"9007199254740993"}`, `{"count":9007199254740993}`},
		"unknown stays":      {`{"nope":"5","count":"1"}`, `{"nope":"5","count":1}`},
		"of all actions":     {`{"verbose":"true","validateOnly":"false"}`, `{"verbose":true,"validateOnly":false}`},
		"no object":          {`[1]`, `[1]`},
		"nothing within":     {`{"cells":[{"row":"r", "number":5, "names":["a"]}]}`, `{"cells":[{"row":"r", "number":5, "names":["a"]}]}`},
		"types within":       {`{"cells":[{"row":7,"number":"5","names":"a","isOn":"True"}]}`, `{"cells":[{"row":"7","number":5,"names":["a"],"isOn":true}]}`},
		"lists within":       {`{"cells":[{"names":[1,"b"]}]}`, `{"cells":[{"names":["1","b"]}]}`},
		"one within":         {`{"cells":{"row":"r","number":"5"}}`, `{"cells":[{"row":"r","number":5}]}`},
		"texts within":       {`{"cells":["{\"row\":\"r\",\"number\":\"5\"}"]}`, `{"cells":[{"row":"r","number":5}]}`},
		"a list in text":     {`{"cells":"[{\"number\":\"5\"}]"}`, `{"cells":[{"number":5}]}`},
		"spelling within":    {`{"cells":[{"Row":"r","is_on":true}]}`, `{"cells":[{"row":"r","isOn":true}]}`},
		"spelt twice":        {`{"cells":[{"Row":"r","row":"s"}]}`, `{"cells":[{"Row":"r","row":"s"}]}`},
		"null within":        {`{"cells":[{"row":null,"number":null,"value":null}]}`, `{"cells":[{"row":null,"value":null}]}`},
		"any value within":   {`{"cells":[{"value":"5"}]}`, `{"cells":[{"value":"5"}]}`},
		"unknown within":     {`{"cells":[{"nope":"5"}],"more":{"text":1}}`, `{"cells":[{"nope":"5"}],"more":{"text":"1"}}`},
		"hexadecimal is not": {`{"count":"0x10"}`, `{"count":"0x10"}`},
	} {
		if got := string(a.Adapt(json.RawMessage(c.args), "")); got != c.want {
			t.Errorf("%s: %s became %s, want %s", name, c.args, got, c.want)
		}
	}
}

func TestSchemaAndSignature(t *testing.T) {
	t.Parallel()
	a := echoAction()
	if got, want := a.Signature(), "echo(id, count=3, ratio?, deep?, kind=a, ids?, cells?, more?, tags?, edits?)"; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	if got, want := a.Short(), "echo(id, tags?, edits?, …)"; got != want {
		t.Errorf("short signature %s, want %s", got, want)
	}
	if got, want := string(a.Listed()), `{"id":{"type":"string"},"tags":{"type":"string","description":"JSON"},`+
		`"edits":{"type":"object","properties":{"old":{"type":"string"},"all":{"type":"boolean"}}}}`; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	schema := gjson.ParseBytes(a.Schema())
	for path, want := range map[string]string{
		"properties.id":             `{"type":"string","description":"a block"}`,
		"properties.count":          `{"type":"integer","minimum":1,"maximum":9,"description":"how many","default":3}`,
		"properties.ids":            `{"type":"array","items":{"type":"string"},"minItems":1,"uniqueItems":true,"description":"blocks"}`,
		"properties.kind.enum":      `["a","b"]`,
		"properties.more.type":      `"object"`,
		"required":                  `["id"]`,
		"additionalProperties":      `false`,
		"properties.requestId.type": `"string"`,
	} {
		if got := schema.Get(path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if schema.Get("properties.Attrs").Exists() {
		t.Error("a field without a name is an argument")
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	a := echoAction()
	run := func(args string) (gjson.Result, error) {
		r := action.NewRequest(a, action.Env{}, json.RawMessage(args))
		if err := r.Check(t.Context()); err != nil {
			return gjson.Result{}, err
		}
		raw, err := r.Run(t.Context())
		return gjson.ParseBytes(raw), err
	}
	got, err := run(`{"id":"x","cells":[{"row":"r","column":"a"},{"row":"r","column":"b"}]}`)
	if err != nil || got.Get("count").Int() != 3 || got.Get("kind").String() != "a" {
		t.Errorf("%s, %v: defaults are missing", got.Raw, err)
	}
	for args, want := range map[string]string{
		`{}`:          "id is required",
		`{"id":null}`: "id is required",
		`{"id":"x","cells":[{"row":"r","column":"a"},{"row":"r","column":"a"}]}`: "cells/1 has the same row and column as item 0",
	} {
		if _, err := run(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestWrongSpecsPanic(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]action.Spec{
		"alias":      {Aliases: map[string]string{"x": "nope"}, Example: `{}`},
		"positional": {Positional: []string{"nope"}, Example: `{}`},
		"need":       {Needs: []action.Need{{Param: "nope"}}, Example: `{}`},
		"example":    {Example: `{`},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a spec that contradicts itself is taken", name)
				}
			}()
			action.New(spec, func(context.Context, *action.Request, echoArgs) (any, error) { return nil, nil })
		}()
	}
}

// FuzzAdapt: valid JSON stays valid, and adapting twice is the same as once.
func FuzzAdapt(f *testing.F) {
	a := echoAction()
	for _, seed := range []string{`{"id":"x"}`, `{"count":"5","ids":"[1]","more":"{}"}`, `{"block":1,"id":null}`, `{"a\u0000":{}}`, `{"id":"x","id":"y"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		action.NewRequest(a, action.Env{}, args)
		once := a.Adapt(args, "")
		if json.Valid(args) && !json.Valid(once) {
			t.Fatalf("%s became %s", args, once)
		}
		if !json.Valid(args) || !utf8.Valid(args) { // the transport replaces invalid UTF-8 before
			return
		}
		if again := a.Adapt(once, ""); string(again) != string(once) {
			t.Errorf("%s became %s, and then %s", args, once, again)
		}
	})
}
