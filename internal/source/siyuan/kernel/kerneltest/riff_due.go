package kerneltest

import (
	"cmp"
	"time"

	"github.com/tidwall/gjson"
)

// dueInDeck answers what is due in a deck; an empty id means the built-in deck, not all of them.
func (r *riff) dueInDeck(k *Kernel, req request) reply {
	id := req.str("deckID")
	reviewed(req)
	d := r.deck(k, cmp.Or(id, builtInDeck), false)
	if d == nil {
		if id == "" || id == builtInDeck {
			return ok(dueCards([]any{}, 0, 0))
		}
		return ok(dueCards(nil, 0, 0))
	}
	return d.due(k, func(*document) bool { return true })
}

func (r *riff) dueInNotebook(k *Kernel, req request) reply {
	id := req.str("notebook")
	reviewed(req)
	if k.notebooks[id] == nil {
		return fail(-1, "open "+workspaceDir+"/data/"+id+": no such file or directory")
	}
	return r.dueBuiltIn(k, func(d *document) bool { return d.box.id == id })
}

// dueInTree answers what is due in a document and those below it. The cards of all trees belong to one that does not
// exist.
func (r *riff) dueInTree(k *Kernel, req request) reply {
	root := k.openDocument(req.str("rootID"))
	reviewed(req)
	return r.dueBuiltIn(k, func(d *document) bool { return root == nil || d.inside(root) })
}

func (r *riff) dueBuiltIn(k *Kernel, in func(*document) bool) reply {
	d := r.deck(k, builtInDeck, false)
	if d == nil {
		return ok(dueCards([]any{}, 0, 0))
	}
	return d.due(k, in)
}

// reviewed checks the list of cards of the session, as far as the kernel does.
func reviewed(req request) {
	if req.Get("reviewedCards").Exists() {
		for _, c := range req.list("reviewedCards") {
			c.str("cardID")
		}
	}
}

// due answers the cards whose time has come and whose blocks exist.
func (d *deck) due(k *Kernel, in func(*document) bool) reply {
	shown, fresh := []any{}, 0
	for _, c := range d.cards {
		b := k.openBlock(c.block)
		if b == nil || c.skipped || c.schedule.due.After(time.Now()) || !in(b.doc) {
			continue
		}
		if c.state == 0 {
			fresh++
		}
		shown = append(shown, map[string]any{
			"deckID": d.id, "cardID": c.id, "blockID": c.block, "lapses": c.lapses, "reps": c.reps, "state": c.state,
			"lastReview": c.seen.UnixMilli(),
			"nextDues":   map[string]string{"1": "1 minute", "2": "5 minutes", "3": "10 minutes", "4": "16 days"},
		})
	}
	return ok(dueCards(shown, fresh, len(shown)-fresh))
}

func dueCards(cards []any, fresh, old int) map[string]any {
	return map[string]any{
		"cards": cards, "unreviewedCount": fresh + old, "unreviewedNewCardCount": fresh, "unreviewedOldCardCount": old,
	}
}

// card is a card of a deck, nil where either does not exist.
func (r *riff) card(k *Kernel, deckID, cardID string) *card {
	d := r.deck(k, deckID, false)
	if d == nil {
		return nil
	}
	return d.find(func(c *card) bool { return c.id == cardID })
}

func (r *riff) review(k *Kernel, req request) reply {
	c := r.card(k, req.str("deckID"), req.str("cardID"))
	rating := req.Get("rating")
	if rating.Type != gjson.Number {
		panic(panicked{"rating"})
	}
	reviewed(req)
	if c != nil {
		c.rate(int(rating.Int()))
	}
	return done()
}

// rate moves a card on. A rating that does not exist takes its whole history away.
func (c *card) rate(rating int) {
	c.skipped = false
	now := time.Now()
	next := schedule{reps: c.reps + 1, lapses: c.lapses, seen: now, state: 1}
	switch {
	case rating < 1 || rating > 4:
		c.schedule = schedule{}
		return
	case rating == 1 && c.state == 2:
		next.due, next.state, next.lapses = now.Add(time.Minute), 3, c.lapses+1
	case rating == 1:
		next.due = now.Add(time.Minute)
	case rating == 2:
		next.due = now.Add(5 * time.Minute)
	case rating == 3 && c.state == 0:
		next.due = now.Add(10 * time.Minute)
	case rating == 3:
		next.due, next.state = now.AddDate(0, 0, 1), 2
	default:
		next.due, next.state = now.AddDate(0, 0, 16), 2
	}
	c.schedule = next
}

func (r *riff) skip(k *Kernel, req request) reply {
	if c := r.card(k, req.str("deckID"), req.str("cardID")); c != nil {
		c.skipped = true
	}
	return done()
}

func (r *riff) setDue(_ *Kernel, req request) reply {
	for _, entry := range req.list("cardDues") {
		due, err := time.ParseInLocation("20060102150405", entry.str("due"), time.Local)
		if err != nil {
			return fail(-1, err.Error())
		}
		for _, d := range r.decks {
			if c := d.find(func(c *card) bool { return c.id == entry.str("id") }); c != nil {
				c.schedule.due = due
			}
		}
	}
	return done()
}
