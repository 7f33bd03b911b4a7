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
		{"small", schema, args, false},
		{"small strict", schema, args, true},
		{"echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, `{"text":"hello"}`, false},
		{"accepts all", `{"type":"object"}`, args, false},
		{"refused", schema, `{"pth":"a","limit":"5"}`, false},
	} {
		b.Run(bm.name, func(b *testing.B) {
			stage, ctx := validate.New(validate.Options{}), b.Context()
			c := call(&tool.Action{Name: "do", InputSchema: []byte(bm.schema), Strict: bm.strict}, bm.args)
			c.Params = []byte(`{}`)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = tooltest.Checked(ctx, stage.Check, c, ran)
			}
		})
	}
}
