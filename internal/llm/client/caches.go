package client

import "slices"

// CacheStats are figures about one of the caches in memory, counted since the client was made.
type CacheStats struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
	Limit   int    `json:"limit,omitempty"` // maximum number of entries; 0 means no limit
	Hits    uint64 `json:"hits"`
	Misses  uint64 `json:"misses"`
	Evicted uint64 `json:"evicted"`
}

// The caches of a client.
const (
	// CacheModels finds the provider of a model, and keeps the header fields of providers that were read from secrets.
	CacheModels = "models"
	// CacheTransformers has how requests are adapted to a model, for ten minutes.
	CacheTransformers = "transformers"
)

// Caches returns figures about the caches, by name.
func (c *Client) Caches() []CacheStats {
	t := c.chains.Stats()
	return []CacheStats{
		{Name: CacheModels, Entries: len(c.index.Load().list), Hits: c.found.Load(), Misses: c.missed.Load()},
		{Name: CacheTransformers, Entries: t.Entries, Limit: t.Limit, Hits: t.Hits, Misses: t.Built, Evicted: t.Evicted},
	}
}

// ClearCache empties the cache of that name and returns how many entries it had. The configured models are indexed
// again at once, and secrets are read again when they are needed. known is false if there is no such cache.
func (c *Client) ClearCache(name string) (entries int, known bool) {
	switch name {
	case CacheTransformers:
		return c.chains.Clear(), true
	case CacheModels:
		return c.reindex(), true
	}
	return 0, false
}

// reindex makes the index again, without the header fields that were resolved, and returns the number of providers in it.
func (c *Client) reindex() int {
	for {
		was := c.index.Load()
		x := &index{byName: make(map[string]*provider, len(was.list)), list: slices.Clone(was.list), overrides: was.overrides}
		for i, p := range was.list {
			x.list[i] = &provider{Provider: p.Provider, codec: p.codec, headers: c.headersOf(p.Provider)}
			x.byName[p.Name] = x.list[i]
		}
		if c.index.CompareAndSwap(was, x) { // else other settings came meanwhile
			return len(x.list)
		}
	}
}
