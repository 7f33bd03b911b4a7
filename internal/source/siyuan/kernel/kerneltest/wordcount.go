package kerneltest

// wordCount is the statistics of some text.
type wordCount struct {
	RuneCount  int `json:"runeCount"`
	WordCount  int `json:"wordCount"`
	LinkCount  int `json:"linkCount"`
	ImageCount int `json:"imageCount"`
	RefCount   int `json:"refCount"`
	BlockCount int `json:"blockCount"`
}

// add counts text: a CJK character is a word of its own; blanks are no runes.
func (c *wordCount) add(text string) {
	inWord := false
	for _, r := range text {
		switch {
		case r == ' ' || r == '\n' || r == '\t':
			inWord = false
			continue
		case r >= 0x2e80:
			c.WordCount++
			inWord = false
		case !inWord:
			c.WordCount++
			inWord = true
		}
		c.RuneCount++
	}
}

func (c *wordCount) addBlock(b *block) {
	c.BlockCount++
	c.addText(b)
}

func (c *wordCount) addText(b *block) {
	if !b.container() {
		c.add(contentOf(b))
		for _, s := range spansOf(b.text) {
			switch s.kind {
			case "a":
				c.LinkCount++
			case "img":
				c.ImageCount++
			case "block-ref":
				c.RefCount++
			}
		}
	}
	for _, child := range b.children {
		c.addText(child)
	}
}

func getBlocksWordCount(k *Kernel, req request) reply {
	var c wordCount
	for _, id := range req.strs("ids") {
		if b := k.openBlock(id); b != nil {
			c.addBlock(b)
		}
	}
	return ok(map[string]any{"reqId": nil, "stat": c})
}

func getTreeStat(k *Kernel, req request) reply {
	var c wordCount
	if b := k.openBlock(req.id("id")); b != nil {
		c.addText(b)
		b.walk(func(*block) { c.BlockCount++ })
		c.BlockCount-- // b itself
	}
	return ok(map[string]any{"reqId": nil, "stat": c})
}
