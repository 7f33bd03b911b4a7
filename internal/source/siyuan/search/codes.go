package search

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file maps the names that callers use for methods, orders and types of blocks to the kernel's, and accepts other
// spellings of them.

// methods are the search methods, by name.
var methods = map[string]int{
	"keyword": kernel.MethodKeyword, "query_syntax": kernel.MethodSyntax, "sql": kernel.MethodSQL, "regex": kernel.MethodRegex,
}

// orders are the sort orders of blocks, by name.
var orders = map[string]int{
	"type": 0, "created_asc": 1, "created_desc": 2, "updated_asc": 3, "updated_desc": 4, "content_asc": 5, "content_desc": 6,
	"relevance": 7,
}

// assetOrders are the sort orders of assets, by name.
var assetOrders = map[string]int{"relevance_desc": 0, "relevance_asc": 1, "updated_asc": 2, "updated_desc": 3}

// synonyms are alternative names of methods and orders.
var synonyms = map[string]string{"query": "query_syntax", "date": "updated_desc"}

// blockTypes maps the codes of block types in the kernel's index to the names that its search takes.
var blockTypes = map[string]string{
	"d": "document", "h": "heading", "p": "paragraph", "l": "list", "i": "listItem", "b": "blockquote", "c": "codeBlock",
	"m": "mathBlock", "t": "table", "s": "superBlock", "html": "htmlBlock", "embed": "embedBlock", "av": "databaseBlock",
	"video": "videoBlock", "audio": "audioBlock", "widget": "widgetBlock", "iframe": "iframeBlock", "callout": "callout",
}

// blockTypeNames returns the block types that a search can be restricted to, sorted.
func blockTypeNames() []string { return slices.Sorted(maps.Values(blockTypes)) }

// adaptArgs returns a function that rewrites arguments before they are checked. replaces maps an argument to another one
// whose value it replaces if both are given; an argument that maps to itself removes the weakerAliases instead. codes
// maps an argument to the names of its values: a number or synonym is replaced by its name.
func adaptArgs(replaces map[string]string, codes map[string]map[string]int, weakerAliases ...string) func(json.RawMessage) json.RawMessage {
	return func(args json.RawMessage) json.RawMessage {
		for strong, to := range replaces {
			v := gjson.GetBytes(args, strong)
			if !v.Exists() || v.Type == gjson.Null {
				continue
			}
			if strong != to {
				args = action.DropArgs(action.SetArg(args, to, v.Raw), strong)
				continue
			}
			args = action.DropArgs(args, weakerAliases...)
		}
		for param, names := range codes {
			if v := gjson.GetBytes(args, param); v.Type == gjson.Number || v.Type == gjson.String {
				if known, ok := codeName(v.String(), names); ok {
					args = action.SetArg(args, param, strconv.Quote(known))
				}
			}
		}
		return args
	}
}

// codeName returns the name for a number or synonym.
func codeName(value string, names map[string]int) (string, bool) {
	if value == "relevance" {
		if _, isAssetOrder := names["relevance_desc"]; isAssetOrder {
			return "relevance_desc", true
		}
	}
	if s, ok := synonyms[value]; ok {
		value = s
	}
	for name, code := range names {
		if value == name || value == strconv.Itoa(code) {
			return name, true
		}
	}
	return "", false
}
