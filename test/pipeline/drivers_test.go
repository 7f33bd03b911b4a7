package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"collie/internal/mcp"
	"collie/internal/tool"
	"collie/test/gateway"
)

// attempt is one call, with the outcome that the audit must record.
type attempt struct {
	name    string // of a tool, a resource or a prompt
	args    string
	outcome tool.Outcome
}

// unknownName is a name that does not exist.
const unknownName = "s__none"

// attempts are calls of each kind, one for each outcome that can be caused easily. They are for the gateway of startWorld,
// whose servers are s, in the flat view, and g, in the grouped view.
var attempts = map[tool.Kind][]attempt{
	tool.KindCall: {
		{"s__echo", `{"text":"hello"}`, tool.OK},
		{"s__fail", `{}`, tool.Failed},
		{"s__rpcerror", `{"code":-32001}`, tool.Failed},
		{"s__echo", `{"text":17}`, tool.Refused},
		{unknownName, `{}`, tool.Refused},
		{"g", `{"action":"echo","text":"hello"}`, tool.OK},
		{"g", `{"action":"help"}`, tool.OK},
		{"g", `{"action":"none"}`, tool.Refused},
	},
	tool.KindRead: {
		{"fake://static/hello", `{}`, tool.OK},
		{"fake://item/7", `{}`, tool.OK},
		{"fake://hidden", `{}`, tool.OK},
		{"collie://help/g/echo", `{}`, tool.OK},
		{"none://", `{}`, tool.Refused},
	},
	tool.KindPrompt: {
		{"s__greet", `{"name":"Ada"}`, tool.OK},
		{"s__greet", `{}`, tool.Failed},
		{unknownName, `{}`, tool.Refused},
	},
	tool.KindComplete: {
		{"s__greet", ``, tool.OK},
		{unknownName, ``, tool.Refused},
	},
	tool.KindRequest: {
		{"vendor/x", `{"n":1}`, tool.Refused}, // refused, because there are two servers and the message belongs to neither
	},
}

// driver makes calls through one entry point of class call, which is one that runs calls. how tells the drivers of one
// entry point apart.
type driver struct {
	entry  string
	how    string
	kind   tool.Kind
	origin tool.Origin
	// looksUp says that the entry point resolves tool and action itself; an unknown one is then an error in
	// the command line and not a call.
	looksUp bool
	open    opener
}

// caller makes a call. The outcome of the call is not an error of the caller.
type caller func(attempt) error

// opener connects to a gateway and returns a caller that uses the connection.
type opener func(*testing.T, *world) caller

// world is a gateway with its keys.
type world struct {
	*gateway.Gateway
	settings               string
	token, control, bridge string
}

func (w *world) tokenKey() string   { return w.token }
func (w *world) controlKey() string { return w.control }
func (w *world) bridgeKey() string  { return w.bridge }

// drivers has at least one driver for each entry point of class call; TestEveryEntryIsClassed checks that.
var drivers = slices.Concat(
	mcpDrivers("mcp tools/call", tool.KindCall), mcpDrivers("mcp resources/read", tool.KindRead),
	mcpDrivers("mcp prompts/get", tool.KindPrompt), mcpDrivers("mcp completion/complete", tool.KindComplete),
	mcpDrivers("mcp *", tool.KindRequest),
	[]driver{
		{entry: "http POST /api/v1/calls", how: "control key", kind: tool.KindCall, origin: tool.Direct, open: apiOpener("calls", "application/json", (*world).controlKey)},
		{entry: "http POST /api/v1/calls", how: "bridge key", kind: tool.KindCall, origin: tool.MCPLocal, open: apiOpener("calls", "application/json", (*world).bridgeKey)},
		{entry: "http POST /api/v1/calls", how: "token", kind: tool.KindCall, origin: tool.MCPLocal, open: apiOpener("calls", "application/json", (*world).tokenKey)},
		{entry: "http POST /api/v1/calls", how: "dialogue", kind: tool.KindCall, origin: tool.Direct, open: apiOpener("calls", "application/x-ndjson", (*world).controlKey)},
		{entry: "http POST /api/v1/prompts", how: "token", kind: tool.KindPrompt, origin: tool.MCPLocal, open: apiOpener("prompts", "application/json", (*world).tokenKey)},
		{entry: "http POST /api/v1/resources", how: "token", kind: tool.KindRead, origin: tool.MCPLocal, open: apiOpener("resources", "application/json", (*world).tokenKey)},
		{entry: "cli call", how: "through the gateway", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: cliOpener("call")},
		{entry: "cli call", how: "local", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: cliOpener("call", "--local")},
		{entry: "cli call", how: "without its name", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: cliOpener()},
		{entry: "cli agent run", how: "a slash command", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: agentRunOpener()},
		{entry: "cli agent run", how: "local", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: agentRunOpener("--local")},
		{entry: "cli chat", how: "a slash command", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: chatOpener()},
		{entry: "cli chat", how: "local", kind: tool.KindCall, origin: tool.Direct, looksUp: true, open: chatOpener("--local")},
	},
)

// mcpDrivers returns drivers for an MCP method, in both eras over both transports.
func mcpDrivers(entry string, kind tool.Kind) (out []driver) {
	for _, protocol := range []string{gateway.Legacy, gateway.Modern} {
		out = append(out,
			driver{entry: entry, how: "http " + protocol, kind: kind, origin: tool.MCPLocal, open: func(t *testing.T, w *world) caller {
				return mcpCaller(t, w.Dial(t, protocol, w.token), kind)
			}},
			driver{entry: entry, how: "stdio " + protocol, kind: kind, origin: tool.MCPLocal, open: func(t *testing.T, w *world) caller {
				_, c := w.DialStdio(t, protocol, w.Home, w.settings)
				return mcpCaller(t, c, kind)
			}})
	}
	return out
}

// mcpCaller returns a caller that makes calls of a kind as an MCP client.
func mcpCaller(t *testing.T, c *gateway.Client, kind tool.Kind) caller {
	t.Helper()
	return func(a attempt) error {
		var method, params string
		switch kind {
		case tool.KindCall:
			method, params = "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, a.name, a.args)
		case tool.KindRead:
			method, params = "resources/read", fmt.Sprintf(`{"uri":%q}`, a.name)
		case tool.KindPrompt:
			method, params = "prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, a.name, a.args)
		case tool.KindComplete:
			method, params = "completion/complete", fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"style","value":"f"}}`, a.name)
		case tool.KindRequest:
			method, params = a.name, a.args
		}
		_, err := c.Do(t.Context(), method, params)
		if _, answered := errors.AsType[*mcp.RPCError](err); answered {
			return nil
		}
		return err
	}
}

// apiOpener returns an opener for drivers that send attempts to a path of the API.
func apiOpener(path, media string, key func(*world) string) opener {
	return func(t *testing.T, w *world) caller {
		t.Helper()
		return func(a attempt) error {
			body := fmt.Sprintf(`{"name":%q,"args":%s}`, a.name, a.args)
			if path == "resources" {
				body = fmt.Sprintf(`{"uri":%q}`, a.name)
			}
			status, answer, err := w.sendToAPI(t.Context(), http.MethodPost, "/api/v1/"+path, media, key(w), body)
			if err != nil || !json.Valid([]byte(answer)) {
				return fmt.Errorf("status %d, %s: %w", status, answer, err)
			}
			return nil
		}
	}
}

// sendToAPI sends a request to the gateway's HTTP interface.
func (w *world) sendToAPI(ctx context.Context, method, path, media, key, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, w.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", media)
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(bytes.TrimSpace(raw)), err
}

// agentRunOpener returns an opener for drivers in which a person gives a call to `collie agent run` as a message.
func agentRunOpener(args ...string) opener {
	return func(t *testing.T, w *world) caller {
		t.Helper()
		return func(a attempt) error {
			line := append([]string{"agent", "run", "--config", w.settings, "/" + a.name + " '" + a.args + "'"}, args...)
			if stdout, stderr, code := w.Run(t, w.Home, line...); code != 0 && code != 1 {
				return fmt.Errorf("exit code %d: %s %s", code, stdout, stderr)
			}
			return nil
		}
	}
}

// chatOpener returns an opener for drivers in which a person types a call in `collie chat`.
func chatOpener(args ...string) opener {
	return func(t *testing.T, w *world) caller {
		t.Helper()
		return func(a attempt) error {
			line := append([]string{"chat", "--config", w.settings}, args...)
			said := strings.NewReader("/" + a.name + " '" + a.args + "'\n")
			if stdout, stderr, code := w.RunOn(t, w.Home, said, line...); code != 0 && code != 1 {
				return fmt.Errorf("exit code %d: %s %s", code, stdout, stderr)
			}
			return nil
		}
	}
}

// cliOpener returns an opener for drivers in which a person calls a tool at a terminal.
func cliOpener(args ...string) opener {
	return func(t *testing.T, w *world) caller {
		t.Helper()
		return func(a attempt) error {
			line := append(append([]string{}, args...), a.name, "--config", w.settings, "--args", a.args)
			stdout, stderr, code := w.Run(t, w.Home, line...)
			if usage := code == 2; usage != (a.name == unknownName) || code < 0 {
				return fmt.Errorf("exit code %d: %s %s", code, stdout, stderr)
			}
			return nil
		}
	}
}
