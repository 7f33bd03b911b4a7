package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Size of the generated vault of the benchmark.
const (
	benchDocuments = 1000
	benchBlocks    = 100 // in each document, its own block included
)

var benchWords = strings.Fields(`the quick brown fox apple banana carrot server client gateway kernel block document notebook
	search index table view page tree leaf root branch commit write read flush lock wait node list item code math quote`)

// fillVault writes a vault of 100,000 blocks, in English and Chinese. The frequent words are in every third block, the rare
// ones in every thousandth.
func fillVault(b *testing.B, v *vault) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	text := func() string {
		n++
		var out strings.Builder
		for range 8 {
			out.WriteString(benchWords[r.IntN(len(benchWords))] + " ")
		}
		for range 12 {
			out.WriteRune(rune(0x4e00 + int(3000*r.Float64()*r.Float64())))
		}
		if n%3 == 0 {
			out.WriteString(" frequent 常见词汇")
		}
		if n%1000 == 0 {
			out.WriteString(" rareword 稀有词语")
		}
		return out.String()
	}
	for at := 0; at < benchDocuments; at += 50 {
		v.Update(func(tx *workspace.Tx) {
			for i := range 50 {
				var blocks []*tree.Block
				for range benchBlocks - 1 {
					blocks = append(blocks, &tree.Block{Kind: tree.Paragraph, Text: text()})
				}
				tx.AddDocument(tx.Notebook(v.box), nil, fmt.Sprintf("Document %d", at+i), "", tx.Identify(blocks))
			}
		})
	}
}

// BenchmarkFullText searches 100,000 blocks and reports the median time for each kind of query. The goal is 20 ms for queries
// that people make.
func BenchmarkFullText(b *testing.B) {
	if testing.Short() {
		b.Skip("it fills a vault of 100,000 blocks")
	}
	v := newVault(b)
	fillVault(b, v)
	for _, bm := range []struct {
		name, query string
		more        object
	}{
		{name: "rare/english", query: "rareword"},
		{name: "rare/chinese2", query: "稀有"},
		{name: "rare/chinese4", query: "稀有词语"},
		{name: "common/english", query: "banana"},
		{name: "common/two", query: "banana apple"},
		{name: "common/chinese2", query: "一丁"},
		{name: "common/mixed", query: "banana 常见"},
		{name: "frequent/english", query: "frequent"},
		{name: "frequent/chinese2", query: "常见"},
		{name: "frequent/chinese4", query: "常见词汇"},
		{name: "frequent/english/written", query: "frequent"}, // after a write each time
		{name: "frequent/chinese4/written", query: "常见词汇"},
		{name: "frequent/page9", query: "frequent", more: object{"page": 9, "orderBy": 4}},
		{name: "frequent/box", query: "frequent", more: object{"paths": []string{v.box}}},
		{name: "syntax", query: "banana NOT apple", more: object{"method": 1}},
		{name: "regexp/prefix", query: `rareword\s`, more: object{"method": 3}},
		{name: "regexp/scan", query: `\d{9}`, more: object{"method": 3}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			body := object{"query": bm.query}
			maps.Copy(body, bm.more)
			var took []time.Duration
			hits := int64(0)
			for b.Loop() {
				if strings.HasSuffix(bm.name, "/written") {
					v.Update(func(tx *workspace.Tx) {
						root := tx.Document(tx.Documents(tx.Notebook(v.box))[1].ID()).Root
						root.Insert(0, tx.Identify([]*tree.Block{{Kind: tree.Paragraph, Text: "one more, frequent 常见词汇"}})...)
					})
				}
				start := time.Now()
				hits = v.Ask("/api/search/fullTextSearchBlock", body).Get("matchedBlockCount").Int()
				took = append(took, time.Since(start))
			}
			first := took[0] // cost of finding the blocks with words that were not searched before
			slices.Sort(took)
			b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(hits), "hits")
		})
	}
}
