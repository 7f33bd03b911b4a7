// Package mascot is the tool of the mascot, a puppy that earns a coin with each successful call
// of the SiYuan tools and can be fed. [Purse] keeps the coins; the actions show and spend them.
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
		About:   "A puppy: each successful call of the other tools earns it a coin. item_id (3 to 7 coins): cat-food, milk, dried-fish, can-food, catnip, chicken-leg, cheese.",
		Actions: []*action.Action{balance(), shop(), buy()},
	}
}

// item is something to buy. Ids are those of the public plugin.
type item struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Cost  int64  `json:"cost"`
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

const why = "it touches no notes"

// purse is the purse of the workspace, which may be missing where nothing keeps one.
func purse(r *action.Request) (action.Coins, error) {
	if c := r.Workspace.Coins(); c != nil {
		return c, nil
	}
	return nil, &tool.Error{Op: "look for", Kind: tool.Unavailable, Subject: "mascot", Message: "nobody keeps its coins here"}
}

func balance() *action.Action {
	return action.New(action.Spec{
		Tool: "mascot", Name: "get_balance", Purpose: "Show how many coins the mascot has",
		Class: action.Reads, Unguarded: why, Common: true,
		Endpoints: []string{},
		Returns:   []action.Field{{Name: "balance", About: "coins now"}, {Name: "totalEarned", About: "coins ever"}},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		c, err := purse(r)
		if err != nil {
			return nil, err
		}
		var out struct {
			Balance int64 `json:"balance"`
			Earned  int64 `json:"totalEarned"`
		}
		out.Balance, out.Earned, err = c.Balance(ctx)
		return out, err
	})
}

func shop() *action.Action {
	return action.New(action.Spec{
		Tool: "mascot", Name: "shop", Purpose: "Show what can be bought for the mascot",
		Class: action.Reads, Unguarded: why, Common: true,
		Returns: []action.Field{
			{Name: "balance", About: "coins now"}, {Name: "totalEarned", About: "coins ever"},
			{Name: "items", About: "what there is"}, {Name: "items[].id", About: "for buy"}, {Name: "items[].cost", About: "in coins"},
		},
		Example: `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		c, err := purse(r)
		if err != nil {
			return nil, err
		}
		var out struct {
			Balance int64  `json:"balance"`
			Earned  int64  `json:"totalEarned"`
			Items   []item `json:"items"`
		}
		out.Items = items()
		out.Balance, out.Earned, err = c.Balance(ctx)
		return out, err
	})
}

type buyArgs struct {
	Item string `json:"item_id" about:"id from shop" req:"true"`
}

func buy() *action.Action {
	return action.New(action.Spec{
		Tool: "mascot", Name: "buy", Purpose: "Buy something for the mascot with its coins",
		Class: action.External, Unguarded: why, Common: true,
		Aliases: map[string]string{"item": "item_id", "id": "item_id"},
		Returns: []action.Field{
			{Name: "success", About: "true"}, {Name: "item_id", About: "what was bought"}, {Name: "item", About: "its name"},
			{Name: "type", About: "food, drink or snack"}, {Name: "emoji", About: "its picture"}, {Name: "cost", About: "coins spent"},
			{Name: "balance", About: "coins left"}, {Name: "totalEarned", About: "coins ever"},
		},
		Example: `{"item_id":"milk"}`,
	}, func(ctx context.Context, r *action.Request, a buyArgs) (any, error) {
		var ids []string
		for _, it := range items() {
			if it.ID != a.Item {
				ids = append(ids, it.ID)
				continue
			}
			c, err := purse(r)
			if err != nil {
				return nil, err
			}
			left, earned, err := c.Spend(ctx, it.ID, it.Cost)
			if err != nil {
				return nil, err
			}
			return struct {
				Success bool   `json:"success"`
				ID      string `json:"item_id"`
				Item    string `json:"item"`
				Type    string `json:"type"`
				Emoji   string `json:"emoji"`
				Cost    int64  `json:"cost"`
				Balance int64  `json:"balance"`
				Earned  int64  `json:"totalEarned"`
			}{true, it.ID, it.Label, it.Type, it.Emoji, it.Cost, left, earned}, nil
		}
		e := r.Invalid("item_id", fmt.Sprintf("is %q, expected one of %v", a.Item, ids))
		if near, ok := tool.Nearest(a.Item, ids); ok {
			e.Message += fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, e
	})
}
