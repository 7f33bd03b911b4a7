package mcptest

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/tidwall/gjson"
)

// This file has the tools that ask the client something before they answer.

// question is a request that the server can send to its client.
type question struct {
	method     string
	capability string
	params     string
}

var questions = map[string]question{
	"sampling": {
		"sampling/createMessage", "sampling",
		`{"messages":[{"role":"user","content":{"type":"text","text":"What is the capital of France?"}}],"maxTokens":100}`,
	},
	"elicitation": {
		"elicitation/create", "elicitation",
		`{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`,
	},
	// The params are optional, but go-sdk 1.8.0 cannot read an input request without them.
	"roots": {"roots/list", "roots", "{}"},
}

// askTools ask the client for something before they answer.
func askTools() map[string]builtin {
	properties := `"what":{"type":"string","enum":["sampling","elicitation","roots"]},"params":{"type":"object"}`
	return map[string]builtin{
		"ask": {
			about:      "Asks the client for what, with these params instead of its own, and returns the answer as JSON.",
			properties: properties,
			blocks:     true,
			run: func(ctx context.Context, s *server, c *call, args gjson.Result) {
				s.askForAnswers(ctx, c, args, 1)
			},
		},
		"ask2": {
			about:      "Asks the client twice, one after the other, and returns both answers as a JSON array.",
			properties: properties,
			blocks:     true,
			run: func(ctx context.Context, s *server, c *call, args gjson.Result) {
				s.askForAnswers(ctx, c, args, 2)
			},
		},
	}
}

// askForAnswers gets rounds answers from the client and then answers the call with them: by requests in the legacy
// era, by input_required results in the modern one (2026-07-28, patterns: MRTR).
func (s *server) askForAnswers(ctx context.Context, c *call, args gjson.Result, rounds int) {
	q, ok := questions[textArgument(args, "what", "elicitation")]
	if !ok {
		c.refuse(codeInvalidParams, "what is sampling, elicitation or roots", "")
		return
	}
	q.params = rawArgument(args, "params", q.params)
	if c.modern {
		askModern(c, q, rounds)
		return
	}
	_, capabilities := c.peer.agreed()
	if !capabilities.Get(q.capability).Exists() {
		c.answerToolError("the client has no capability " + q.capability)
		return
	}
	var answers []string
	for range rounds {
		m := c.peer.ask(ctx, c.out, q.method, q.params)
		switch {
		case m == nil:
			return
		case m.err != "":
			c.answerToolError(m.err)
			return
		}
		answers = append(answers, m.result)
	}
	c.answerText(joinAnswers(answers))
}

func askModern(c *call, q question, rounds int) {
	if !c.meta.capabilities.Get(q.capability).Exists() {
		c.refuse(codeMissingCapability, "Missing required client capability",
			`{"requiredCapabilities":{"`+q.capability+`":{}}}`)
		return
	}
	var answers []string
	if state := c.params.Get("requestState"); state.Exists() {
		var ok bool
		if answers, ok = openState(c.name, state.String()); !ok {
			c.answerToolError("requestState is not the one that was sent")
			return
		}
	}
	// A missing answer is asked for again, as the protocol recommends.
	if a := c.params.Get("inputResponses." + questionKey(len(answers))); a.Exists() {
		answers = append(answers, a.Raw)
	}
	if len(answers) < rounds {
		c.answer(inputRequired(q, c.name, answers))
		return
	}
	c.answerText(joinAnswers(answers))
}

func inputRequired(q question, tool string, answers []string) string {
	request := `{"method":"` + q.method + `","params":` + q.params + `}`
	return `{"resultType":"input_required","inputRequests":{"` + questionKey(len(answers)) + `":` + request + `},"requestState":"` +
		sealState(tool, answers) + `"}`
}

// questionKey returns the name of question i in the input requests.
func questionKey(i int) string { return "question-" + string(rune('a'+i)) }

// The state holds the answers so far. Characters of its prefix survive only in a client that passes the state
// on unchanged or handles JSON correctly.
const statePrefix = "état/<" // the JSON below writes it with escapes

func sealState(tool string, answers []string) string {
	sealed := base64.StdEncoding.EncodeToString([]byte(strings.Join(append([]string{tool}, answers...), "\n")))
	return `\u00e9tat\/<` + sealed
}

func openState(tool, state string) ([]string, bool) {
	sealed, ok := strings.CutPrefix(state, statePrefix)
	b, err := base64.StdEncoding.DecodeString(sealed)
	parts := strings.Split(string(b), "\n")
	if !ok || err != nil || parts[0] != tool {
		return nil, false
	}
	return parts[1:], true
}

// joinAnswers returns a single answer unchanged, and several as a JSON array.
func joinAnswers(answers []string) string {
	if len(answers) == 1 {
		return answers[0]
	}
	return "[" + strings.Join(answers, ",") + "]"
}
