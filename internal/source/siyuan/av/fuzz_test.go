package av_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

// The masked result contains nothing hidden, whatever the kernel answers, and is still JSON.
func FuzzMask(f *testing.F) {
	for _, row := range kerneltest.Recordings(f) {
		if row.Scenario == "av" && strings.Contains(row.Endpoint(), "AttributeView") && len(row.RespBody) < 20_000 {
			f.Add([]byte(row.RespBody), "20240801130000-detach1")
		}
	}
	f.Add([]byte(`{"a":[{"id":"x","groups":[1,{"rows":[{"id":"x"}],"groupKey":{"type":"relation"}}]}],"x":1}`), "x")
	f.Fuzz(func(t *testing.T, raw []byte, id string) {
		if !json.Valid(raw) || id == "" || len(id) > 40 {
			t.Skip("no answer of a kernel, or no id")
		}
		out, err := av.MaskID(raw, id)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out) {
			t.Fatalf("no JSON: %s", out)
		}
		var check func(v gjson.Result)
		check = func(v gjson.Result) {
			if v.Type == gjson.String && v.String() == id {
				t.Fatalf("%q is still there: %s", id, out)
			}
			v.ForEach(func(k, m gjson.Result) bool {
				if k.Type == gjson.String && k.String() == id {
					t.Fatalf("%q is still a name: %s", id, out)
				}
				if v.IsObject() || v.IsArray() {
					check(m)
				}
				return true
			})
		}
		check(gjson.ParseBytes(out))
	})
}

// A date that is read and written as text is read from that text as the same time.
func FuzzDate(f *testing.F) {
	for _, seed := range []string{`"2024-08-01"`, `"2024-08-01T12:30"`, `"2024-08-01 12:30:10"`, `"2024-08-01T12:30:00+08:00"`, `1722470400000`, `"1722470400000"`, `""`, `null`, `"31.12.2024"`, `1e400`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		at, err := av.ReadDate(raw)
		if err != nil {
			if !strings.Contains(err.Error(), "expected ISO text") {
				t.Fatalf("%s: the error does not say what is expected: %v", raw, err)
			}
			return
		}
		if at.Year() < 0 || at.Year() > 9999 {
			return
		}
		again, err := av.ReadDate([]byte(at.Format(`"` + time.RFC3339Nano + `"`)))
		if err != nil || !again.Equal(at) {
			t.Fatalf("%s is %v, and written again %v: %v", raw, at, again, err)
		}
	})
}
