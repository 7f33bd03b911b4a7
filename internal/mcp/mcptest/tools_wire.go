package mcptest

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"
)

// wireTools send malformed or unexpected data, which a client should survive.
func wireTools() map[string]builtin {
	return map[string]builtin{
		"garbage": {
			about:      "Sends responses nobody waits for, to an unknown id and to the id answered last, before the right one; textId sends the right one's id as text.",
			properties: `"textId":{"type":"boolean"}`,
			run:        garbage,
		},
		"noise": {
			about: "Writes lines that are not messages before the answer, which has a BOM in front and CRLF at its end.",
			run:   noise,
		},
		"badjson": {
			about: "Answers with broken JSON and nothing else.",
			run: func(_ context.Context, _ *server, c *call, _ gjson.Result) {
				c.reply(0, []byte(`{"jsonrpc":"2.0","id":`+c.id+`,"result":{"content":[{"type":"text","text":"broken}]`))
			},
		},
	}
}

// garbage implements the tool of that name.
func garbage(_ context.Context, _ *server, c *call, args gjson.Result) {
	wrong := `,"result":{"content":[{"type":"text","text":"wrong"}]}}`
	for _, id := range []string{`987654321`, `"nobody"`, `null`, c.peer.lastAnsweredID()} {
		if id != "" {
			c.out.sendEvent([]byte(`{"jsonrpc":"2.0","id":` + id + wrong))
		}
	}
	if args.Get("textId").Bool() && !strings.HasPrefix(c.id, `"`) {
		c.id = `"` + c.id + `"`
	}
	c.answerText("right")
}

func (p *peer) lastAnsweredID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastAnswered
}

func noise(_ context.Context, _ *server, c *call, _ gjson.Result) {
	if e, ok := c.out.(*exchange); ok {
		e.sendRaw([]byte(": a comment\n\nevent: weather\ndata: rain\n\ndata:\n\ndata: plain words\n\nid: 7\nretry: 1000\n\n"))
		c.answerText("quiet")
		return
	}
	lines := []string{
		"starting up ...", "", "   ", `{"jsonrpc":"2.0","id":`, `{"not":"rpc"}`, `[]`, `42`, "null",
		`"text"`, "\x00\xff\xfe", "\r", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":true,"result":{}}`,
	}
	answer := `{"jsonrpc":"2.0","id":` + c.id + `,"result":` + c.resultStart() + `"content":[{"type":"text","text":"quiet"}]}}`
	c.out.sendRaw([]byte(strings.Join(lines, "\n") + "\n\ufeff" + answer + "\r\n"))
	c.peer.setLastAnswered(c.id)
}
