package mcptest

import (
	"context"
	"slices"

	"github.com/tidwall/gjson"
)

// noticeTools send notifications.
func noticeTools() map[string]builtin {
	return map[string]builtin{
		"log": {
			about:      "Sends text as a log message of this level, count times, before it answers.",
			properties: `"level":{"type":"string"},"count":{"type":"integer","minimum":0},` + textProperty,
			run:        logMessage,
		},
		"change": {
			about:      "Adds or removes the entry extra in a list and tells everybody that the list changed, count times.",
			properties: `"kind":{"type":"string","enum":["tools","resources","prompts"]},"count":{"type":"integer","minimum":1}`,
			run: func(_ context.Context, s *server, c *call, args gjson.Result) {
				kind := textArgument(args, "kind", "tools")
				if !slices.Contains([]string{"tools", "resources", "prompts"}, kind) {
					c.refuse(codeInvalidParams, "kind is tools, resources or prompts", "")
					return
				}
				for range max(1, args.Get("count").Int()) {
					s.toggleExtra(kind)
				}
				c.answerText("changed")
			},
		},
		"touch": {
			about:      "Changes the text of a resource and tells its subscribers.",
			properties: `"uri":{"type":"string"}`,
			run: func(_ context.Context, s *server, c *call, args gjson.Result) {
				s.changeResource(args.Get("uri"))
				c.answerText("touched")
			},
		},
	}
}

func logMessage(_ context.Context, _ *server, c *call, args gjson.Result) {
	level := textArgument(args, "level", "info")
	if c.wantsLog(level) {
		params := `{"level":` + quote(level) + `,"logger":"fakemcp","data":` + rawArgument(args, "text", `"a message"`) + `}`
		for range numberArgument(args, "count", 1) {
			c.notify("notifications/message", params)
		}
	}
	c.answerText("logged")
}

// wantsLog reports whether the client wants log messages of the level. A legacy client gets all until it sets
// a level; a modern one gets none unless the request names a level.
func (c *call) wantsLog(level string) bool {
	if !c.modern {
		return c.peer.wantsLevel(level)
	}
	least := slices.Index(levels, c.meta.logLevel)
	return least >= 0 && slices.Index(levels, level) >= least
}
