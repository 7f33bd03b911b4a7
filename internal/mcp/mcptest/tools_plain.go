package mcptest

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// plainTools answer at once and correctly.
func plainTools() map[string]builtin {
	return map[string]builtin{
		"echo": {
			about:      "Returns text, or without text its arguments as JSON.",
			properties: textProperty,
			run:        echo,
		},
		"raw": {
			about:      "Returns a result byte for byte: the argument result, the JSON in the string json, or the file the server was given.",
			properties: `"result":{},"json":{"type":"string"}`,
			run:        rawResult,
		},
		"fail": {
			about:      "Fails as tools do, with isError and text.",
			properties: textProperty,
			run: func(_ context.Context, _ *server, c *call, args gjson.Result) {
				c.answerToolError(textArgument(args, "text", "the tool failed"))
			},
		},
		"rpcerror": {
			about:      "Fails as requests do, with a JSON-RPC error of exactly this code, message and data.",
			properties: `"code":{"type":"integer"},"message":{"type":"string"},"data":{}`,
			run:        rpcError,
		},
		"env": {
			about: "Returns the environment of the server as a JSON object.",
			run:   environment,
		},
		"pid": {
			about: "Returns the process id of the server.",
			run: func(_ context.Context, _ *server, c *call, _ gjson.Result) {
				c.answerText(strconv.Itoa(os.Getpid()))
			},
		},
		"header": {
			about:      "Returns its arguments; over modern HTTP region and priority have to come as headers too.",
			properties: `"region":{"type":"string","x-mcp-header":"Region"},"priority":{"type":"integer","x-mcp-header":"Priority"}`,
			run:        echo,
		},
	}
}

func echo(_ context.Context, _ *server, c *call, args gjson.Result) {
	if v := args.Get("text"); v.Type == gjson.String {
		c.answerQuotedText(v.Raw)
		return
	}
	c.answerText(args.Raw)
}

func rawResult(_ context.Context, s *server, c *call, args gjson.Result) {
	switch {
	case args.Get("result").Exists():
		c.answer(args.Get("result").Raw)
	case gjson.Valid(args.Get("json").Str):
		c.answer(args.Get("json").Str)
	case s.result != nil:
		c.answerParts(s.result)
	default:
		c.refuse(codeInvalidParams, "raw needs result, valid json or --result-file", "")
	}
}

func rpcError(_ context.Context, _ *server, c *call, args gjson.Result) {
	e := `{"code":` + rawArgument(args, "code", strconv.Itoa(codeInternal)) +
		`,"message":` + rawArgument(args, "message", `"the request failed"`)
	if data := rawArgument(args, "data", ""); data != "" {
		e += `,"data":` + data
	}
	c.refuseRaw(int(args.Get("code").Int()), e+"}")
}

func environment(_ context.Context, _ *server, c *call, _ gjson.Result) {
	vars := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		vars[name] = value
	}
	b, err := json.Marshal(vars)
	if err != nil {
		c.refuse(codeInternal, err.Error(), "")
		return
	}
	c.answerText(string(b))
}
