package flashcard_test

import (
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/flashcard"
)

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, flashcard.Tool(), actiontest.Told{
		Actions:   []string{"list_cards", "get_decks", "get_cards", "review_card", "create_card", "remove_card"},
		Dangerous: []string{"remove_card"},
	})
}
