// Package codec knows all the APIs of providers by their kinds.
package codec

import (
	"slices"

	"collie/internal/llm/anthropic"
	"collie/internal/llm/gemini"
	"collie/internal/llm/ollama"
	"collie/internal/llm/openai"
	"collie/internal/llm/responses"
	"collie/internal/llm/wire"
)

var all = []*wire.Codec{openai.Codec(), responses.Codec(), anthropic.Codec(), gemini.Codec(), ollama.Codec()}

// For returns the API of a kind; nil for a kind that nobody knows.
func For(kind string) *wire.Codec {
	at := slices.IndexFunc(all, func(c *wire.Codec) bool { return c.Kind == kind })
	if at < 0 {
		return nil
	}
	return all[at]
}

// Kinds returns the kinds, the most usual first.
func Kinds() []string {
	var kinds []string
	for _, c := range all {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}
