package markup_test

import (
	"strings"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// short is a typical paragraph with some marks.
const short = "See **the report** of *May* with `code`, [a link](https://example.com) and #a/tag#."

func BenchmarkContent(b *testing.B) {
	p := &tree.Block{Kind: tree.Paragraph, Text: short}
	b.ReportAllocs()
	for b.Loop() {
		markup.Content(p)
	}
}

func BenchmarkContentOfPlainText(b *testing.B) {
	p := &tree.Block{Kind: tree.Paragraph, Text: strings.Repeat("plain text ", 8)}
	b.ReportAllocs()
	for b.Loop() {
		markup.Content(p)
	}
}

func BenchmarkSpans(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		markup.Spans(short)
	}
}

func BenchmarkMarkdown(b *testing.B) {
	list := markup.Parse("- " + short + "\n  - " + short)[0]
	b.ReportAllocs()
	for b.Loop() {
		markup.Markdown(list)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		markup.Parse(short)
	}
}

func BenchmarkDOM(b *testing.B) {
	blocks := markup.Parse(short)
	b.ReportAllocs()
	for b.Loop() {
		markup.DOMs(blocks)
	}
}
