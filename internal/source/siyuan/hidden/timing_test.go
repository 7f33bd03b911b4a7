package hidden_test

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkHiddenHit measures whether a hidden hit shows by the time that an answer takes: the median of tries with a
// text that the hidden notebook has, and with one that nothing has.
//
//	go test -run - -bench HiddenHit -benchtime 200x ./internal/source/siyuan/hidden
//
// Nothing is asserted. The two are asked in turn, so that a busy machine weighs on both.
func BenchmarkHiddenHit(b *testing.B) {
	for _, c := range []struct {
		name string
		args func(w *twoNotebooks, text string) object
	}{
		{"search.search_refs", func(w *twoNotebooks, text string) object { return object{"id": w.doc, "k": text} }},
		{"search.search_assets", func(_ *twoNotebooks, text string) object { return object{"query": text} }},
		{"search.fulltext_asset_content", func(_ *twoNotebooks, text string) object { return object{"query": text} }},
		{"search.fulltext", func(_ *twoNotebooks, text string) object { return object{"query": text} }},
		{"av.search", func(_ *twoNotebooks, text string) object { return object{"keyword": text} }},
		{"fs.search", func(_ *twoNotebooks, text string) object { return object{"query": text} }},
		{"document.search_docs", func(w *twoNotebooks, text string) object { return object{"notebook": w.open, "query": text} }},
		{"tag.list", func(_ *twoNotebooks, text string) object { return object{"keyword": text} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newSecretWorkspace(b)
			took := map[string][]time.Duration{}
			for b.Loop() {
				for _, text := range []string{secretHit, secretMisses[0]} {
					began := time.Now()
					if got, err := w.runAction(c.name, c.args(w, text)); err != nil {
						b.Fatalf("%s: %s, %v", text, got.Raw, err)
					}
					took[text] = append(took[text], time.Since(began))
				}
			}
			median := func(text string) float64 {
				slices.Sort(took[text])
				return float64(took[text][len(took[text])/2].Microseconds())
			}
			hit, miss := median(secretHit), median(secretMisses[0])
			b.ReportMetric(hit, "µs/hidden-hit")
			b.ReportMetric(miss, "µs/no-hit")
			b.ReportMetric(hit/miss, "ratio")
		})
	}
}
