package kerneltest_test

import (
	"net/http"
	"testing"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

func TestFakeMeetsRecordingsOfCards(t *testing.T) {
	t.Parallel()
	kerneltest.TestHandler(t, kerneltest.Contract{
		Scenarios: []string{"riff"}, Endpoints: kerneltest.Endpoints(),
		Skip: map[string]string{
			"riff#20": "the index lags; see TestCardsFollowTheIndex",
			"riff#34": "cards that are due at one moment come in any order",
			"riff#62": "counts cards by notebook, which nobody asks for",
			"riff#70": "a block that has just been removed is still listed",
		},
	}, func(t testing.TB) http.Handler {
		k := kerneltest.New(t)
		k.Lenient()
		return k.Handler()
	})
}

func TestCardsFollowTheIndex(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.DelayIndex(true)
	doc := k.Doc(k.Notebook("N"), "/D", "a ==b==")
	block := data(t, k, "/api/block/getChildBlocks", `{"id":"`+doc+`"}`).Get("0.id").Str
	const deck = "20230218211946-2kw8jgx"
	data(t, k, "/api/riff/addRiffCards", `{"deckID":"`+deck+`","blockIDs":["`+block+`"]}`)
	list := func() string {
		return data(t, k, "/api/riff/getRiffCards", `{"id":"`+deck+`","page":1}`).Get("blocks.0.content").Str
	}
	if got := list(); got != "Search content block does not exist" {
		t.Errorf("before the flush: %q", got)
	}
	data(t, k, "/api/sqlite/flushTransaction", `{}`)
	if got := list(); got != "a b" {
		t.Errorf("after the flush: %q", got)
	}
}

// TestWrongRatingForgetsTheCard is what the tools must never let happen.
func TestWrongRatingForgetsTheCard(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	doc := k.Doc(k.Notebook("N"), "/D", "a ==b==")
	block := data(t, k, "/api/block/getChildBlocks", `{"id":"`+doc+`"}`).Get("0.id").Str
	const deck = "20230218211946-2kw8jgx"
	data(t, k, "/api/riff/addRiffCards", `{"deckID":"`+deck+`","blockIDs":["`+block+`"]}`)
	card := func() (id string, reps int64) {
		c := data(t, k, "/api/riff/getRiffCards", `{"id":"`+deck+`","page":1}`).Get("blocks.0")
		return c.Get("riffCardID").Str, c.Get("riffCard.reps").Int()
	}
	id, _ := card()
	rate := func(rating string) int64 {
		data(t, k, "/api/riff/reviewRiffCard", `{"deckID":"`+deck+`","cardID":"`+id+`","rating":`+rating+`}`)
		_, reps := card()
		return reps
	}
	if got := rate("3"); got != 1 {
		t.Errorf("%d reviews after a good answer", got)
	}
	if got := rate("9"); got != 0 {
		t.Errorf("%d reviews after a rating of 9, recorded to forget them", got)
	}
}
