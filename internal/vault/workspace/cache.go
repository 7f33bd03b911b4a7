package workspace

import (
	"container/list"
	"sync"
)

// cache keeps the rows of documents lately used, each with the revision it belongs to. It is safe for concurrent use;
// what it holds is never changed.
type cache struct {
	mu     sync.Mutex
	most   int // blocks
	blocks int
	byDoc  map[int64]*list.Element
	order  *list.List // of *cached, the latest first
}

type cached struct {
	doc  int64
	rev  int64
	rows []*nodeRow // parents before children, children in order
}

func newCache(most int) *cache {
	return &cache{most: most, byDoc: map[int64]*list.Element{}, order: list.New()}
}

// get returns the rows of a document at a revision, or nil.
func (c *cache) get(doc, rev int64) []*nodeRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byDoc[doc]
	if e == nil {
		return nil
	}
	kept := e.Value.(*cached)
	if kept.rev != rev {
		if kept.rev < rev {
			c.drop(e)
		}
		return nil
	}
	c.order.MoveToFront(e)
	return kept.rows
}

// put keeps the rows of a document; those of a newer revision stay.
func (c *cache) put(doc, rev int64, rows []*nodeRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byDoc[doc]; e != nil {
		if e.Value.(*cached).rev > rev {
			return
		}
		c.drop(e)
	}
	if len(rows) > c.most {
		return
	}
	c.byDoc[doc] = c.order.PushFront(&cached{doc: doc, rev: rev, rows: rows})
	c.blocks += len(rows)
	for c.blocks > c.most {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	kept := c.order.Remove(e).(*cached)
	delete(c.byDoc, kept.doc)
	c.blocks -= len(kept.rows)
}
