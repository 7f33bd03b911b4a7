package audit

import (
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"collie/internal/tool"
)

// BenchmarkEncode is what the writer pays for a record with 200 bytes of arguments.
func BenchmarkEncode(b *testing.B) {
	k, err := newKey(make([]byte, ed25519.SeedSize))
	if err != nil {
		b.Fatal(err)
	}
	e := newEncoder(NewRedactor([]string{"configured-secret-1"}, ""), k)
	r := tool.Record{
		Time: time.Now(), Kind: "call.start", CallID: "0198c5a5-7a61-7cc0-b9f8-000000000000", Origin: tool.MCPLocal,
		Client: "client 1.0", Session: "0123456789abcdef", Source: "siyuan", Tool: "notebook", Action: "list",
		Name: "notebook__list", BytesIn: 200,
		Args: json.RawMessage(`{"notebook":"20210817205410-2kvfpfn","markdown":"` + strings.Repeat("words ", 24) + `"}`),
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.line(buf[:0], &r)
	}
	b.SetBytes(int64(len(buf)))
}

func TestAppendString(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "q\" b\\ n\n t\t c\x00\x1f", "笔记 🐕", "\xff\xc3", "a\xe2\x82"} {
		raw := appendString(nil, s)
		var got string
		if err := json.Unmarshal(raw, &got); err != nil || got != string([]rune(s)) {
			t.Errorf("appendString(%q) = %s, which reads %q, %v", s, raw, got, err)
		}
	}
}

func TestStampIsTimeLayout(t *testing.T) {
	t.Parallel()
	e := &encoder{}
	for _, at := range []time.Time{
		time.Unix(0, 0), time.Unix(0, 999_999_999), time.Unix(1, 0), time.Unix(1, 5_000), time.Unix(1, 123_456_789),
		time.Date(2026, 12, 31, 23, 59, 59, 999_999_000, time.FixedZone("east", 3600)), time.Date(2027, 1, 1, 0, 0, 0, 1_000, time.UTC),
	} {
		if got, want := string(e.stamp(nil, at)), at.UTC().Format(timeLayout); got != want {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}
