package card

import (
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// review rates a card. One that does not exist is no error, as recorded.
func review(tx *workspace.Tx, req api.Request) api.Reply {
	c := findCard(tx, req.Str("deckID"), req.Str("cardID"))
	rating := number(req, "rating")
	checkReviewed(req)
	if c != nil {
		c.Schedule, c.Skipped = rate(c.Schedule, rating, time.Now()), time.Time{}
		c.put(tx)
	}
	return api.Done()
}

// skip leaves a card out of what is due until tomorrow. Its schedule stays.
func skip(tx *workspace.Tx, req api.Request) api.Reply {
	if c := findCard(tx, req.Str("deckID"), req.Str("cardID")); c != nil {
		year, month, day := time.Now().Date()
		c.Skipped = time.Date(year, month, day+1, 0, 0, 0, 0, time.Local)
		c.put(tx)
	}
	return api.Done()
}

// setDue moves cards to other times, given as yyyyMMddHHmmss in local time.
func setDue(tx *workspace.Tx, req api.Request) api.Reply {
	for _, entry := range req.List("cardDues") {
		id := entry.Str("id")
		at, err := time.ParseInLocation("20060102150405", entry.Str("due"), time.Local)
		if err != nil {
			return api.Fail(-1, err.Error())
		}
		if r := tx.Record(cardKind, id); r != nil {
			c := readCard(r.ID, r.Owner, r.Body)
			c.Schedule.Due, c.Skipped = at, time.Time{}
			c.put(tx)
		}
	}
	return api.Done()
}
