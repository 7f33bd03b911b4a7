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
		{anthropic, "claude-sonnet-4-5-20250929", 200_000, true, true},
		{anthropic, "claude-sonnet-4-20250514", 200_000, false, true},
		{"https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", 200_000, false, true},
		{openai, "gpt-5", 400_000, true, true},
		{openai, "gpt-5-2025-08-07", 400_000, true, true},
		{openai, "gpt-5-mini", 400_000, true, true},
		{openai, "gpt-5.9", 400_000, false, true}, // another model, without a known price
		{openai, "gpt-4o-audio-preview", 128_000, false, true},
		{"https://generativelanguage.googleapis.com", "models/gemini-2.5-pro", 1_048_576, true, true},
		{"http://127.0.0.1:11434", "qwen3:8b", 40_960, false, true},
		{openai, "gpt-50", models.UnknownContext, false, false},
		{"", "whatever", models.UnknownContext, false, false},
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
