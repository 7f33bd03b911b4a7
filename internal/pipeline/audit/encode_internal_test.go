package audit

import (
	"crypto/ed25519"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"collie/internal/tool"
)

// BenchmarkEncode measures what the writer pays for a record with 200 bytes of arguments.
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
		buf = e.appendLine(buf[:0], &r)
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
		if got, want := string(e.appendTime(nil, at)), at.UTC().Format(timeLayout); got != want {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}

// The cache of an encoder does not change its lines: an encoder without a cache writes the same ones, and a secret that is added
// later is redacted at once.
func TestLinesAreThoseOfAForgetfulEncoder(t *testing.T) {
	t.Parallel()
	k, err := newKey(make([]byte, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	names := rapid.OneOf(rapid.SampledFrom([]string{"", "fs", "notebook", "hidden-name", "my hidden-name here", "读", "sk-0123456789abcdefghij", "password=x1"}),
		rapid.StringN(0, 200, 400))
	rapid.Check(t, func(t *rapid.T) {
		redact := NewRedactor(nil, "")
		kept, fresh := newEncoder(redact, k), newEncoder(redact, k)
		hidden := false
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			if rapid.IntRange(0, 5).Draw(t, "hide") == 0 {
				redact.Hide([]string{"hidden-name"})
				hidden = true
			}
			r := tool.Record{
				Time: time.Unix(1, 0), Kind: "call.start", Tool: names.Draw(t, "tool"), Action: names.Draw(t, "action"),
				Name: names.Draw(t, "name"), Client: names.Draw(t, "client"), Principal: names.Draw(t, "principal"),
				Args: json.RawMessage(rapid.SampledFrom([]string{"", "{}", `{"a":"hidden-name"}`}).Draw(t, "args")),
			}
			fresh.texts = textCache{}
			last := fresh.prev
			want, got := string(fresh.appendLine(nil, &r)), string(kept.appendLine(nil, &r))
			if got != want {
				t.Fatalf("line\n%swant\n%s", got, want)
			}
			if hidden && strings.Contains(got, "hidden-name") {
				t.Fatalf("a secret in %s", got)
			}
			l, ok := parseLine([]byte(strings.TrimSuffix(got, "\n")))
			if !ok || !l.isIntact() || l.prev != last {
				t.Fatalf("no link of the chain: %s", got)
			}
		}
	})
}

func TestTextsHaveABound(t *testing.T) {
	t.Parallel()
	var kept textCache
	r := NewRedactor(nil, "")
	for n := range 10 * keptTexts {
		kept.append(nil, strings.Repeat("x", n%keptTextLen)+strconv.Itoa(n), r)
	}
	if len(kept.clean) > keptTexts {
		t.Errorf("%d texts are kept, at most %d may be", len(kept.clean), keptTexts)
	}
}
