package kerneltest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// builtInDeck is the deck of cards that are made in the editor. No list of decks shows it.
const builtInDeck = "20230218211946-2kw8jgx"

// decksAttr is the attribute of a block that lists its decks.
const decksAttr = "custom-riff-decks"

// riff is what the kernel keeps of flashcards.
type riff struct {
	decks []*deck // in the order they were made
}

type deck struct {
	id, name         string
	created, updated time.Time
	cards            []*card
}

// card is a block's card in one deck. The zero schedule is that of a card nobody has seen.
type card struct {
	id, block string
	schedule
	skipped bool // until it is rated
}

// schedule says when a card is due. State is 0 new, 1 learning, 2 review, 3 relearning.
type schedule struct {
	due, seen           time.Time
	reps, lapses, state int
}

// riffFamily answers the endpoints of flashcards. Notebooks and trees know the cards of the built-in deck only.
func riffFamily(k *Kernel) {
	r := &riff{}
	k.handle("/api/riff/getRiffDecks", r.list)
	k.handle("/api/riff/createRiffDeck", r.create)
	k.handle("/api/riff/renameRiffDeck", r.rename)
	k.handle("/api/riff/removeRiffDeck", r.removeDeck)
	k.handle("/api/riff/addRiffCards", func(k *Kernel, req request) reply { return r.add(k, req.str("deckID"), req.strs("blockIDs")) })
	k.handle("/api/riff/removeRiffCards", func(k *Kernel, req request) reply {
		return r.remove(k, req.str("deckID"), req.strs("blockIDs"))
	})
	k.handle("/api/riff/getRiffCards", func(k *Kernel, req request) reply {
		var of []*card
		for _, d := range r.decks {
			if id := req.str("id"); id == "" || id == d.id {
				of = append(of, r.sorted(k, d)...)
			}
		}
		return cardPage(k, req, of)
	})
	k.handle("/api/riff/getTreeRiffCards", func(k *Kernel, req request) reply {
		return cardPage(k, req, r.builtIn(k, func(d *document) bool { return d.inside(k.documents[req.str("id")]) }))
	})
	k.handle("/api/riff/getNotebookRiffCards", func(k *Kernel, req request) reply {
		return cardPage(k, req, r.builtIn(k, func(d *document) bool { return d.box.id == req.str("id") }))
	})
	k.handle("/api/riff/getRiffCardsByBlockIDs", r.byBlocks)
	k.handle("/api/riff/getRiffDueCards", r.dueInDeck)
	k.handle("/api/riff/getNotebookRiffDueCards", r.dueInNotebook)
	k.handle("/api/riff/getTreeRiffDueCards", r.dueInTree)
	k.handle("/api/riff/reviewRiffCard", r.review)
	k.handle("/api/riff/skipReviewRiffCard", r.skip)
	k.handle("/api/riff/batchSetRiffCardsDueTime", r.setDue)
	// With type deck it was recorded to change nothing.
	k.handle("/api/riff/resetRiffCards", func(*Kernel, request) reply { return done() })
	k.handleOperation("addFlashcards", func(k *Kernel, op *doOperation, raw gjson.Result) bool {
		r.add(k, op.DeckID, request{Result: raw}.strs("blockIDs"))
		return true
	})
	k.handleOperation("removeFlashcards", func(k *Kernel, op *doOperation, raw gjson.Result) bool {
		r.remove(k, op.DeckID, request{Result: raw}.strs("blockIDs"))
		return true
	})
}

// deck is the deck with an id; the built-in one is made when it is first used.
func (r *riff) deck(k *Kernel, id string, use bool) *deck {
	for _, d := range r.decks {
		if d.id == id {
			return d
		}
	}
	if id != builtInDeck || !use {
		return nil
	}
	return r.open(k, id, "Built-in Deck")
}

func (r *riff) open(k *Kernel, id, name string) *deck {
	d := &deck{id: id, name: name, created: time.Now(), updated: time.Now()}
	r.decks = append(r.decks, d)
	k.makeDirs("/data/storage/riff/logs")
	for _, ext := range []string{".cards", ".deck"} {
		k.files["/data/storage/riff/"+id+ext] = &storedFile{changed: d.created}
	}
	return d
}

func (d *deck) shown() map[string]any {
	const layout = "2006-01-02 15:04:05"
	return map[string]any{
		"id": d.id, "name": d.name, "size": len(d.cards), "created": d.created.Format(layout), "updated": d.updated.Format(layout),
	}
}

func (d *deck) find(same func(*card) bool) *card {
	if i := slices.IndexFunc(d.cards, same); i >= 0 {
		return d.cards[i]
	}
	return nil
}

func (r *riff) list(*Kernel, request) reply {
	shown := []any{}
	for _, d := range r.decks {
		if d.id != builtInDeck {
			shown = append(shown, d.shown())
		}
	}
	return ok(shown)
}

func (r *riff) create(k *Kernel, req request) reply {
	return ok(r.open(k, k.newID(), req.str("name")).shown())
}

func (r *riff) rename(k *Kernel, req request) reply {
	id, name := req.str("deckID"), req.str("name")
	if d := r.deck(k, id, false); d != nil {
		d.name, d.updated = name, time.Now()
	}
	return done()
}

func (r *riff) removeDeck(k *Kernel, req request) reply {
	id := req.str("deckID")
	for _, ext := range []string{".cards", ".deck"} {
		delete(k.files, "/data/storage/riff/"+id+ext)
	}
	r.decks = slices.DeleteFunc(r.decks, func(d *deck) bool { return d.id == id })
	return done()
}

// add makes cards of blocks, of such that do not exist too. The attribute is written even for a deck that does not
// exist.
func (r *riff) add(k *Kernel, deckID string, blocks []string) reply {
	d := r.deck(k, deckID, true)
	for _, id := range blocks {
		if b := k.openBlock(id); b != nil {
			if decks := decksOf(b); !slices.Contains(decks, deckID) {
				b.attrs[decksAttr] = strings.Join(append(decks, deckID), ",")
			}
		}
		if d != nil && d.find(func(c *card) bool { return c.block == id }) == nil {
			d.cards = append(d.cards, &card{id: k.newID(), block: id})
		}
	}
	if d == nil {
		return done()
	}
	d.updated = time.Now()
	return ok(d.shown())
}

// remove makes cards plain blocks again, in every deck where deckID is empty.
func (r *riff) remove(k *Kernel, deckID string, blocks []string) reply {
	for _, d := range r.decks {
		if deckID != "" && d.id != deckID {
			continue
		}
		d.cards = slices.DeleteFunc(d.cards, func(c *card) bool { return slices.Contains(blocks, c.block) })
		d.updated = time.Now()
	}
	for _, id := range blocks {
		if b := k.openBlock(id); b != nil {
			left := slices.DeleteFunc(decksOf(b), func(other string) bool { return deckID == "" || other == deckID })
			if b.attrs[decksAttr] = strings.Join(left, ","); len(left) == 0 {
				delete(b.attrs, decksAttr)
			}
		}
	}
	if d := r.deck(k, deckID, false); d != nil {
		return ok(d.shown())
	}
	return done()
}

func decksOf(b *block) []string {
	return strings.FieldsFunc(b.attrs[decksAttr], func(c rune) bool { return c == ',' })
}

// sorted are the cards of a deck as lists have them: by when they are due, those without a block last.
func (r *riff) sorted(k *Kernel, d *deck) []*card {
	return slices.SortedStableFunc(slices.Values(d.cards), func(a, b *card) int {
		return cmp.Or(-cmp.Compare(boolInt(k.openBlock(a.block) != nil), boolInt(k.openBlock(b.block) != nil)), a.due.Compare(b.due))
	})
}

// builtIn are the cards of the built-in deck in some documents.
func (r *riff) builtIn(k *Kernel, in func(*document) bool) []*card {
	d := r.deck(k, builtInDeck, false)
	if d == nil {
		return nil
	}
	return slices.DeleteFunc(r.sorted(k, d), func(c *card) bool {
		b := k.openBlock(c.block)
		return b == nil || !in(b.doc)
	})
}

// cardPage is a page of cards. Its blocks are read from the index.
func cardPage(k *Kernel, req request, cards []*card) reply {
	v := req.Get("page")
	if v.Type != gjson.Number {
		panic(panicked{"page"})
	}
	page, size := int(v.Int()), req.optNum("pageSize", 20)
	from := min((page-1)*size, len(cards))
	blocks := []any{}
	for _, c := range cards[from:min(from+size, len(cards))] {
		blocks = append(blocks, cardBlock(k, c.block, c))
	}
	return ok(map[string]any{
		"blocks": blocks, "total": len(cards), "pageCount": int(math.Ceil(float64(len(cards)) / float64(size))),
	})
}

func (r *riff) byBlocks(k *Kernel, req request) reply {
	blocks := []any{}
	for _, id := range req.strs("blockIDs") {
		var c *card
		if d := r.deck(k, builtInDeck, false); d != nil {
			c = d.find(func(c *card) bool { return c.block == id })
		}
		blocks = append(blocks, cardBlock(k, id, c))
	}
	return ok(map[string]any{"blocks": blocks})
}

// cardBlock is the block of a card; one that the index does not have, or that is no card, is empty but for its id.
func cardBlock(k *Kernel, id string, c *card) map[string]any {
	b := k.openBlock(id)
	if b == nil || c == nil || !k.indexed(id) {
		return map[string]any{
			"box": "", "path": "", "hPath": "", "id": id, "rootID": "", "parentID": "", "name": "", "alias": "", "memo": "",
			"tag": "", "content": "Search content block does not exist", "fcontent": "", "markdown": "", "folded": false, "type": "",
			"subType": "", "refText": "", "refs": nil, "defID": "", "defPath": "", "ial": nil, "children": nil, "depth": 0,
			"count": 0, "refCount": 0, "sort": 0, "created": "", "updated": "", "riffCardID": "", "riffCard": nil,
		}
	}
	shown := k.foundBlock(b)
	attrs := shown["ial"].(map[string]string)
	delete(attrs, decksAttr) // the index has not heard of it
	due := c.due
	if due.IsZero() {
		due = time.Now()
	}
	shown["riffCardID"] = c.id
	shown["riffCard"] = map[string]any{
		"due": due.UTC(), "reps": c.reps, "lapses": c.lapses, "state": c.state, "lastReview": c.seen.UTC(),
	}
	return shown
}

// indexed reports whether SQL knows a block.
func (k *Kernel) indexed(id string) bool {
	if !k.index.delayed {
		k.refresh()
	}
	rows, err := k.index.query("SELECT id FROM blocks WHERE id = '" + id + "' LIMIT 1")
	return err == nil && len(rows) > 0
}
