// Package card answers the endpoints of flashcards, /api/riff/..., and the operations of /api/transactions that make
// and remove cards. When a card comes back is for the FSRS scheduler to say.
//
// A card is a block in a deck. Decks and cards are records of the workspace: a deck by its id, a card by its own id with
// the deck as the owner and the time it is due as the place in lists, so that what is due is found without reading the
// rest. A block says in the attribute custom-riff-decks which decks it is in. Which endpoints exist, and what they
// answer, is what the recordings of kernel 3.7.3 show; decks are made, renamed and removed by people, so no tool asks
// for that.
//
// Entry point: [Register].
package card

import (
	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// Register adds the routes and operations of flashcards.
func Register(mux *api.Mux) {
	mux.Read("/api/riff/getRiffDecks", listDecks)
	mux.Write("/api/riff/createRiffDeck", createDeck)

	mux.Write("/api/riff/addRiffCards", func(tx *workspace.Tx, req api.Request) api.Reply {
		return add(tx, req.Str("deckID"), req.Strs("blockIDs"))
	})
	mux.Write("/api/riff/removeRiffCards", func(tx *workspace.Tx, req api.Request) api.Reply {
		return remove(tx, req.Str("deckID"), req.Strs("blockIDs"))
	})
	mux.Operation("addFlashcards", func(tx *workspace.Tx, op *api.DoOperation, raw gjson.Result) bool {
		add(tx, op.DeckID, api.In(tx, raw).Strs("blockIDs"))
		return true
	})
	mux.Operation("removeFlashcards", func(tx *workspace.Tx, op *api.DoOperation, raw gjson.Result) bool {
		remove(tx, op.DeckID, api.In(tx, raw).Strs("blockIDs"))
		return true
	})

	mux.Read("/api/riff/getRiffCards", list)
	mux.Read("/api/riff/getRiffDueCards", dueInDeck)
	mux.Read("/api/riff/getNotebookRiffDueCards", dueInNotebook)
	mux.Read("/api/riff/getTreeRiffDueCards", dueInTree)
	mux.Write("/api/riff/reviewRiffCard", reviewCard)
	mux.Write("/api/riff/skipReviewRiffCard", skipReview)
	mux.Write("/api/riff/batchSetRiffCardsDueTime", setDue)
}
