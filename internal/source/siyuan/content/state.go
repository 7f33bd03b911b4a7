package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"collie/internal/source/siyuan/kernel"
)

// Saved is the state of a block or document, with all that is needed to restore it.
type Saved struct {
	ID kernel.ID `json:"id"`
	// Kramdown is its text with the attributes of all blocks in it; for a document, the whole of it. "" means that it
	// does not exist.
	Kramdown string `json:"kramdown"`
	// Attrs are its own attributes. Children are its child blocks; for a heading those of its section.
	Attrs    map[string]string `json:"attrs"`
	Children []kernel.ID       `json:"children"`
}

// State reads blocks and documents in the order of ids, and returns a hash over all of them. Equal hashes mean that
// nobody has changed text, attributes or blocks in between; times of changes are not part of the hash. A block that does
// not exist is part of it as such.
func State(ctx context.Context, k *kernel.Client, ids []kernel.ID) (hash string, blocks []Saved, err error) {
	texts, err := k.Kramdowns(ctx, ids, "md")
	if err != nil {
		return "", nil, err
	}
	attrs, err := k.BatchAttrs(ctx, ids)
	if err != nil {
		return "", nil, err
	}
	for _, id := range ids {
		s := Saved{ID: id, Kramdown: texts[id], Attrs: attrs[id]}
		if s.Kramdown == "" { // the batch left it out; request it alone before it counts as missing
			if s.Kramdown, err = k.Kramdown(ctx, id); err != nil {
				return "", nil, err
			}
		}
		if s.Kramdown != "" {
			children, err := k.ChildBlocks(ctx, id)
			if err != nil {
				return "", nil, err
			}
			s.Children = blockIDs(children)
		}
		blocks = append(blocks, s)
	}
	return StateHash(blocks...), blocks, nil
}

// DocumentHash returns the hash that [State] returns for one document, with a single request.
func DocumentHash(ctx context.Context, k *kernel.Client, doc kernel.ID) (string, error) {
	kramdown, err := k.Kramdown(ctx, doc)
	if err != nil {
		return "", err
	}
	return StateHash(Saved{ID: doc, Kramdown: kramdown}), nil
}

// StateHash returns the hash of states in order: "sha256:v1:" and 64 hexadecimal digits. It covers ids and kramdown,
// which contains attributes and children; Attrs and Children are not used, so that the kramdown of a document is
// enough to compute its hash.
func StateHash(blocks ...Saved) string {
	type entry struct {
		ID       kernel.ID `json:"id"`
		Kramdown string    `json:"kramdown"`
	}
	list := make([]entry, len(blocks))
	for i, b := range blocks {
		list[i] = entry{b.ID, canonicalForm(b.Kramdown)}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic("content: a state does not encode: " + err.Error()) // cannot happen with strings
	}
	sum := sha256.Sum256(raw)
	return "sha256:v1:" + hex.EncodeToString(sum[:])
}
