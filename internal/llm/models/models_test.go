package models_test

import (
	"testing"

	"collie/internal/llm"
	"collie/internal/llm/models"
)

func TestFind(t *testing.T) {
	t.Parallel()
	const openai, anthropic = "https://api.openai.com/v1", "https://api.anthropic.com"
	for _, c := range []struct {
		url, name string
		context   int
		priced    bool
		known     bool
	}{
		{url: anthropic, name: "claude-sonnet-4-5-20250929", context: 200_000, priced: true, known: true},
		{url: anthropic, name: "claude-sonnet-4-20250514", context: 200_000, known: true},
		{url: "https://openrouter.ai/api/v1", name: "anthropic/claude-sonnet-4.5", context: 200_000, known: true},
		{url: openai, name: "gpt-5", context: 400_000, priced: true, known: true},
		{url: openai, name: "gpt-5-2025-08-07", context: 400_000, priced: true, known: true},
		{url: openai, name: "gpt-5-mini", context: 400_000, priced: true, known: true},
		{url: openai, name: "gpt-5.9", context: 400_000, known: true}, // another model, without a known price
		{url: openai, name: "gpt-4o-audio-preview", context: 128_000, known: true},
		{url: "https://generativelanguage.googleapis.com", name: "models/gemini-2.5-pro", context: 1_048_576, priced: true, known: true},
		{url: "http://127.0.0.1:11434", name: "qwen3:8b", context: 40_960, known: true},
		{url: openai, name: "gpt-50", context: models.UnknownContext},
		{name: "whatever", context: models.UnknownContext},
	} {
		m := models.Find(c.url, c.name)
		if m.Context != c.context || (m.Price != nil) != c.priced || m.Known != c.known {
			t.Errorf("%s at %s is %+v", c.name, c.url, m)
		}
		if m.Price != nil && (m.Date == "" || m.Page == "") {
			t.Errorf("the price of %s has no date or page", c.name)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	p := &models.Price{Input: 3, Cached: 0.3, CacheWrite: 3.75, Output: 15, LongFrom: 200_000, Long: &models.Price{Input: 6, Output: 22.5}}
	for _, c := range []struct {
		usage llm.Usage
		want  int64
	}{
		{llm.Usage{Input: 1_000_000, Output: 0}, 6_000_000},
		{llm.Usage{Input: 1000, Cached: 500, CacheWrite: 100, Output: 100}, 1200 + 150 + 375 + 1500},
		{llm.Usage{}, 0},
	} {
		if got := p.Cost(c.usage); got != c.want {
			t.Errorf("%+v costs %d, want %d", c.usage, got, c.want)
		}
	}
}
