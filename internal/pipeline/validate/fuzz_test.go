package validate_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"collie/internal/pipeline/validate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

func jsonString(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// FuzzDo: with any schema and any arguments, the stage either accepts or refuses, and the payload of a
// refusal is JSON.
func FuzzDo(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		arc, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, args := range arc.Files[1:] {
			if strings.HasPrefix(args.Name, "args") && len(args.Data) < 1000 {
				f.Add(arc.Files[0].Data, args.Data, len(args.Data)%2 == 0)
			}
		}
	}
	f.Add([]byte(`{"propertyNames":{"anyOf":[{"const":"a"},{"maxLength":0}]}}`), []byte(`{"b":{"c":1}}`), false)
	f.Add([]byte(`{"oneOf":[true,true,{"not":{}}],"unevaluatedProperties":false}`), []byte(`{"b":[1e999999]}`), true)
	f.Fuzz(func(t *testing.T, schema, args []byte, strict bool) {
		c := &tool.Call{Request: tool.Request{Kind: tool.KindCall}, Action: &tool.Action{InputSchema: schema, Strict: strict}, Args: args}
		_, err := tooltest.Checked(t.Context(), validate.New(validate.Options{}).Check, c, answerEmpty)
		if err == nil {
			return
		}
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.Invalid || e.Message == "" || len(e.Fields) == 0 || len(e.Fields) > 8 {
			t.Fatalf("error %#v", err)
		}
		if !json.Valid(e.Payload()) {
			t.Errorf("payload %s", e.Payload())
		}
	})
}
