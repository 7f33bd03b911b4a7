package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// unknown is a name that does not exist.
const unknown = "s__none"

// attempts are calls of each kind, one for each outcome that can be caused easily.
var attempts = map[tool.Kind][]attempt{
	tool.KindCall: {
		{"s__echo", `{"text":"hello"}`, tool.OK},
		{"s__fail", `{}`, tool.Failed},
		{"s__rpcerror", `{"code":-32001}`, tool.Failed},
		{"s__echo", `{"text":17}`, tool.Refused},
		{unknown, `{}`, tool.Refused},
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
		{unknown, `{}`, tool.Refused},
	},
	tool.KindComplete: {
		{"s__greet", ``, tool.OK},
		{unknown, ``, tool.Refused},
	},
	tool.KindRequest: {
		{"vendor/x", `{"n":1}`, tool.Refused}, // refused, because there are two servers and the message belongs to neither
	},
}

// driver makes calls through one entry point of class call. how tells the drivers of one entry point apart.
type driver struct {
	entry  string
	how    string
	kind   tool.Kind
	origin tool.Origin
	// looksUp says that the entry point resolves tool and action itself; an unknown one is then an error in
	// the command line and not a call.
	looksUp bool
	// open returns a function that makes a call. The outcome of the call is not an error of the driver.
	open func(*testing.T, *world) func(attempt) error
}

// world is a gateway with its keys.
type world struct {
	*gateway.Gateway
	settings               string
	token, control, bridge string
}

// drivers has at least one driver for each entry point of class call; TestEveryEntryIsClassed checks that.
var drivers = slicesOf(
	mcpDrivers("mcp tools/call", tool.KindCall), mcpDrivers("mcp resources/read", tool.KindRead),
	mcpDrivers("mcp prompts/get", tool.KindPrompt), mcpDrivers("mcp completion/complete", tool.KindComplete),
	mcpDrivers("mcp *", tool.KindRequest),
	[]driver{
		{"http POST /api/v1/calls", "control key", tool.KindCall, tool.Direct, false, post("calls", "application/json", func(w *world) string { return w.control })},
		{"http POST /api/v1/calls", "bridge key", tool.KindCall, tool.MCPLocal, false, post("calls", "application/json", func(w *world) string { return w.bridge })},
		{"http POST /api/v1/calls", "token", tool.KindCall, tool.MCPLocal, false, post("calls", "application/json", func(w *world) string { return w.token })},
		{"http POST /api/v1/calls", "dialogue", tool.KindCall, tool.Direct, false, post("calls", "application/x-ndjson", func(w *world) string { return w.control })},
		{"http POST /api/v1/prompts", "token", tool.KindPrompt, tool.MCPLocal, false, post("prompts", "application/json", func(w *world) string { return w.token })},
		{"http POST /api/v1/resources", "token", tool.KindRead, tool.MCPLocal, false, post("resources", "application/json", func(w *world) string { return w.token })},
		{"cli call", "through the gateway", tool.KindCall, tool.Direct, true, command("call")},
		{"cli call", "local", tool.KindCall, tool.Direct, true, command("call", "--local")},
		{"cli call", "without its name", tool.KindCall, tool.Direct, true, command()},
		{"cli agent run", "a slash command", tool.KindCall, tool.Direct, true, slash()},
		{"cli agent run", "local", tool.KindCall, tool.Direct, true, slash("--local")},
		{"cli chat", "a slash command", tool.KindCall, tool.Direct, true, typed()},
		{"cli chat", "local", tool.KindCall, tool.Direct, true, typed("--local")},
	},
)

func slicesOf(lists ...[]driver) (out []driver) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// mcpDrivers returns drivers for an MCP method, in both eras over both transports.
func mcpDrivers(entry string, kind tool.Kind) (out []driver) {
	for _, protocol := range []string{gateway.Legacy, gateway.Modern} {
		out = append(out,
			driver{entry, "http " + protocol, kind, tool.MCPLocal, false, func(t *testing.T, w *world) func(attempt) error {
				return request(t, w.Dial(t, protocol, w.token), kind)
			}},
			driver{entry, "stdio " + protocol, kind, tool.MCPLocal, false, func(t *testing.T, w *world) func(attempt) error {
				_, c := w.Stdio(t, protocol, w.Home, w.settings)
				return request(t, c, kind)
			}})
	}
	return out
}

// request returns a function that makes calls of a kind as an MCP client.
func request(t *testing.T, c *gateway.Client, kind tool.Kind) func(attempt) error {
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
		}
		if kind == tool.KindRequest {
			method, params = a.name, a.args
		}
		_, err := c.Do(t.Context(), method, params)
		if _, answered := errors.AsType[*mcp.RPCError](err); answered {
			return nil
		}
		return err
	}
}

// post returns the open function of a driver that sends attempts to a path of the API.
func post(path, media string, key func(*world) string) func(*testing.T, *world) func(attempt) error {
	return func(t *testing.T, w *world) func(attempt) error {
		t.Helper()
		return func(a attempt) error {
			body := fmt.Sprintf(`{"name":%q,"args":%s}`, a.name, a.args)
			if path == "resources" {
				body = fmt.Sprintf(`{"uri":%q}`, a.name)
			}
			status, answer, err := w.api(t.Context(), http.MethodPost, "/api/v1/"+path, media, key(w), body)
			if err != nil || !json.Valid([]byte(answer)) {
				return fmt.Errorf("status %d, %s: %w", status, answer, err)
			}
			return nil
		}
	}
}

// api sends a request to the gateway's HTTP interface.
func (w *world) api(ctx context.Context, method, path, media, key, body string) (status int, answer string, err error) {
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

// slash returns the open function of a driver in which a person gives a call to `collie agent run` as a message.
func slash(args ...string) func(*testing.T, *world) func(attempt) error {
	return func(t *testing.T, w *world) func(attempt) error {
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

// typed returns the open function of a driver in which a person types a call in `collie chat`.
func typed(args ...string) func(*testing.T, *world) func(attempt) error {
	return func(t *testing.T, w *world) func(attempt) error {
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

// command returns the open function of a driver in which a person calls a tool at a terminal.
func command(args ...string) func(*testing.T, *world) func(attempt) error {
	return func(t *testing.T, w *world) func(attempt) error {
		t.Helper()
		return func(a attempt) error {
			line := append(append([]string{}, args...), a.name, "--config", w.settings, "--args", a.args)
			stdout, stderr, code := w.Run(t, w.Home, line...)
			if usage := code == 2; usage != (a.name == unknown) || code < 0 {
				return fmt.Errorf("exit code %d: %s %s", code, stdout, stderr)
			}
			return nil
		}
	}
}
