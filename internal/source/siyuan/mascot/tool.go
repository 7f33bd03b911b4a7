// Package mascot is the tool of the mascot, a puppy that earns a coin with each successful call
// of another tool and can be fed. [Purse] keeps the coins; the actions show and spend them.
package mascot

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:    "mascot",
		About:   "A puppy: each successful call of another tool earns it a coin. buy takes an id that shop lists.",
		Actions: []*action.Action{balance(), shop(), buy()},
	}
}

// item is something to buy. Ids are those of the public plugin.
type item struct {
	ID    string `json:"id" about:"for buy"`
	Label string `json:"label"`
	Cost  int64  `json:"cost" about:"in coins"`
	Type  string `json:"type"`
	Emoji string `json:"emoji"`
}

func items() []item {
	return []item{
		{"cat-food", "Kibble 干粮", 5, "food", "🥣"},
		{"milk", "Milk 牛奶", 3, "drink", "🥛"},
		{"dried-fish", "Dried fish 小鱼干", 4, "food", "🐟"},
		{"can-food", "Tinned food 罐头", 6, "food", "🥫"},
		{"catnip", "Chew toy 磨牙棒", 5, "snack", "🦴"},
		{"chicken-leg", "Chicken leg 鸡腿", 7, "food", "🍗"},
		{"cheese", "Cheese 奶酪", 4, "snack", "🧀"},
	}
}

// noLevelReason says why the actions need no level.
const noLevelReason = "it touches no notes"

// findPurse returns the coins of the mascot, or an error if this program keeps none.
func findPurse(r *action.Request) (action.Coins, error) {
	if c := r.Workspace.Coins(); c != nil {
		return c, nil
	}
	return nil, &tool.Error{Op: "look for", Kind: tool.Unavailable, Subject: "mascot", Message: "its coins are not kept here"}
}

type getBalanceResult struct {
	Balance int64    `json:"balance" about:"coins now"`
	Earned  int64    `json:"totalEarned" about:"coins ever"`
	Today   int64    `json:"callsToday" about:"calls since midnight, failed ones too"`
	Last    string   `json:"lastAction,omitempty" about:"the last call, as TOOL/ACTION"`
	Bought  []bought `json:"bought,omitempty" about:"what was ever bought"`
}

type bought struct {
	ID    string `json:"id" about:"id from shop"`
	Count int    `json:"count" about:"how many"`
}

// balance returns the action get_balance of the tool mascot.
func balance() *action.Action {
	return action.New(action.Spec{
		Tool: "mascot", Name: "get_balance", Purpose: "Show how many coins the mascot has",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: noLevelReason, Common: true,
		Endpoints: []string{},
		Result:    getBalanceResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		c, err := findPurse(r)
		if err != nil {
			return nil, err
		}
		w, err := c.Wallet(ctx)
		if err != nil {
			return nil, err
		}
		out := getBalanceResult{Balance: w.Balance, Earned: w.Earned, Today: w.Today, Last: w.LastAction}
		for _, it := range items() {
			if n := w.Bought[it.ID]; n > 0 {
				out.Bought = append(out.Bought, bought{it.ID, n})
			}
		}
		return out, nil
	})
}

type shopResult struct {
	Balance int64  `json:"balance" about:"coins now"`
	Earned  int64  `json:"totalEarned" about:"coins ever"`
	Items   []item `json:"items" about:"what there is"`
}

// shop returns the action shop of the tool mascot.
func shop() *action.Action {
	return action.New(action.Spec{
		Tool: "mascot", Name: "shop", Purpose: "Show what can be bought for the mascot",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead, Unguarded: noLevelReason, Common: true,
		Result:  shopResult{},
		Example: `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		c, err := findPurse(r)
		if err != nil {
			return nil, err
		}
		w, err := c.Wallet(ctx)
		if err != nil {
			return nil, err
		}
		return shopResult{w.Balance, w.Earned, items()}, nil
	})
}

type buyArgs struct {
	Item string `json:"item_id" about:"id from shop" req:"true"`
}

type buyResult struct {
	Success bool   `json:"success" about:"true"`
	ID      string `json:"item_id" about:"what was bought"`
	Item    string `json:"item" about:"its name"`
	Type    string `json:"type" about:"food, drink or snack"`
	Emoji   string `json:"emoji" about:"its picture"`
	Cost    int64  `json:"cost" about:"coins spent"`
	Balance int64  `json:"balance" about:"coins left"`
	Earned  int64  `json:"totalEarned" about:"coins ever"`
}

// buy returns the action buy of the tool mascot.
func buy() *action.Action {
	return action.New(action.Spec{
		Tool: "mascot", Name: "buy", Purpose: "Buy something for the mascot with its coins",
		Class: action.External, Risk: tool.RiskLow, Effects: tool.EffectCost, Unguarded: noLevelReason, Common: true,
		Aliases: map[string]string{"item": "item_id", "id": "item_id"},
		Result:  buyResult{},
		Example: `{"item_id":"milk"}`,
	}, func(ctx context.Context, r *action.Request, a buyArgs) (any, error) {
		var ids []string
		for _, it := range items() {
			if it.ID != a.Item {
				ids = append(ids, it.ID)
				continue
			}
			c, err := findPurse(r)
			if err != nil {
				return nil, err
			}
			w, err := c.Spend(ctx, it.ID, it.Cost)
			if err != nil {
				return nil, err
			}
			return buyResult{true, it.ID, it.Label, it.Type, it.Emoji, it.Cost, w.Balance, w.Earned}, nil
		}
		e := r.Invalid("item_id", fmt.Sprintf("is %q, expected one of %v", a.Item, ids))
		if near, ok := tool.Nearest(a.Item, ids); ok {
			e.Message += fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, e
	})
}
