package analytics

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// encodeByStandardLibrary returns the line as encoding/json writes it. That output defines the format.
func encodeByStandardLibrary(e *Entry) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return out.String(), err
}

func TestLineIsThatOfEncodingJSON(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "fs", "读", "a\"b", "\\", "<&>", "\u2028", "\xff", "\x00\x1f\x7f", "\b\f"}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 100_000))
	rapid.Check(t, func(t *rapid.T) {
		count := func(what string) int { return int(number.Draw(t, what)) }
		e := Entry{
			Seq: number.Draw(t, "seq"), TS: number.Draw(t, "ts"), Tool: text.Draw(t, "tool"), Action: text.Draw(t, "action"),
			Status:     Status(text.Draw(t, "status")),
			DurationMs: rapid.OneOf(rapid.Float64(), rapid.Map(number, func(n int64) float64 { return math.Round(float64(n)) / 1000 })).Draw(t, "duration"),
			ErrorType:  text.Draw(t, "type"), ErrorCode: text.Draw(t, "code"), ParamKeys: rapid.SliceOfN(text, 0, 4).Draw(t, "keys"),
			ResultSizeHint: text.Draw(t, "hint"), Transport: text.Draw(t, "transport"), SessionIDHash: text.Draw(t, "session"),
			RequestChars: count("a"), ResponseChars: count("b"), RequestBytes: count("c"), ResponseBytes: count("d"),
			RequestApproxTokens: count("e"), ResponseApproxTokens: count("f"), TotalApproxTokens: count("g"), TokenMode: text.Draw(t, "mode"),
			RequestText: text.Draw(t, "request"), ResponseText: text.Draw(t, "response"),
			RequestTextTruncated: rapid.Bool().Draw(t, "cut"), ResponseTextTruncated: rapid.Bool().Draw(t, "cut too"),
		}
		if rapid.Bool().Draw(t, "no list") {
			e.ParamKeys = nil
		}
		want, wrong := encodeByStandardLibrary(&e)
		got, err := appendEntry(nil, &e)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("error %v, want %v", err, wrong)
		}
		if diff := cmp.Diff(want, string(got)); err == nil && diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	})
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := appendEntry(nil, &Entry{DurationMs: f}); err == nil {
			t.Errorf("%v makes a line", f)
		}
	}
}
