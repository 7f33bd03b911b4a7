package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// stat counts what is in some blocks.
type stat struct {
	RuneCount  int `json:"runeCount"`
	WordCount  int `json:"wordCount"`
	LinkCount  int `json:"linkCount"`
	ImageCount int `json:"imageCount"`
	RefCount   int `json:"refCount"`
	BlockCount int `json:"blockCount"`
}

// getBlocksWordCount counts what is in blocks together. blockCount is of the blocks that were named only.
func getBlocksWordCount(tx *workspace.Tx, req api.Request) api.Reply {
	var s stat
	for _, id := range req.Strs("ids") {
		if b := tx.Block(id); b != nil {
			s.BlockCount++
			s.addBlock(b)
		}
	}
	return api.OK(map[string]any{"reqId": nil, "stat": s})
}

// addBlock counts the leaves of b; titles of documents do not count.
func (s *stat) addBlock(b *tree.Block) {
	b.Walk(func(b *tree.Block) {
		if b.Container() {
			return
		}
		s.addText(markup.Content(b))
		for _, span := range markup.Spans(b.Text) {
			switch span.Kind {
			case "a":
				s.LinkCount++
			case "img":
				s.ImageCount++
			case "block-ref":
				s.RefCount++
			}
		}
	})
}

// addText counts text: a CJK character is a word of its own, blanks are no runes.
func (s *stat) addText(text string) {
	inWord := false
	for _, r := range text {
		switch {
		case r == ' ' || r == '\n' || r == '\t':
			inWord = false
			continue
		case r >= 0x2e80: // from the CJK radicals on
			s.WordCount++
			inWord = false
		case !inWord:
			s.WordCount++
			inWord = true
		}
		s.RuneCount++
	}
}
