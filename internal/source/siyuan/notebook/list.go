package notebook

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// listed is a notebook in a list.
type listed struct {
	ID                kernel.ID `json:"id"`
	Name              string    `json:"name"`
	Icon              string    `json:"icon"`
	Sort              int       `json:"sort"`
	SortMode          int       `json:"sortMode"`
	Closed            bool      `json:"closed"`
	NewFlashcardCount int       `json:"newFlashcardCount"`
	DueFlashcardCount int       `json:"dueFlashcardCount"`
	FlashcardCount    int       `json:"flashcardCount"`
}

func listing(n *kernel.Notebook) listed {
	return listed{
		ID: n.ID, Name: n.Name, Icon: n.Icon, Sort: n.Sort, SortMode: n.SortMode, Closed: n.Closed,
		NewFlashcardCount: n.NewFlashcardCount, DueFlashcardCount: n.DueFlashcardCount, FlashcardCount: n.FlashcardCount,
	}
}

// listedFields describes the members of a listed at a path.
func listedFields(at string) []action.Field {
	return []action.Field{
		{Name: at + "id", About: "notebook id"},
		{Name: at + "name", About: "its name; names may repeat"},
		{Name: at + "closed", About: "whether it is closed"},
		{Name: at + "icon", About: "code points of an emoji", Verbose: true},
		{Name: at + "sort", About: "its place in the list", Verbose: true},
		{Name: at + "sortMode", About: "order of its documents, 15 is that of the workspace", Verbose: true},
		{Name: at + "newFlashcardCount", About: "new cards", Verbose: true},
		{Name: at + "dueFlashcardCount", About: "cards that are due", Verbose: true},
		{Name: at + "flashcardCount", About: "cards", Verbose: true},
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
		Returns:   listedFields("[]."),
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
