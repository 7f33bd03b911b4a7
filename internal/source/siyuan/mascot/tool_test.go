package mascot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/mascot"
	"collie/internal/tool"
)

func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, mascot.Tool(), name)
}

// newKitWithCoins returns a kit whose purse has n coins. All notebooks are hidden: the mascot needs no level.
func newKitWithCoins(t *testing.T, n int) *actiontest.Kit {
	t.Helper()
	dir, b := t.TempDir(), &bus{}
	p := openPurse(t, dir, b, mascot.PurseOptions{Every: time.Hour})
	for range n {
		b.Publish(endedCall("fs", "ls", tool.OK))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	kit := actiontest.New(t)
	kit.Default = access.None
	kit.Purse = p
	return kit
}

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, mascot.Tool(), actiontest.Told{Actions: []string{"get_balance", "shop", "buy"}})
	for _, a := range mascot.Tool().Actions {
		if a.Class.Writes() {
			t.Errorf("%s: class %s", a.Name, a.Class)
		}
	}
}

func TestShopAndBuy(t *testing.T) {
	t.Parallel()
	kit := newKitWithCoins(t, 9)
	if got := kit.Must(t, findAction(t, "get_balance"), `{}`); got.Raw != `{"balance":9,"totalEarned":9,"callsToday":9,"lastAction":"fs/ls"}` {
		t.Errorf("%s", got.Raw)
	}
	shop := kit.Must(t, findAction(t, "shop"), `{}`)
	costs := map[string]string{}
	for _, it := range shop.Get("items").Array() {
		costs[it.Get("id").Str] = it.Get("cost").Raw + " " + it.Get("type").Str
		if it.Get("label").Str == "" || it.Get("emoji").Str == "" {
			t.Errorf("%s", it.Raw)
		}
	}
	want := map[string]string{
		"cat-food": "5 food", "milk": "3 drink", "dried-fish": "4 food", "can-food": "6 food", "catnip": "5 snack",
		"chicken-leg": "7 food", "cheese": "4 snack",
	}
	if diff := cmp.Diff(want, costs); diff != "" {
		t.Error(diff)
	}
	left := int64(9)
	for _, it := range []struct {
		id   string
		cost int64
	}{{"milk", 3}, {"can-food", 6}} {
		left -= it.cost
		got := kit.Must(t, findAction(t, "buy"), fmt.Sprintf(`{"item":%q}`, it.id))
		if !got.Get("success").Bool() || got.Get("item_id").Str != it.id || got.Get("cost").Int() != it.cost ||
			got.Get("balance").Int() != left || got.Get("totalEarned").Int() != 9 || got.Get("item").Str == "" || got.Get("emoji").Str == "" {
			t.Errorf("%s", got.Raw)
		}
	}
	err := kit.Refused(t, findAction(t, "buy"), `{"item_id":"milk"}`, tool.Conflicting)
	if !strings.Contains(err.Error(), "costs 3 coins, and there are 0") {
		t.Error(err)
	}
	if got := kit.Must(t, findAction(t, "get_balance"), `{}`); got.Raw != `{"balance":0,"totalEarned":9,"callsToday":9,"lastAction":"mascot/buy","bought":[{"id":"milk","count":1},{"id":"can-food","count":1}]}` {
		t.Errorf("after a refused purchase: %s", got.Raw)
	}
	if len(kit.Calls()) != 0 {
		t.Errorf("the mascot waits for the kernel: %v", kit.Calls())
	}
}

func TestBuyBadInput(t *testing.T) {
	t.Parallel()
	kit := newKitWithCoins(t, 9)
	buy := findAction(t, "buy")
	kit.Refused(t, buy, `{}`, tool.Invalid)
	err := kit.Refused(t, buy, `{"item_id":"milc"}`, tool.Invalid)
	if !strings.Contains(err.Error(), `did you mean "milk"?`) || !strings.Contains(err.Error(), "chicken-leg") {
		t.Error(err)
	}
	if got := kit.Must(t, findAction(t, "get_balance"), `{}`); got.Get("balance").Int() != 9 {
		t.Errorf("%s", got.Raw)
	}
}

func TestNobodyKeepsCoins(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	for _, a := range mascot.Tool().Actions {
		kit.Refused(t, a, a.Example, tool.Unavailable)
	}
	if !slices.ContainsFunc(mascot.Tool().Actions, func(a *action.Action) bool { return a.Common }) {
		t.Error("no action is common")
	}
}
