package api

// DoOperation is one step of a transaction as the kernel echoes it.
type DoOperation struct {
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

// Transaction is what a write of blocks answers.
type Transaction struct {
	Timestamp      int64         `json:"timestamp"`
	DoOperations   []DoOperation `json:"doOperations"`
	UndoOperations any           `json:"undoOperations"`
}

// Transacted answers each operation as a transaction of its own.
func Transacted(ops ...DoOperation) Reply {
	list := make([]Transaction, len(ops))
	for i, op := range ops {
		list[i] = Transaction{DoOperations: []DoOperation{op}}
	}
	return OK(list)
}

const (
	// Version is the version of the kernel whose answers were recorded, and what the vault reports as its own.
	Version = "3.7.3"
	// Root is the folder in which the workspace lies, as answers and errors show it. There is none: a path below it
	// names a file of the workspace.
	Root = "/workspace"
)
