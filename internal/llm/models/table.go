package models

// This file lists the models most used, with what is publicly known about them: context, price, abilities.

// The hosts and pages of makers.
const (
	anthropicHost, anthropicPage = "api.anthropic.com", "https://platform.claude.com/docs/en/about-claude/pricing"
	openaiHost, openaiPage       = "api.openai.com", "https://platform.openai.com/docs/pricing"
	geminiHost, geminiPage       = "generativelanguage.googleapis.com", "https://ai.google.dev/gemini-api/docs/pricing"
	deepseekHost, deepseekPage   = "api.deepseek.com", "https://api-docs.deepseek.com/quick_start/pricing"
	mistralHost, mistralPage     = "api.mistral.ai", "https://mistral.ai/pricing"
	xaiHost, xaiPage             = "api.x.ai", "https://docs.x.ai/docs/models"
	moonshotHost, moonshotPage   = "api.moonshot.ai", "https://platform.moonshot.ai/docs/pricing/chat"
	zaiHost, zaiPage             = "api.z.ai", "https://docs.z.ai/guides/overview/pricing"
	minimaxHost, minimaxPage     = "api.minimax.io", "https://platform.minimax.io/docs/guides/pricing"
)

// tableDate is when the rows below were written.
const tableDate = "2026-01-31"

// modelsOf returns the rows of one maker with the date of the table and, if they have a price, the host of its API and the page that
// the price is from.
func modelsOf(host, page string, rows ...Model) []Model {
	for i := range rows {
		rows[i].Date = tableDate
		if rows[i].Price != nil {
			rows[i].Host, rows[i].Page = host, page
		}
	}
	return rows
}

func price(input, cached, output float64) *Price {
	return &Price{Input: input, Cached: cached, Output: output}
}

// claudePrice returns a price of Anthropic's, whose cache prices follow from the input price.
func claudePrice(input, output float64) *Price {
	return &Price{Input: input, Cached: input / 10, CacheWrite: input * 1.25, Output: output}
}

// tieredPrice returns a price that changes to long above 200,000 tokens of input.
func tieredPrice(p, long *Price) *Price {
	p.LongFrom, p.Long = 200_000, long
	return p
}

// table lists the models most used, at most 60.
var table = concat(
	modelsOf(anthropicHost, anthropicPage,
		Model{ID: "claude-opus-4-6", Context: 200_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: claudePrice(5, 25)},
		Model{ID: "claude-opus-4-5", Context: 200_000, Output: 64_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: claudePrice(5, 25)},
		Model{ID: "claude-opus-4-1", Context: 200_000, Output: 32_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: claudePrice(15, 75)},
		Model{ID: "claude-opus-4", Context: 200_000, Output: 32_000, Tools: true, Images: true, PDF: true, Reasoning: true},
		Model{ID: "claude-sonnet-4-5", Context: 200_000, Output: 64_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: tieredPrice(claudePrice(3, 15), claudePrice(6, 22.5))},
		Model{ID: "claude-sonnet-4", Context: 200_000, Output: 64_000, Tools: true, Images: true, PDF: true, Reasoning: true},
		Model{ID: "claude-haiku-4-5", Context: 200_000, Output: 64_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: claudePrice(1, 5)},
		Model{ID: "claude-3-5-haiku", Context: 200_000, Output: 8_192, Tools: true, Images: true, PDF: true, Price: claudePrice(0.8, 4)},
		Model{ID: "claude-3-haiku", Context: 200_000, Output: 4_096, Tools: true, Images: true},
	),
	modelsOf(openaiHost, openaiPage,
		Model{ID: "gpt-5.2", Context: 400_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(1.75, 0.175, 14)},
		Model{ID: "gpt-5.2-pro", Context: 400_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true},
		Model{ID: "gpt-5.1", Context: 400_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(1.25, 0.125, 10)},
		Model{ID: "gpt-5", Context: 400_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(1.25, 0.125, 10)},
		Model{ID: "gpt-5-pro", Context: 400_000, Output: 272_000, Tools: true, Images: true, PDF: true, Reasoning: true},
		Model{ID: "gpt-5-mini", Context: 400_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(0.25, 0.025, 2)},
		Model{ID: "gpt-5-nano", Context: 400_000, Output: 128_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(0.05, 0.005, 0.4)},
		Model{ID: "gpt-4.1", Context: 1_047_576, Output: 32_768, Tools: true, Images: true, PDF: true, Price: price(2, 0.5, 8)},
		Model{ID: "gpt-4.1-mini", Context: 1_047_576, Output: 32_768, Tools: true, Images: true, PDF: true, Price: price(0.4, 0.1, 1.6)},
		Model{ID: "gpt-4.1-nano", Context: 1_047_576, Output: 32_768, Tools: true, Images: true, PDF: true, Price: price(0.1, 0.025, 0.4)},
		Model{ID: "gpt-4o", Context: 128_000, Output: 16_384, Tools: true, Images: true, PDF: true, Price: price(2.5, 1.25, 10)},
		Model{ID: "gpt-4o-mini", Context: 128_000, Output: 16_384, Tools: true, Images: true, PDF: true, Price: price(0.15, 0.075, 0.6)},
		Model{ID: "o3", Context: 200_000, Output: 100_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(2, 0.5, 8)},
		Model{ID: "o4-mini", Context: 200_000, Output: 100_000, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(1.1, 0.275, 4.4)},
		Model{ID: "gpt-oss", Context: 131_072, Output: 32_768, Tools: true, Reasoning: true},
	),
	modelsOf(geminiHost, geminiPage,
		Model{ID: "gemini-3-pro", Context: 1_048_576, Output: 65_536, Tools: true, Images: true, PDF: true, Reasoning: true, Price: tieredPrice(price(2, 0.2, 12), price(4, 0.4, 18))},
		Model{ID: "gemini-3-flash", Context: 1_048_576, Output: 65_536, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(0.5, 0.05, 3)},
		Model{ID: "gemini-2.5-pro", Context: 1_048_576, Output: 65_536, Tools: true, Images: true, PDF: true, Reasoning: true, Price: tieredPrice(price(1.25, 0.125, 10), price(2.5, 0.25, 15))},
		Model{ID: "gemini-2.5-flash", Context: 1_048_576, Output: 65_536, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(0.3, 0.03, 2.5)},
		Model{ID: "gemini-2.5-flash-lite", Context: 1_048_576, Output: 65_536, Tools: true, Images: true, PDF: true, Reasoning: true, Price: price(0.1, 0.01, 0.4)},
		Model{ID: "gemini-2.0-flash", Context: 1_048_576, Output: 8_192, Tools: true, Images: true, PDF: true, Price: price(0.1, 0.025, 0.4)},
		Model{ID: "gemma3", Context: 131_072, Output: 8_192, Images: true},
	),
	modelsOf(deepseekHost, deepseekPage,
		Model{ID: "deepseek-chat", Context: 131_072, Output: 8_192, Tools: true, Price: price(0.28, 0.028, 0.42)},
		Model{ID: "deepseek-reasoner", Context: 131_072, Output: 65_536, Tools: true, Reasoning: true, Price: price(0.28, 0.028, 0.42)},
		Model{ID: "deepseek-r1", Context: 131_072, Output: 32_768, Reasoning: true},
		Model{ID: "deepseek-v3", Context: 131_072, Output: 8_192, Tools: true},
	),
	modelsOf(mistralHost, mistralPage,
		Model{ID: "mistral-large", Context: 262_144, Tools: true, Images: true, Price: price(0.5, 0, 1.5)},
		Model{ID: "mistral-medium", Context: 131_072, Tools: true, Images: true, Price: price(0.4, 0, 2)},
		Model{ID: "mistral-small", Context: 131_072, Tools: true, Images: true, Price: price(0.1, 0, 0.3)},
		Model{ID: "codestral", Context: 262_144, Tools: true, Price: price(0.3, 0, 0.9)},
		Model{ID: "devstral", Context: 131_072, Tools: true},
		Model{ID: "mistral-nemo", Context: 131_072, Tools: true},
	),
	modelsOf(xaiHost, xaiPage,
		Model{ID: "grok-4", Context: 256_000, Tools: true, Images: true, Reasoning: true, Price: price(3, 0.75, 15)},
		Model{ID: "grok-4-fast", Context: 2_000_000, Tools: true, Images: true, Reasoning: true, Price: price(0.2, 0.05, 0.5)},
		Model{ID: "grok-4-1-fast", Context: 2_000_000, Tools: true, Images: true, Reasoning: true, Price: price(0.2, 0.05, 0.5)},
		Model{ID: "grok-code-fast-1", Context: 256_000, Tools: true, Reasoning: true, Price: price(0.2, 0.02, 1.5)},
	),
	modelsOf(moonshotHost, moonshotPage,
		Model{ID: "kimi-k2", Context: 262_144, Tools: true, Price: price(0.6, 0.15, 2.5)},
		Model{ID: "kimi-k2-thinking", Context: 262_144, Tools: true, Reasoning: true, Price: price(0.6, 0.15, 2.5)},
		Model{ID: "kimi-k2.5", Context: 262_144, Tools: true, Images: true, Reasoning: true},
	),
	modelsOf(zaiHost, zaiPage,
		Model{ID: "glm-4.7", Context: 200_000, Output: 128_000, Tools: true, Reasoning: true, Price: price(0.6, 0.11, 2.2)},
		Model{ID: "glm-4.6", Context: 200_000, Output: 128_000, Tools: true, Reasoning: true, Price: price(0.6, 0.11, 2.2)},
	),
	modelsOf(minimaxHost, minimaxPage,
		Model{ID: "minimax-m2", Context: 204_800, Tools: true, Reasoning: true, Price: price(0.3, 0.03, 1.2)},
	),
	// Models that people run themselves.
	modelsOf("", "",
		Model{ID: "qwen3", Context: 40_960, Tools: true, Reasoning: true},
		Model{ID: "qwen3-coder", Context: 262_144, Tools: true},
		Model{ID: "qwen2.5", Context: 32_768, Tools: true},
		Model{ID: "llama3.1", Context: 131_072, Tools: true},
		Model{ID: "llama3.2", Context: 131_072, Tools: true},
		Model{ID: "llama3.3", Context: 131_072, Tools: true},
		Model{ID: "phi4", Context: 16_384},
	),
)

func concat(lists ...[]Model) (all []Model) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
