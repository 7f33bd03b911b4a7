package kernel

import "encoding/json"

// Inserted are the blocks that the insertions of a transaction were to make, those inside others
// included. Whether they came to be is not said: see [Client.Nodes].
func Inserted(t Transaction) []DOMBlock {
	var out []DOMBlock
	for _, op := range t.DoOperations {
		if op.Action != "insert" {
			continue
		}
		blocks := ParseDOM(DOMOf(op.Data))
		if op.ID != "" && (len(blocks) == 0 || blocks[0].ID != op.ID) {
			out = append(out, DOMBlock{ID: op.ID}) // DOM without an id of its own got one
		}
		out = append(out, blocks...)
	}
	return out
}

// DOMOf is the DOM that an operation carries as its data; "" if it carries something else.
func DOMOf(data json.RawMessage) string {
	var dom string
	if json.Unmarshal(data, &dom) != nil {
		return ""
	}
	return dom
}
