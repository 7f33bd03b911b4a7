// Package transform adapts requests to one model of one provider. It does so in an ordered list of steps, a chain,
// which is built once for each combination of provider, model and options and cached for ten minutes.
package transform

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/models"
	"collie/internal/llm/wire"
)

// How long a chain is cached, and how many are.
const (
	cacheTTL        = 10 * time.Minute
	maxCachedChains = 256
)

// Options say which model of which provider a request is adapted to.
type Options struct {
	Provider string // name in the settings; parts with opaque data name it
	Kind     string // of the API
	BaseURL  string // its host tells compatible servers apart
	Model    models.Model
	ID       string // name of the model in requests
	// Extra are fields of the body from the settings; they override all others.
	Extra map[string]json.RawMessage
}

// Chains builds and caches chains. It is safe for concurrent use.
type Chains struct {
	now func() time.Time

	mu      sync.Mutex
	cache   map[string]cachedChain
	hits    uint64
	built   uint64
	evicted uint64
}

// Stats are figures about the cache, counted since it was made.
type Stats struct {
	Entries, Limit int
	Hits           uint64
	Built          uint64 // chains, each for a request that found none
	Evicted        uint64 // chains that were removed to make room: expired ones, or the oldest
}

type cachedChain struct {
	chain *chain
	until time.Time
}

// New returns an empty Chains whose clock is now.
func New(now func() time.Time) *Chains {
	return &Chains{now: now, cache: map[string]cachedChain{}}
}

// Stats returns the present figures.
func (c *Chains) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{len(c.cache), maxCachedChains, c.hits, c.built, c.evicted}
}

// Clear empties the cache and returns how many chains it held.
func (c *Chains) Clear() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.cache)
	clear(c.cache)
	return n
}

// Draft adapts r, without changing or keeping it.
func (c *Chains) Draft(o Options, r *llm.Request) (*wire.Draft, error) {
	if r.Model == "" && o.ID == "" {
		return nil, &llm.Error{Class: llm.ClassCaller, Provider: o.Provider, Message: "no model is named"}
	}
	ch := c.chain(o)
	d := &wire.Draft{
		Model: o.ID, System: r.System, Messages: r.Messages, Tools: r.Tools, NoTools: r.NoTools, MaxOutput: r.MaxOutput, Temperature: r.Temperature,
		Effort: r.Effort, Stop: r.Stop, Session: r.Session, Style: ch.style, Extra: o.Extra,
	}
	for _, step := range ch.steps {
		step(ch, d)
	}
	return d, nil
}

// chain returns the chain for one model, from the cache if it is there.
func (c *Chains) chain(o Options) *chain {
	key := o.key()
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.cache[key]; ok && now.Before(k.until) {
		c.hits++
		return k.chain
	}
	if len(c.cache) >= maxCachedChains {
		c.evict(now)
	}
	ch := compile(o)
	c.built++
	c.cache[key] = cachedChain{ch, now.Add(cacheTTL)}
	return ch
}

// evict removes expired chains, or the oldest one if none has expired.
func (c *Chains) evict(now time.Time) {
	oldest := ""
	for key, k := range c.cache {
		if !now.Before(k.until) {
			delete(c.cache, key)
			c.evicted++
		} else if oldest == "" || k.until.Before(c.cache[oldest].until) {
			oldest = key
		}
	}
	if len(c.cache) >= maxCachedChains {
		delete(c.cache, oldest)
		c.evicted++
	}
}

// key identifies a chain. Extra is not part of it, since chains do not use it.
func (o Options) key() string {
	return fmt.Sprintf("%q %q %q %q %+v", o.Provider, o.Kind, o.BaseURL, o.ID, o.Model)
}

// chain holds the steps that adapt requests to one model.
type chain struct {
	provider string
	model    models.Model
	style    wire.Style
	schemas  schemaDialect
	steps    []func(*chain, *wire.Draft)

	mu      sync.Mutex
	lowered map[string]json.RawMessage // converted schemas, by the original
}

// compile decides which steps are needed. dropForeign and pairResults come first, so that the steps after them see only the
// messages that are sent, with each result behind its call.
func compile(o Options) *chain {
	ch := &chain{provider: o.Provider, model: o.Model, lowered: map[string]json.RawMessage{}}
	ch.style, ch.schemas = styleOf(o)
	ch.steps = []func(*chain, *wire.Draft){dropForeign, pairResults, fixCallIDs}
	if ch.style.SystemRole == "user" {
		ch.steps = append(ch.steps, systemAsUser)
	}
	if !o.Model.Images {
		ch.steps = append(ch.steps, replaceImages)
	} else if !ch.style.ResultImages {
		ch.steps = append(ch.steps, moveResultImages)
	}
	ch.steps = append(ch.steps, lowerSchemas, nameTools, limitOutput)
	return ch
}

// styleOf returns how requests to a model look, and how much of JSON Schema its provider accepts. Compatible servers are told
// apart by their hosts.
func styleOf(o Options) (wire.Style, schemaDialect) {
	s := wire.Style{SystemRole: "system", MaxOutputField: "max_tokens", Sampling: true}
	u, _ := url.Parse(o.BaseURL)
	host := ""
	if u != nil {
		host = u.Hostname()
	}
	name := strings.ToLower(o.ID)
	name = name[strings.LastIndexByte(name, '/')+1:]
	switch o.Kind {
	case "anthropic":
		s.CacheMarks, s.ResultImages, s.RequiresMaxOutput = true, true, true
		switch {
		case adaptsThinking(name):
			s.Thinking = wire.ThinkAdaptive
		case o.Model.Reasoning || !o.Model.Known:
			s.Thinking = wire.ThinkBudget
		}
		return s, fullSchema
	case "gemini":
		s.ResultImages = strings.HasPrefix(name, "gemini-3")
		switch {
		case strings.HasPrefix(name, "gemini-3"):
			s.Thinking, s.ThinkOff = wire.ThinkEffort, "low"
		case strings.HasPrefix(name, "gemini-2.5"):
			s.Thinking, s.ThinkOff = wire.ThinkBudget, "0"
			if strings.HasPrefix(name, "gemini-2.5-pro") {
				s.ThinkOff = "128" // it cannot be switched off
			}
		}
		return s, openAPI
	case "ollama":
		s.Context = o.Model.Context
		if o.Model.Reasoning {
			s.Thinking = wire.ThinkSwitch
			if strings.HasPrefix(name, "gpt-oss") {
				s.Thinking, s.ThinkOff = wire.ThinkEffort, "low"
			}
		}
		return s, inlineRefs
	}
	if o.Model.Reasoning {
		s.Thinking = wire.ThinkEffort
	}
	switch {
	case host == "" || host == "api.openai.com":
		s.MaxOutputField = "max_completion_tokens"
		if o.Model.Reasoning {
			s.SystemRole, s.Sampling = "developer", false
			s.ThinkOff = lowestEffort(name)
		}
		s.ResultImages = o.Kind == "responses"
		return s, fullSchema
	case host == "openrouter.ai":
		s.Thinking = wire.ThinkNested
		s.CacheMarks = strings.Contains(o.ID, "anthropic/")
		s.KeepReasoning = "reasoning"
	case host == "api.deepseek.com", host == "api.moonshot.ai", host == "api.moonshot.cn", host == "api.z.ai", host == "open.bigmodel.cn",
		host == "api.minimax.io", host == "api.minimaxi.com":
		s.Thinking, s.KeepReasoning = "", "reasoning_content"
		if o.Model.Reasoning && slices.Contains([]string{"api.z.ai", "open.bigmodel.cn"}, host) {
			s.Thinking = wire.ThinkSwitch
		}
	case host == "api.x.ai" && strings.HasPrefix(name, "grok-4"), host == "api.mistral.ai":
		s.Thinking = "" // they have no effort setting
	case strings.HasPrefix(name, "gemma"):
		s.SystemRole = "user"
	}
	return s, inlineRefs
}

// adaptsThinking reports whether a model of Anthropic decides itself how much it thinks. All models do that are newer than
// those listed here.
func adaptsThinking(name string) bool {
	for _, old := range []string{"claude-2", "claude-3", "-4-0", "-4-1", "-4-5", "-4-2025", "haiku-4"} {
		if strings.Contains(name, old) {
			return false
		}
	}
	return strings.HasPrefix(name, "claude-") && !slices.Contains([]string{"claude-opus-4", "claude-sonnet-4"}, name)
}

// lowestEffort returns the effort closest to none that a model accepts.
func lowestEffort(name string) string {
	switch {
	case strings.HasPrefix(name, "gpt-5.") && !strings.Contains(name, "pro"):
		return "none"
	case strings.HasPrefix(name, "gpt-5") && !strings.Contains(name, "pro"):
		return "minimal"
	}
	return "low"
}
