package mcptest

import (
	"context"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// timeTools answer late or never.
func timeTools() map[string]builtin {
	return map[string]builtin{
		"slow": {
			about:      "Answers after ms, with a progress notification at each of steps if a token is given, unless progress is false. Can be cancelled.",
			properties: msProperty + `,"steps":{"type":"integer","minimum":1},"progress":{"type":"boolean"}`,
			blocks:     true,
			run:        slow,
		},
		"late": {
			about:      "Answers after ms, even when cancelled.",
			properties: msProperty,
			blocks:     true,
			run: func(ctx context.Context, _ *server, c *call, args gjson.Result) {
				if pause(context.WithoutCancel(ctx), milliseconds(args, 1000)) {
					c.answerText("late")
				}
			},
		},
		"hang": {
			about:  "Never answers.",
			blocks: true,
			run: func(ctx context.Context, _ *server, _ *call, _ gjson.Result) {
				<-ctx.Done()
			},
		},
	}
}

func slow(ctx context.Context, _ *server, c *call, args gjson.Result) {
	steps := max(numberArgument(args, "steps", 1), 1)
	step := milliseconds(args, 1000) / time.Duration(steps)
	tells := c.meta.progressToken != "" && (!args.Get("progress").Exists() || args.Get("progress").Bool())
	for i := 1; i <= steps; i++ {
		if !pause(ctx, step) {
			return
		}
		if tells {
			n, all := strconv.Itoa(i), strconv.Itoa(steps)
			c.notify("notifications/progress", `{"progressToken":`+c.meta.progressToken+
				`,"progress":`+n+`,"total":`+all+`,"message":"step `+n+` of `+all+`"}`)
		}
	}
	c.answerText("done")
}

func milliseconds(args gjson.Result, def int) time.Duration {
	return time.Duration(numberArgument(args, "ms", def)) * time.Millisecond
}
