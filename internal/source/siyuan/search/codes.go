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

// methods are the names of the ways to search.
var methods = map[string]int{
	"keyword": kernel.MethodKeyword, "query_syntax": kernel.MethodSyntax, "sql": kernel.MethodSQL, "regex": kernel.MethodRegex,
}

// orders are the names of the orders of blocks.
var orders = map[string]int{
	"type": 0, "created_asc": 1, "created_desc": 2, "updated_asc": 3, "updated_desc": 4, "content_asc": 5, "content_desc": 6,
	"relevance": 7,
}

// assetOrders are the names of the orders of assets.
var assetOrders = map[string]int{"relevance_desc": 0, "relevance_asc": 1, "updated_asc": 2, "updated_desc": 3}

// synonyms are other names of methods and orders.
var synonyms = map[string]string{"query": "query_syntax", "date": "updated_desc"}

// shortcodes are the names that the kernel has for the types of blocks, by the codes that its
// index has for them.
var blockTypes = map[string]string{
	"d": "document", "h": "heading", "p": "paragraph", "l": "list", "i": "listItem", "b": "blockquote", "c": "codeBlock",
	"m": "mathBlock", "t": "table", "s": "superBlock", "html": "htmlBlock", "embed": "embedBlock", "av": "databaseBlock",
	"video": "videoBlock", "audio": "audioBlock", "widget": "widgetBlock", "iframe": "iframeBlock", "callout": "callout",
}

// typeNames returns the types of blocks that a search can be narrowed to, in order.
func blockTypeNames() []string { return slices.Sorted(maps.Values(blockTypes)) }

// adaptCodes gives one argument precedence over another, and replaces numbers by names. wins maps the argument with
// precedence to the one it replaces; if it maps to itself, its aliases give way. codes maps an argument to its names.
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
				if better, ok := codeName(v.String(), names); ok {
					args = action.SetArg(args, param, strconv.Quote(better))
				}
			}
		}
		return args
	}
}

// codeName returns the name for a number or a synonym.
func codeName(given string, names map[string]int) (string, bool) {
	if given == "relevance" {
		if _, asset := names["relevance_desc"]; asset {
			return "relevance_desc", true
		}
	}
	if s, ok := synonyms[given]; ok {
		given = s
	}
	for name, code := range names {
		if given == name || given == strconv.Itoa(code) {
			return name, true
		}
	}
	return "", false
}
