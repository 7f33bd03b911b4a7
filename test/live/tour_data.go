package live

import (
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// tryDatabase is the step of the tour that makes a database and changes its rows, columns and cells.
func (s *smoke) tryDatabase() {
	av := string(kernel.NewID())
	s.mustCall("av.render", args{"id": av, "blockID": s.block("Moved", "Below"), "createIfNotExist": true})
	s.mustCall("av.rename", args{"avID": av, "name": "Drinks " + s.word})
	s.mustContain("search", s.mustCall("av.search", args{"keyword": "Drinks " + s.word}).Raw, av)
	column := s.mustCall("av.add_column", args{"avID": av, "keyName": "Price 价格", "keyType": "number"}).Get("keyID").String()
	rows := s.mustCall("av.add_rows", args{"avID": av, "primaryKeyTexts": []string{"tea 茶", "coffee"}, "blockIDs": []string{s.block("Plan", s.word)}})
	row := rows.Get(`rows.#(primaryKeyText=="tea 茶").rowID`).String()
	s.mustCall("av.set_cells", args{"avID": av, "rowID": row, "columnID": column, "valueType": "number", "number": 4.5})
	s.mustContain("the table", s.mustCall("av.render", args{"id": av}).Get("table").Raw, "tea 茶", "coffee", "Price 价格", "4.5", s.word)
	s.mustContain("all of it", s.mustCall("av.get", args{"id": av}).Raw, row, column)
	s.mustContain("columns", s.mustCall("av.get_attribute_view_keys", args{"id": av}).Raw, "Price 价格")
	s.mustCall("av.get_attribute_view_filter_sort", args{"id": av})
	s.mustContain("keys", s.mustCall("av.get_primary_key_values", args{"avID": av, "keyword": "tea"}).Raw, "tea 茶")
	s.mustCall("av.remove_rows", args{"avID": av, "srcIDs": []string{row}})
	if left := s.mustCall("av.render", args{"id": av}); strings.Contains(left.Raw, "tea 茶") || left.Get("total").Int() != 2 {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
	s.mustCall("av.remove_column", args{"avID": av, "keyID": column})
	if left := s.mustCall("av.get_attribute_view_keys", args{"id": av}); strings.Contains(left.Raw, "Price") {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
	s.mustCall("av.duplicate", args{"avID": av})
	s.mustRefuse("av.render", args{"id": "20990101000000-zzzzzzz"}, "not_found")
}

// tryCards is the step that makes, reviews and removes a flashcard.
func (s *smoke) tryCards() {
	block := s.block("Plan", s.word)
	s.mustContain("decks", s.mustCall("flashcard.get_decks", args{}).Raw, string(kernel.BuiltInDeck))
	s.mustCall("flashcard.create_card", args{"blockIDs": []string{block}})
	list := args{"scope": "notebook", "notebook": s.notebook, "filter": "new"}
	cards := s.mustCall("flashcard.list_cards", list)
	s.mustContain("cards", cards.Raw, block)
	s.mustContain("the deck", s.mustCall("flashcard.get_cards", args{"deckID": kernel.BuiltInDeck, "pageSize": 512}).Raw, block)
	card := cards.Get(`cards.#(blockID=="` + block + `").cardID`).String()
	s.mustCall("flashcard.review_card", args{"deckID": kernel.BuiltInDeck, "cardID": card, "rating": 3})
	s.mustCall("flashcard.remove_card", args{"blockIDs": []string{block}})
	if left := s.mustCall("flashcard.list_cards", list); strings.Contains(left.Raw, block) {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
}
