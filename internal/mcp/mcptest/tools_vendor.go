package mcptest

import (
	"context"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// This file has the tools that send messages MCP does not define.

// vendorPrefix starts the methods of requests that MCP does not name. The server answers them with their own
// params.
const vendorPrefix = "vendor/"

// vendorTools send messages that MCP does not name, or known messages in unusual circumstances.
func vendorTools() map[string]builtin {
	return map[string]builtin{
		"vendor": {
			about: "Sends a notification and a request of these names before it answers with the client's answer; " +
				"params of both may have \"$id\" and \"$token\", which stand for those of the call.",
			properties: `"notification":{"type":"string"},"request":{"type":"string"},"params":{"type":"object"}`,
			blocks:     true,
			run:        vendor,
		},
		"withdraw": {
			about:      "Asks the client for what, waits for notifications/vendor/go, takes the question back with these params, and answers.",
			properties: `"what":{"type":"string"},"params":{"type":"object"}`,
			blocks:     true,
			run:        withdraw,
		},
		"askmany": {
			about:      "Asks a modern client for the keys all at once, in their order, and returns its answers.",
			properties: `"keys":{"type":"array","items":{"type":"string"}}`,
			run:        askMany,
		},
	}
}

func vendor(ctx context.Context, _ *server, c *call, args gjson.Result) {
	params := rawArgument(args, "params", "{}")
	params = strings.ReplaceAll(params, `"$id"`, c.id)
	if c.meta.progressToken != "" {
		params = strings.ReplaceAll(params, `"$token"`, c.meta.progressToken)
	}
	if method := textArgument(args, "notification", ""); method != "" {
		c.notify(method, params)
	}
	method := textArgument(args, "request", "")
	if method == "" {
		c.answerText("told")
		return
	}
	switch m := c.peer.ask(ctx, c.out, method, params); {
	case m == nil:
	case m.err != "":
		c.answerToolError(m.err)
	default:
		c.answerText(m.result)
	}
}

// withdraw implements the tool of that name. It does not wait for the answer to its question.
func withdraw(ctx context.Context, _ *server, c *call, args gjson.Result) {
	q := questions[textArgument(args, "what", "elicitation")]
	asking, cancel := context.WithCancel(ctx)
	cancel()
	c.peer.ask(asking, c.out, q.method, q.params) // the answer is not used
	select {
	case <-c.peer.vendorGo:
	case <-ctx.Done():
		return
	}
	params := strings.Replace(rawArgument(args, "params", `{"reason":"withdrawn"}`), "{", `{"requestId":`+c.peer.lastAsk()+`,`, 1)
	c.notify("notifications/cancelled", params)
	c.answerText("withdrawn")
}

func askMany(_ context.Context, _ *server, c *call, args gjson.Result) {
	if answers := c.params.Get("inputResponses"); answers.Exists() {
		c.answerText(answers.Raw)
		return
	}
	var requests []string
	for _, key := range args.Get("keys").Array() {
		requests = append(requests, key.Raw+`:{"method":"elicitation/create","params":{"message":`+key.Raw+`,"requestedSchema":{"type":"object","properties":{}}}}`)
	}
	c.answer(`{"resultType":"input_required","inputRequests":{` + strings.Join(requests, ",") + `},"requestState":"many"}`)
}

// vendorRequest answers a request that MCP does not name.
func vendorRequest(_ *server, _ context.Context, c *call) {
	params := c.params.Raw
	if params == "" {
		params = "null"
	}
	c.answer(c.resultStart() + `"method":` + quote(c.method) + `,"params":` + params + `}`)
}

// askRoots asks for the client's roots outside of any call; the answer is only recorded.
func (s *server) askRoots(p *peer) {
	p.mu.Lock()
	p.asks++
	id := p.asks
	p.mu.Unlock()
	p.send(`{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"roots/list"}`)
}
