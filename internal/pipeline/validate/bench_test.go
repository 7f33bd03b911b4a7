package validate_test

import (
	"testing"

	"collie/internal/pipeline/validate"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// BenchmarkDo measures the check of small arguments, accepted and refused.
func BenchmarkDo(b *testing.B) {
	const schema = `{"type":"object","properties":{"path":{"type":"string"},"recursive":{"type":"boolean"},"limit":{"type":"integer","minimum":1,"maximum":100},"tags":{"type":"array","items":{"type":"string"}}},"required":["path"],"additionalProperties":false}`
	const args = `{"path":"projects/notes/2024","recursive":true,"limit":20,"tags":["a","b"]}`
	for _, bm := range []struct {
		name, schema, args string
		strict             bool
	}{
		{name: "small", schema: schema, args: args},
		{name: "small strict", schema: schema, args: args, strict: true},
		{name: "echo", schema: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, args: `{"text":"hello"}`},
		{name: "accepts all", schema: `{"type":"object"}`, args: args},
		{name: "refused", schema: schema, args: `{"pth":"a","limit":"5"}`},
	} {
		b.Run(bm.name, func(b *testing.B) {
			stage, ctx := validate.New(validate.Options{}), b.Context()
			c := newCall(&tool.Action{Name: "do", InputSchema: []byte(bm.schema), Strict: bm.strict}, bm.args)
			c.Params = []byte(`{}`)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = tooltest.Checked(ctx, stage.Check, c, answerEmpty)
			}
		})
	}
}
