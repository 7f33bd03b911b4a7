package notebook

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// listed is a notebook in a list.
type listed struct {
	ID                kernel.ID `json:"id" about:"notebook id"`
	Name              string    `json:"name" about:"its name; names may repeat"`
	Icon              string    `json:"icon" about:"code points of an emoji" verbose:"yes"`
	Sort              int       `json:"sort" about:"its place in the list" verbose:"yes"`
	SortMode          int       `json:"sortMode" about:"order of its documents, 15 is that of the workspace" verbose:"yes"`
	Closed            bool      `json:"closed" about:"whether it is closed"`
	NewFlashcardCount int       `json:"newFlashcardCount" about:"new cards" verbose:"yes"`
	DueFlashcardCount int       `json:"dueFlashcardCount" about:"cards that are due" verbose:"yes"`
	FlashcardCount    int       `json:"flashcardCount" about:"cards" verbose:"yes"`
}

func listing(n *kernel.Notebook) listed {
	return listed{
		ID: n.ID, Name: n.Name, Icon: n.Icon, Sort: n.Sort, SortMode: n.SortMode, Closed: n.Closed,
		NewFlashcardCount: n.NewFlashcardCount, DueFlashcardCount: n.DueFlashcardCount, FlashcardCount: n.FlashcardCount,
	}
}

func list() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "list", Purpose: "List the notebooks",
		Guide:     "Closed notebooks are listed too; open one with set_open_state before you read it.",
		Common:    true,
		Class:     action.Reads,
		Unguarded: "lists only notebooks that may be read",
		Endpoints: []string{"notebook/lsNotebooks"},
		Result:    []listed{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		visible, err := r.Levels.Visible(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]listed, 0, len(visible))
		for i := range visible {
			out = append(out, listing(&visible[i]))
		}
		return out, nil
	})
}
