package kerneltest

import (
	"strings"

	"github.com/tidwall/gjson"
)

// doOperation is one step of a transaction as the kernel echoes it.
type doOperation struct {
	Action            string `json:"action"`
	Data              any    `json:"data"`
	ID                string `json:"id"`
	RootID            string `json:"rootID"`
	ParentID          string `json:"parentID"`
	PreviousID        string `json:"previousID"`
	NextID            string `json:"nextID"`
	RetData           any    `json:"retData"`
	BlockIDs          any    `json:"blockIDs"`
	BlockID           string `json:"blockID"`
	DeckID            string `json:"deckID"`
	AvID              string `json:"avID"`
	SrcIDs            any    `json:"srcIDs"`
	Srcs              any    `json:"srcs"`
	IsDetached        bool   `json:"isDetached"`
	Name              string `json:"name"`
	Type              string `json:"type"`
	Format            string `json:"format"`
	KeyID             string `json:"keyID"`
	RowID             string `json:"rowID"`
	IsTwoWay          bool   `json:"isTwoWay"`
	BackRelationKeyID string `json:"backRelationKeyID"`
	RemoveDest        bool   `json:"removeDest"`
	Layout            string `json:"layout"`
	GroupID           string `json:"groupID"`
	TargetGroupID     string `json:"targetGroupID"`
	ViewID            string `json:"viewID"`
	IgnoreDefaultFill bool   `json:"ignoreDefaultFill"`
	Context           any    `json:"context"`
}

// transaction is what a write of blocks answers.
type transaction struct {
	Timestamp      int64         `json:"timestamp"`
	DoOperations   []doOperation `json:"doOperations"`
	UndoOperations any           `json:"undoOperations"`
}

// transacted answers each operation as a transaction of its own.
func transacted(ops ...doOperation) reply {
	list := make([]transaction, len(ops))
	for i, op := range ops {
		list[i] = transaction{DoOperations: []doOperation{op}}
	}
	return ok(list)
}

// operation carries out one step of /api/transactions. raw is the step as sent. What it changes in op is echoed;
// false rolls the whole transaction back.
type operation func(k *Kernel, op *doOperation, raw gjson.Result) bool

// handleOperation adds an action of /api/transactions. Unknown actions are echoed and do nothing.
func (k *Kernel) handleOperation(action string, do operation) {
	if k.operations[action] != nil {
		panic("kerneltest: two operations " + action)
	}
	k.operations[action] = do
}

// parseData reads the data of a write: markdown, or the editor's DOM for every other type. There is always a block.
func parseData(dataType, data string) []*block {
	if dataType != "markdown" {
		return parseDOM(data)
	}
	if blocks := parseMarkdown(data); len(blocks) > 0 {
		return blocks
	}
	return []*block{{kind: kindParagraph}}
}

// renderData is the data of the echoed operation: the DOM of markdown, other data as it came.
func renderData(dataType, data string, blocks []*block) string {
	if dataType != "markdown" {
		return data
	}
	if strings.TrimSpace(data) == "" {
		return domOf(blocks[0], 0)
	}
	return domsOf(blocks)
}
