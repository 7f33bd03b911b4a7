package kerneltest

import (
	"slices"
	"time"
)

// identify gives parsed blocks the ids and times they lack. An id from the input is kept unless it is taken; blocks
// that stand for others, as in an update, name those in keep.
func (k *Kernel) identify(blocks []*block, keep ...string) []*block {
	for _, b := range blocks {
		b.walk(func(b *block) {
			if b.attrs == nil {
				b.attrs = map[string]string{}
			}
			id := b.attrs["id"]
			if !validID(id) || k.blocks[id] != nil && !slices.Contains(keep, id) {
				id = k.newID()
			}
			b.id, b.attrs["id"] = id, id
			k.ids[id] = true
			switch {
			case slices.Contains(keep, id):
				b.attrs["updated"] = stamp(time.Now())
			case b.attrs["updated"] == "":
				b.attrs["updated"] = id[:14]
			}
			for _, child := range b.children {
				child.parent = b
			}
		})
	}
	return blocks
}
