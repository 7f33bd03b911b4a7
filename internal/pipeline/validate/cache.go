package validate

import (
	"sync"

	"collie/internal/tool"
)

// The limits of one generation of the cache. Two generations hold what some thousand used actions need;
// schemas that are only listed are never compiled.
const (
	maxForms       = 512
	maxSchemaBytes = 4 << 20 // bytes of schema text
)

// key identifies a schema by its content, so that the compiled form is found again for a copy of an Action or
// after a server's restart.
type key struct {
	schema string
	strict bool
}

// cache holds compiled schemas in two generations. A schema that is used moves to the young one. When that is
// full, it becomes the old one, and the schemas that were not used meanwhile are dropped. The zero value is
// ready.
type cache struct {
	mu         sync.RWMutex
	young, old map[key]*form
	bytes      int // bytes of schemas in the young generation
}

// get returns the form for a's schema; it may not be compiled yet.
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
	if c.young == nil || len(c.young) >= maxForms || c.bytes >= maxSchemaBytes {
		c.old, c.young, c.bytes = c.young, make(map[key]*form), 0
	}
	c.young[k] = f
	c.bytes += len(k.schema)
	return f
}
