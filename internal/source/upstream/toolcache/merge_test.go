package toolcache_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/source/upstream/toolcache"
)

// places draws entries of a few servers, with few revisions, so that they meet.
func places(t *rapid.T, label string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := range rapid.IntRange(0, 4).Draw(t, label) {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, fmt.Sprintf("%s %d", label, i))
		at := time.Date(2026, 1, 1, 0, 0, rapid.IntRange(0, 2).Draw(t, "second"), 0, time.UTC)
		m[name] = json.RawMessage(fmt.Sprintf(`{"rev":%d,"validatedAt":%q,"x":%d}`,
			rapid.IntRange(0, 2).Draw(t, "rev"), at.Format("2006-01-02T15:04:05.000Z"), rapid.IntRange(0, 2).Draw(t, "x")))
	}
	return m
}

func TestMergeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := places(t, "a"), places(t, "b"), places(t, "c")
		ab := toolcache.Merge(a, b)
		equal := func(law string, x, y map[string]json.RawMessage) {
			if diff := cmp.Diff(x, y); diff != "" {
				t.Fatalf("%s does not hold:\n%s", law, diff)
			}
		}
		equal("a+b = b+a", ab, toolcache.Merge(b, a))
		equal("a+a = a", a, toolcache.Merge(a, a))
		equal("(a+b)+b = a+b", ab, toolcache.Merge(ab, b))
		equal("(a+b)+c = a+(b+c)", toolcache.Merge(ab, c), toolcache.Merge(a, toolcache.Merge(b, c)))
		for _, m := range []map[string]json.RawMessage{a, b} {
			for name := range m {
				if ab[name] == nil {
					t.Fatalf("%s is lost", name)
				}
			}
		}
		for name, raw := range ab {
			if string(raw) != string(a[name]) && string(raw) != string(b[name]) {
				t.Fatalf("%s is nobody's: %s", name, raw)
			}
		}
	})
}

func TestMergePrefersTheLaterOne(t *testing.T) {
	t.Parallel()
	one := func(rev int, at string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"a": json.RawMessage(fmt.Sprintf(`{"rev":%d,"validatedAt":"2026-01-01T00:00:%s.000Z"}`, rev, at))}
	}
	for _, tc := range [][2]map[string]json.RawMessage{
		{one(2, "00"), one(1, "59")}, {one(2, "01"), one(2, "00")}, {one(10, "00"), one(9, "00")},
	} {
		if got := toolcache.Merge(tc[1], tc[0]); string(got["a"]) != string(tc[0]["a"]) {
			t.Errorf("%s wins over %s", got["a"], tc[0]["a"])
		}
	}
}
