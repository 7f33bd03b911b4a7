// Package card implements the endpoints for flashcards, /api/riff/..., and the operations of /api/transactions that
// make and remove cards. The FSRS scheduler decides when a card is due.
//
// A card is a block in a deck. Decks and cards are records of the workspace. A card has its own id, its deck is the
// owner, and its due time is At, so that due cards are found without reading the others. The attribute
// custom-riff-decks of a block lists its decks. Endpoints and answers follow the recordings of kernel 3.7.3. People
// rename and remove decks, so no tool needs endpoints for that.
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
