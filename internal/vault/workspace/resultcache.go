package workspace

import (
	"slices"
	"sync"
)

const (
	// maxCached bounds how many values a [ResultCache] has.
	maxCached = 16
	// maxChanged bounds the changed blocks of a value. After more changes, the value is dropped, since looking up that
	// many blocks again saves little.
	maxChanged = 4096
)

// ResultCache is a small cache of values that are derived from blocks, such as the results of searches; see [Keys.Results].
// It keeps the values that were used last. It is safe for concurrent use; the zero value is empty. Values are shared, so
// nobody may change them.
type ResultCache struct {
	mu     sync.Mutex
	keys   []string // the last used first
	values map[string]CachedResult
}

// CachedResult is a value of a [ResultCache].
type CachedResult struct {
	Value any
	// Changed are the numbers of the blocks that were written or removed since Value was computed. If there are none,
	// Value is up to date.
	Changed []int64
}

// Get returns the value of a key; its Value is nil if it is not cached.
func (c *ResultCache) Get(key string) CachedResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, found := c.values[key]
	if found {
		c.moveToFront(key)
	}
	return r
}

// Put caches a value that is up to date. If there are too many, the least recently used one is dropped.
func (c *ResultCache) Put(key string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = map[string]CachedResult{}
	}
	c.values[key] = CachedResult{Value: value}
	c.moveToFront(key)
	if len(c.keys) > maxCached {
		delete(c.values, c.keys[maxCached])
		c.keys = c.keys[:maxCached]
	}
}

// moveToFront moves a key to the front of keys, or inserts it there if it is new.
func (c *ResultCache) moveToFront(key string) {
	for i, k := range c.keys {
		if k == key {
			copy(c.keys[1:i+1], c.keys[:i])
			c.keys[0] = key
			return
		}
	}
	c.keys = append([]string{key}, c.keys...)
}

// inherit copies the values of an earlier cache into c, which must be empty, and adds to each the blocks that have changed
// since. It leaves out values with more than maxChanged changed blocks.
func (c *ResultCache) inherit(earlier *ResultCache, changed []int64) {
	if len(changed) > maxChanged {
		return
	}
	earlier.mu.Lock()
	defer earlier.mu.Unlock()
	c.values = map[string]CachedResult{}
	for _, key := range earlier.keys {
		r := earlier.values[key]
		if len(r.Changed)+len(changed) > maxChanged {
			continue
		}
		c.keys = append(c.keys, key)
		c.values[key] = CachedResult{Value: r.Value, Changed: slices.Concat(r.Changed, changed)}
	}
}
