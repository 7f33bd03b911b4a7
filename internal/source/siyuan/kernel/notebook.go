package kernel

import "context"

// Notebook is a notebook as lsNotebooks lists it.
type Notebook struct {
	ID                ID     `json:"id"`
	Name              string `json:"name"`
	Icon              string `json:"icon"`
	Sort              int    `json:"sort"`
	SortMode          int    `json:"sortMode"`
	Closed            bool   `json:"closed"`
	NewFlashcardCount int    `json:"newFlashcardCount"`
	DueFlashcardCount int    `json:"dueFlashcardCount"`
	FlashcardCount    int    `json:"flashcardCount"`
	Encrypted         bool   `json:"encrypted"`
	Unlocked          bool   `json:"unlocked"`
}

// Locked reports whether a notebook is encrypted and nobody has unlocked it.
func (n *Notebook) Locked() bool { return n.Encrypted && !n.Unlocked }

// Notebooks lists all notebooks, closed ones included. (With flashcard:true the kernel lists only
// those that have cards.)
func (c *Client) Notebooks(ctx context.Context) ([]Notebook, error) {
	var out struct{ Notebooks []Notebook }
	err := c.call(ctx, "/api/notebook/lsNotebooks", readData, nil, &out)
	return out.Notebooks, err
}
