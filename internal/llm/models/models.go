// Package models holds public facts about language models: context length, abilities, and prices at their makers. A
// model that is not in the table has a short context and no price, and may be sent tools and pictures. Settings override
// the table; package client applies them.
package models

import (
	"math"
	"net/url"
	"strings"

	"collie/internal/llm"
)

// UnknownContext is the assumed context of an unknown model, in tokens.
const UnknownContext = 32 << 10

// Model describes a model. Limits are in tokens.
type Model struct {
	// ID is the maker's name of the model. Longer names that begin with it, such as those with a date, match too.
	ID      string `json:"id"`
	Context int    `json:"context,omitempty"`
	Output  int    `json:"output,omitempty"`
	Tools   bool   `json:"tools,omitempty"`
	Images  bool   `json:"images,omitempty"`
	PDF     bool   `json:"pdf,omitempty"`
	// Reasoning means that it can be asked to think, or always does.
	Reasoning bool `json:"reasoning,omitempty"`
	// Price at Host; nil if it is unknown, or the model runs on the user's machine.
	Price *Price `json:"price,omitempty"`
	// Host is the provider whose price it is.
	Host string `json:"host,omitempty"`
	// Date is when the row was written, Page where the maker publishes the price.
	Date string `json:"date,omitempty"`
	Page string `json:"page,omitempty"`
	// Known is false for a model that is not in the table.
	Known bool `json:"-"`
}

// Price is in US dollars per million tokens, which equals millionths of a dollar per token.
type Price struct {
	Input      float64 `json:"input"`
	Cached     float64 `json:"cached,omitempty"`     // read from the cache; 0 means as Input
	CacheWrite float64 `json:"cacheWrite,omitempty"` // 0 means as Input
	Output     float64 `json:"output"`
	// Long is the price of requests with more than LongFrom tokens of input; nil means that there is one price.
	LongFrom int64  `json:"longFrom,omitempty"`
	Long     *Price `json:"long,omitempty"`
}

// Cost returns what u costs in millionths of a dollar.
func (p *Price) Cost(u llm.Usage) int64 {
	if p.Long != nil && u.Input > p.LongFrom {
		return p.Long.Cost(u)
	}
	or := func(price float64) float64 {
		if price == 0 {
			return p.Input
		}
		return price
	}
	uncached := max(u.Input-u.Cached-u.CacheWrite, 0)
	return int64(math.Round(float64(uncached)*p.Input + float64(u.Cached)*or(p.Cached) + float64(u.CacheWrite)*or(p.CacheWrite) + float64(u.Output)*p.Output))
}

// Find returns what is known of a model at the provider with that base URL. If several rows match, the longest ID wins.
// The price is included only if it is that provider's.
func Find(baseURL, model string) Model {
	m, ok := bestMatch(model)
	if !ok {
		return Model{ID: model, Context: UnknownContext, Tools: true, Images: true}
	}
	if u, err := url.Parse(baseURL); err != nil || m.Host == "" || u.Hostname() != m.Host {
		m.Price = nil
	}
	return m
}

// bestMatch returns the row with the longest ID that name begins with, up to a separator. A name with more than a date
// after the ID may mean another model, so its price is left out.
func bestMatch(name string) (best Model, ok bool) {
	name = normalize(name)
	for _, m := range table {
		rest, fits := strings.CutPrefix(name, normalize(m.ID))
		if fits && (rest == "" || strings.ContainsAny(rest[:1], "-:@")) && len(m.ID) > len(best.ID) {
			if best, ok = m, true; !isOnlyDate(rest) {
				best.Price = nil
			}
		}
	}
	best.Known = ok
	return best, ok
}

// normalize removes the maker from a name and writes dots as dashes, because sellers of a model spell it differently.
func normalize(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.ReplaceAll(strings.ToLower(name), ".", "-")
}

// isOnlyDate reports whether rest, the part of a name after the ID, is empty, a date, or a word for the latest version.
func isOnlyDate(rest string) bool {
	if rest == "" {
		return true
	}
	parts := strings.Split(rest, "-")[1:]
	for i, p := range parts {
		number := strings.Trim(p, "0123456789") == ""
		if !number && p != "latest" && p != "preview" || number && i == 0 && len(p) < 3 {
			return false
		}
	}
	return len(parts) > 0 && rest[0] == '-'
}
