package content

import (
	"context"
	"maps"
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// maxSingleTexts is the largest document, in blocks, of which the texts of single blocks are requested by id. The kernel
// walks the document for each id: 50 of 500 blocks take half a second, but the whole document some 20 ms.
const maxSingleTexts = 100

// kramdownOf returns the kramdown of some of a document's top-level blocks; all has all of them in order. If it had to
// read the whole document, the result includes the document's kramdown. Blocks that are gone are left out. Only
// blocks with an index in [from, to) are needed.
func kramdownOf(ctx context.Context, k *kernel.Client, doc kernel.ID, all, some []kernel.Block, from, to int) (map[kernel.ID]string, error) {
	if len(all) > maxSingleTexts {
		text, err := k.Kramdown(ctx, doc)
		if err != nil {
			return nil, err
		}
		if out, ok := splitBlocks(text, all, from, to); ok {
			out[doc] = text
			return out, nil
		}
	}
	out := map[kernel.ID]string{}
	for at := 0; at < len(some); at += blocksPerRequest {
		ids := blockIDs(some[at:min(at+blocksPerRequest, len(some))])
		if doc != "" && len(ids) == len(all) {
			ids = append(ids, doc) // the whole document, for its hash
		}
		got, err := k.Kramdowns(ctx, ids, "md")
		if err != nil {
			return nil, err
		}
		maps.Copy(out, got)
	}
	return out, nil
}

// splitBlocks splits the kramdown of a document into that of its top-level blocks: each ends with a line that is its
// attribute list. ok is false if the text does not fit the blocks, for example because one was added meanwhile.
//
// Only the blocks from index from to to are checked closely, which takes most of the time in a long document. Before
// them, an attribute list in code may be taken for a block's own and spoil the next block at most, so the block
// before from is checked as well.
func splitBlocks(text string, blocks []kernel.Block, from, to int) (map[kernel.ID]string, bool) {
	out := make(map[kernel.ID]string, len(blocks)+1)
	at := 0
	for i, b := range blocks {
		end := attrListEnd(text[at:], b.ID)
		if end < 0 {
			return nil, false
		}
		out[b.ID] = strings.TrimLeft(text[at:at+end], "\n")
		if i < from-1 || i >= to {
			at += end
			continue
		}
		if _, ok := attrListSpan(out[b.ID], b.ID); !ok { // it is part of code that contains the block's list
			return nil, false
		}
		at += end
	}
	rest := strings.TrimLeft(text[at:], "\n") // the attributes of the document
	return out, isAttributeLine(rest) && !strings.Contains(strings.TrimRight(rest, "\n"), "\n")
}

// attrListEnd returns the end of the line that is a block's attribute list, -1 if there is none.
func attrListEnd(text string, id kernel.ID) int {
	mark := ` id="` + string(id) + `"`
	for from := 0; ; {
		i := strings.Index(text[from:], mark)
		if i < 0 {
			return -1
		}
		i += from
		start := strings.LastIndexByte(text[:i], '\n') + 1
		end := len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
		}
		if strings.HasPrefix(text[start:], "{:") && isAttributeLine(text[start:end]) {
			return end
		}
		from = i + len(mark)
	}
}
