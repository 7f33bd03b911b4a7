package card

import (
	"time"

	fsrs "github.com/open-spaced-repetition/go-fsrs/v3"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// reviewCard rates a card. It is not an error if there is no such card, as in SiYuan.
func reviewCard(tx *workspace.Tx, req api.Request) api.Reply {
	c := findCard(tx, req.Str("deckID"), req.Str("cardID"))
	rating := number(req, "rating")
	checkReviewed(req)
	if c != nil {
		c.Schedule = rateCard(c.Schedule, rating, time.Now())
		c.put(tx)
	}
	return api.Done()
}

// skipReview changes nothing, as in SiYuan: a skipped card stays due until it is rated.
func skipReview(_ *workspace.Tx, req api.Request) api.Reply {
	req.Str("deckID")
	req.Str("cardID")
	return api.Done()
}

// setDue sets the due times of cards, given as yyyyMMddHHmmss in local time. A new card stays due, as in SiYuan.
func setDue(tx *workspace.Tx, req api.Request) api.Reply {
	for _, entry := range req.List("cardDues") {
		id := entry.Str("id")
		at, err := time.ParseInLocation("20060102150405", entry.Str("due"), time.Local)
		if err != nil {
			return api.Fail(-1, err.Error())
		}
		if r := tx.Record(cardKind, id); r != nil {
			if c := readCard(r.ID, r.Owner, r.Body); c.Schedule.State != fsrs.New {
				c.Schedule.Due = at
				c.put(tx)
			}
		}
	}
	return api.Done()
}
