package api

// DoOperation is one operation of a transaction in the form in which the kernel answers it.
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

// Transaction is the answer to a write of blocks.
type Transaction struct {
	Timestamp      int64         `json:"timestamp"`
	DoOperations   []DoOperation `json:"doOperations"`
	UndoOperations any           `json:"undoOperations"`
}

// Transacted returns a reply with each operation in a transaction of its own.
func Transacted(ops ...DoOperation) Reply {
	list := make([]Transaction, len(ops))
	for i, op := range ops {
		list[i] = Transaction{DoOperations: []DoOperation{op}}
	}
	return OK(list)
}

const (
	// Version is the version of the kernel that was recorded. The vault reports it as its own.
	Version = "3.7.3"
	// Root is the path of the workspace in answers and errors. No such folder exists: a path below it is that of a file
	// in the workspace.
	Root = "/workspace"
)
