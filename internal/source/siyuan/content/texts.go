package content

import (
	"context"
	"maps"
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// singly is how many blocks a document may have for the texts of some of them to be asked for by
// their ids. The kernel goes through the document for each id: 50 of 500 blocks take it half a
// second, and the whole document some 20 milliseconds.
const singly = 100

// texts returns the kramdown of blocks right below a document, among all that are there in order,
// and that of the document where that is what was read. Blocks that are gone are left out. Those from one index to
// another are what the caller may use of it.
func texts(ctx context.Context, k *kernel.Client, doc kernel.ID, all, some []kernel.Block, from, to int) (map[kernel.ID]string, error) {
	if len(all) > singly {
		whole, err := k.Kramdown(ctx, doc)
		if err != nil {
			return nil, err
		}
		if out, ok := cut(whole, all, from, to); ok {
			out[doc] = whole
			return out, nil
		}
	}
	out := map[kernel.ID]string{}
	for at := 0; at < len(some); at += chunk {
		ids := blockIDs(some[at:min(at+chunk, len(some))])
		if doc != "" && len(ids) == len(all) {
			ids = append(ids, doc) // the whole of it, for its hash
		}
		got, err := k.Kramdowns(ctx, ids, "md")
		if err != nil {
			return nil, err
		}
		maps.Copy(out, got)
	}
	return out, nil
}

// cut cuts the kramdown of a document into that of the blocks right below it: each ends with a line
// that is its attribute list. It fails where the two do not belong together, as when a block has
// been added in between. Only the blocks from one index to another are looked at closely: in a long document that takes more
// time than all else. A list of attributes in code before them may stand in for a block's own, and spoils the next block at
// most, so that the one before the first is looked at too.
func cut(whole string, blocks []kernel.Block, from, to int) (map[kernel.ID]string, bool) {
	out := make(map[kernel.ID]string, len(blocks)+1)
	at := 0
	for i, b := range blocks {
		end := ownLine(whole[at:], b.ID)
		if end < 0 {
			return nil, false
		}
		out[b.ID] = strings.TrimLeft(whole[at:at+end], "\n")
		if i < from-1 || i >= to {
			at += end
			continue
		}
		if _, ok := ownList(out[b.ID], b.ID); !ok { // it is in code, which has the block's list in it
			return nil, false
		}
		at += end
	}
	rest := strings.TrimLeft(whole[at:], "\n") // the attributes of the document
	return out, attributeLine(rest) && !strings.Contains(strings.TrimRight(rest, "\n"), "\n")
}

// ownLine is where the line ends that is the attribute list of a block, -1 if there is none.
func ownLine(text string, id kernel.ID) int {
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
		if strings.HasPrefix(text[start:], "{:") && attributeLine(text[start:end]) {
			return end
		}
		from = i + len(mark)
	}
}
