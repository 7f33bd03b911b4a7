package live

import (
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// database is the step of the tour that makes a database and changes its rows, columns and cells.
func (s *smoke) database() {
	av := string(kernel.NewID())
	s.do("av.render", args{"id": av, "blockID": s.block("Moved", "Below"), "createIfNotExist": true})
	s.do("av.rename", args{"avID": av, "name": "Drinks " + s.word})
	s.want("search", s.do("av.search", args{"keyword": "Drinks " + s.word}).Raw, av)
	column := s.do("av.add_column", args{"avID": av, "keyName": "Price 价格", "keyType": "number"}).Get("keyID").String()
	rows := s.do("av.add_rows", args{"avID": av, "primaryKeyTexts": []string{"tea 茶", "coffee"}, "blockIDs": []string{s.block("Plan", s.word)}})
	row := rows.Get(`rows.#(primaryKeyText=="tea 茶").rowID`).String()
	s.do("av.set_cells", args{"avID": av, "rowID": row, "columnID": column, "valueType": "number", "number": 4.5})
	s.want("the table", s.do("av.render", args{"id": av}).Get("table").Raw, "tea 茶", "coffee", "Price 价格", "4.5", s.word)
	s.want("all of it", s.do("av.get", args{"id": av}).Raw, row, column)
	s.want("columns", s.do("av.get_attribute_view_keys", args{"id": av}).Raw, "Price 价格")
	s.do("av.get_attribute_view_filter_sort", args{"id": av})
	s.want("keys", s.do("av.get_primary_key_values", args{"avID": av, "keyword": "tea"}).Raw, "tea 茶")
	s.do("av.remove_rows", args{"avID": av, "srcIDs": []string{row}})
	if left := s.do("av.render", args{"id": av}); strings.Contains(left.Raw, "tea 茶") || left.Get("total").Int() != 2 {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
	s.do("av.remove_column", args{"avID": av, "keyID": column})
	if left := s.do("av.get_attribute_view_keys", args{"id": av}); strings.Contains(left.Raw, "Price") {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
	s.do("av.duplicate", args{"avID": av})
	s.refused("av.render", args{"id": "20990101000000-zzzzzzz"}, "not_found")
}

// cards is the step that makes, reviews and removes a flashcard.
func (s *smoke) cards() {
	block := s.block("Plan", s.word)
	s.want("decks", s.do("flashcard.get_decks", args{}).Raw, string(kernel.BuiltInDeck))
	s.do("flashcard.create_card", args{"blockIDs": []string{block}})
	list := args{"scope": "notebook", "notebook": s.notebook, "filter": "new"}
	cards := s.do("flashcard.list_cards", list)
	s.want("cards", cards.Raw, block)
	s.want("the deck", s.do("flashcard.get_cards", args{"deckID": kernel.BuiltInDeck, "pageSize": 512}).Raw, block)
	card := cards.Get(`cards.#(blockID=="` + block + `").cardID`).String()
	s.do("flashcard.review_card", args{"deckID": kernel.BuiltInDeck, "cardID": card, "rating": 3})
	s.do("flashcard.remove_card", args{"blockIDs": []string{block}})
	if left := s.do("flashcard.list_cards", list); strings.Contains(left.Raw, block) {
		s.t.Fatalf("after the removal: %s", left.Raw)
	}
}
