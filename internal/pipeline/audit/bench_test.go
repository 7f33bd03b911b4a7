package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"collie/internal/pipeline/audit"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// typicalArgs are 200 bytes, typical for a call of a notes tool.
var typicalArgs = json.RawMessage(`{"notebook":"20210817205410-2kvfpfn","path":"/projects/collie/notes","markdown":"` +
	strings.Repeat("some text with words ", 5) + `"}`)

// BenchmarkAppend measures what the caller pays. Every 4,096 records it stops the clock until the writer has
// caught up, because a caller that is faster for long has to wait for the writer, by design.
func BenchmarkAppend(b *testing.B) {
	l := openLog(b, b.TempDir(), nil)
	r := newRecord(1)
	r.Args = typicalArgs
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		_ = l.Append(r)
		if n++; n%4096 == 0 {
			b.StopTimer()
			_ = l.AppendSync(b.Context(), r)
			b.StartTimer()
		}
	}
}

// BenchmarkRedact measures one pass over ordinary arguments.
func BenchmarkRedact(b *testing.B) {
	r := audit.NewRedactor([]string{"configured-secret-1", "configured-secret-2"}, "")
	var buf []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(typicalArgs)))
	for b.Loop() {
		buf = r.AppendJSON(buf[:0], typicalArgs)
	}
}

// BenchmarkStage measures a pair of records around a call that does nothing.
func BenchmarkStage(b *testing.B) {
	s := audit.NewStage(openLog(b, b.TempDir(), nil), nil)
	c := newCall("0198c5a5-7a61-7cc0-b9f8-000000000000", &tool.Action{Name: "list"})
	c.Args = typicalArgs
	_, _ = tooltest.Through(b.Context(), s, c, runOK)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = tooltest.Through(b.Context(), s, c, runOK)
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	writeChain(b, dir, 10_000, nil)
	for b.Loop() {
		verify(b, dir)
	}
}
