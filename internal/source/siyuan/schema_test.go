package siyuan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"collie/internal/source/siyuan"
)

// TestSchemasAreSound validates the schemas of all actions against the metaschema of their draft. The program relies
// on this test and does not do so itself.
func TestSchemasAreSound(t *testing.T) {
	t.Parallel()
	for _, group := range siyuan.Tools() {
		for _, a := range group.Actions {
			if err := compileSchema(a.Schema()); err != nil {
				t.Errorf("%s.%s: %v", a.Tool, a.Name, err)
			}
		}
	}
	if compileSchema(json.RawMessage(`{"type":"object","properties":{"a":{"minimum":"1"}}}`)) == nil {
		t.Error("a bound that is a text is not found")
	}
}

// compileSchema returns an error unless schema is valid by the metaschema of its draft.
func compileSchema(schema json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	const address = "collie://schema"
	if err := c.AddResource(address, doc); err != nil {
		return err
	}
	_, err = c.Compile(address)
	return err
}
