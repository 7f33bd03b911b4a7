package mascot

import (
	"encoding/json"
	"math"

	"github.com/tidwall/gjson"
)

// coins is the file of the coins. Its first members are those of the workspace's puppyStats.json,
// and files of that shape can be read; the others are for us.
type coins struct {
	Earned     int64  `json:"totalCalls"` // ever
	Balance    int64  `json:"balance"`
	UpdatedAt  int64  `json:"updatedAt"` // milliseconds
	LastAction string `json:"lastAction,omitempty"`
	// Seq is that of the last event, which rises for all processes together.
	Seq int64 `json:"seq,omitempty"`
	// Joined says that the coins of the workspace's file have been added.
	Joined bool `json:"joined,omitempty"`
}

// most bounds numbers that are counted, so that sums stay exact in JSON.
const most = 1 << 52

// readCoins is a file of coins; what is broken begins anew. A file without a balance counts each
// call, and no number is below 0.
func readCoins(raw []byte) coins {
	if !gjson.ValidBytes(raw) {
		return coins{}
	}
	v := gjson.ParseBytes(raw)
	s := coins{
		Earned: count(v.Get("totalCalls")), UpdatedAt: count(v.Get("updatedAt")), LastAction: v.Get("lastAction").String(),
		Seq: count(v.Get("seq")), Joined: v.Get("joined").Bool(),
	}
	if s.Balance = s.Earned; v.Get("balance").Type != gjson.Null {
		s.Balance = count(v.Get("balance"))
	}
	return s
}

// count is a number of something; 0 is what is none.
func count(v gjson.Result) int64 {
	if v.Type != gjson.Number || math.IsNaN(v.Num) {
		return 0
	}
	return int64(min(max(v.Num, 0), most))
}

func (s *coins) add(balance, earned int64) {
	s.Balance, s.Earned = min(s.Balance+balance, most), min(s.Earned+earned, most)
}

func (s *coins) encode() ([]byte, error) { return json.Marshal(s) }
