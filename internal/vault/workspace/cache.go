package workspace

import (
	"container/list"
	"sync"

	"collie/internal/vault/tree"
)

// cache keeps the trees of recently used documents, each with its revision. A transaction takes a tree out for its
// exclusive use, and puts it back at its end. A tree that is not cached must be read from the file. It is safe for
// concurrent use.
type cache struct {
	mu        sync.Mutex
	maxBlocks int                     // from how many blocks on trees are evicted
	blocks    int                     // of all trees
	byDoc     map[int64]*list.Element // elements of order, by the number of the document
	order     *list.List              // of *cachedTree, most recent first
	closed    bool
}

// cachedTree is the cached tree of a document.
type cachedTree struct {
	doc, rev int64
	rows     []*nodeRow // parents before children, children in order
	children []*tree.Block
	index    map[string]*tree.Block // of a large document, see [indexFrom]
}

// newCache returns an empty cache for at most maxBlocks blocks.
func newCache(maxBlocks int) *cache {
	return &cache{maxBlocks: maxBlocks, byDoc: map[int64]*list.Element{}, order: list.New()}
}

// pop removes and returns the tree of a document at a revision, nil if it is not there. It drops a tree of an older revision.
func (c *cache) pop(doc, rev int64) *cachedTree {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byDoc[doc]
	if e == nil || e.Value.(*cachedTree).rev > rev { // a newer tree stays: another transaction sees that revision
		return nil
	}
	entry := c.drop(e)
	if entry.rev != rev {
		return nil
	}
	return entry
}

// put adds the tree of a document, unless a newer revision is cached. It evicts the oldest trees if there are too many
// blocks, but never the one just added.
func (c *cache) put(r *cachedTree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if e := c.byDoc[r.doc]; e != nil {
		if e.Value.(*cachedTree).rev > r.rev {
			return
		}
		c.drop(e)
	}
	c.byDoc[r.doc] = c.order.PushFront(r)
	c.blocks += len(r.rows)
	for c.blocks > c.maxBlocks && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

// drop removes and returns a tree. The caller holds c.mu.
func (c *cache) drop(e *list.Element) *cachedTree {
	entry := c.order.Remove(e).(*cachedTree)
	delete(c.byDoc, entry.doc)
	c.blocks -= len(entry.rows)
	return entry
}

// empty drops all trees.
func (c *cache) empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byDoc)
	c.order.Init()
	c.blocks = 0
}

// close makes the cache refuse further trees. Those in it can still be taken out.
func (c *cache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}
