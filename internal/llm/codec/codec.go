// Package codec lists the APIs of model providers that Collie speaks, each implemented by a package of its own.
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

// For returns the codec of a kind, or nil for an unknown kind.
func For(kind string) *wire.Codec {
	at := slices.IndexFunc(all, func(c *wire.Codec) bool { return c.Kind == kind })
	if at < 0 {
		return nil
	}
	return all[at]
}

// Kinds returns the kinds of API, the most common first.
func Kinds() []string {
	var kinds []string
	for _, c := range all {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}
