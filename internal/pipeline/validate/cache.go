package validate

import (
	"sync"

	"collie/internal/tool"
)

// The bounds of one generation of the cache. Both generations together hold what some
// thousand actions in use need; schemas only listed are never compiled.
const (
	mostForms = 512
	mostBytes = 4 << 20 // of schemas as written
)

// key is a schema by its content, so that a server that starts again, or a copy of an
// Action, finds what was compiled before.
type key struct {
	schema string
	strict bool
}

// cache holds compiled schemas in two generations: what is used moves to the young one; when
// that is full it becomes the old one, and what was not used for a generation is forgotten.
// The zero value is ready.
type cache struct {
	mu         sync.RWMutex
	young, old map[key]*form
	bytes      int // of the young generation's schemas
}

// get returns the form of a's schema, which may not be compiled yet.
func (c *cache) get(a *tool.Action) *form {
	c.mu.RLock()
	f := c.young[key{string(a.InputSchema), a.Strict}]
	c.mu.RUnlock()
	if f != nil {
		return f
	}
	return c.add(key{string(a.InputSchema), a.Strict})
}

func (c *cache) add(k key) *form {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.young[k]; f != nil {
		return f
	}
	f := c.old[k]
	if f == nil {
		f = &form{strict: k.strict}
	}
	if c.young == nil || len(c.young) >= mostForms || c.bytes >= mostBytes {
		c.old, c.young, c.bytes = c.young, make(map[key]*form), 0
	}
	c.young[k] = f
	c.bytes += len(k.schema)
	return f
}
