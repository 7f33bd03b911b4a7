package edit

import (
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// markdown is the data type of Markdown; every other one is taken for the DOM of the editor.
const markdown = "markdown"

// Parse reads the data of a write, Markdown if dataType is "markdown" and else the DOM of the editor. There is always
// a block: an empty paragraph if there is nothing else. The blocks have yet to go through Tx.Identify.
func Parse(dataType, data string) []*tree.Block {
	if dataType != markdown {
		return markup.ParseDOM(data)
	}
	if blocks := markup.Parse(data); len(blocks) > 0 {
		return blocks
	}
	return []*tree.Block{{Kind: tree.Paragraph}}
}

// Echo is the data of the operation that a write of blocks answers: their DOM if they came as Markdown, and other data
// as it came. blocks are what Parse and Tx.Identify made of data, not yet put anywhere.
func Echo(dataType, data string, blocks []*tree.Block) string {
	if dataType != markdown {
		return data
	}
	if strings.TrimSpace(data) == "" {
		return markup.DOM(blocks[0])
	}
	return markup.DOMs(blocks)
}
