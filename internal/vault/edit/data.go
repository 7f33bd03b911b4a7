package edit

import (
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// markdown is the data type of Markdown; any other means the editor's DOM.
const markdown = "markdown"

// Parse parses the data of a write: Markdown if dataType is "markdown", else the editor's DOM. It always returns a
// block, an empty paragraph if there is nothing else. The caller passes the blocks to Tx.Identify.
func Parse(dataType, data string) []*tree.Block {
	if dataType != markdown {
		return markup.ParseDOM(data)
	}
	if blocks := markup.Parse(data); len(blocks) > 0 {
		return blocks
	}
	return []*tree.Block{{Kind: tree.Paragraph}}
}

// Echo returns the data for the operation that answers a write: the DOM of blocks if data was Markdown, else data
// itself. blocks are what Parse and Tx.Identify returned for data; they must not be inserted yet.
func Echo(dataType, data string, blocks []*tree.Block) string {
	if dataType != markdown {
		return data
	}
	if strings.TrimSpace(data) == "" {
		return markup.DOM(blocks[0])
	}
	return markup.DOMs(blocks)
}
