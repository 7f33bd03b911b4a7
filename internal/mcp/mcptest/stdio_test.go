package mcptest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/mcp/mcptest"
)

const initializeRequest = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// runServer runs the server inside the test with the given lines as its whole input, until it ends, and returns its
// output and exit code.
func runServer(t *testing.T, flags []string, lines ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = mcptest.Main(flags, strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, &errs)
	return out.String(), errs.String(), code
}

// runInitialized runs the server as runServer does, with a legacy handshake before the lines, and returns the output
// lines after the handshake's.
func runInitialized(t *testing.T, flags []string, lines ...string) []string {
	t.Helper()
	stdout, stderr, code := runServer(t, flags, append([]string{initializeRequest}, lines...)...)
	if code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr)
	}
	return strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")[1:]
}

// toolCall returns a call of a tool; id and args are JSON text.
func toolCall(id, name, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
}

// listRequest returns a list request; an empty cursor is left out.
func listRequest(method, cursor string) string {
	params := `{}`
	if cursor != "" {
		params = `{"cursor":"` + cursor + `"}`
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

func TestAnswersOnTheWire(t *testing.T) {
	t.Parallel()
	result := `{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":%s}]}}`
	for _, c := range []struct {
		name  string
		tool  string
		args  string
		wants []string
	}{
		{"echo_keeps_escapes", "echo", `{"text":"\u00e9\/é"}`, []string{fmt.Sprintf(result, `"\u00e9\/é"`)}},
		{"raw_from_argument", "raw", `{"result":{"b":1.0,"a":12345678901234567890, "n":1e400}}`, []string{`{"jsonrpc":"2.0","id":"x","result":{"b":1.0,"a":12345678901234567890, "n":1e400}}`}},
		{"raw_from_text", "raw", `{"json":"{\"a\":-0}"}`, []string{`{"jsonrpc":"2.0","id":"x","result":{"a":-0}}`}},
		{"rpcerror", "rpcerror", `{"code":-32099,"message":"\u0041","data":{"z":1.0}}`, []string{`{"jsonrpc":"2.0","id":"x","error":{"code":-32099,"message":"\u0041","data":{"z":1.0}}}`}},
		{"fail", "fail", `{"text":"no"}`, []string{`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"no"}],"isError":true}}`}},
		{"deep", "deep", `{"depth":3}`, []string{`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"3 deep"}],"structuredContent":{"deep":[[[]]]}}}`}},
		{"deep_none", "deep", `{"depth":0}`, []string{`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"1 deep"}],"structuredContent":{"deep":[]}}}`}},
		{"log", "log", `{"level":"error","text":"t"}`, []string{`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"fakemcp","data":"t"}}`, fmt.Sprintf(result, `"logged"`)}},
		{"change", "change", `{}`, []string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, fmt.Sprintf(result, `"changed"`)}},
		{"badjson", "badjson", `{}`, []string{`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"broken}]`}},
		{"unknown_tool", "none", `{}`, []string{`{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"Unknown tool: none"}}`}},
		{"garbage", "garbage", `{}`, []string{
			`{"jsonrpc":"2.0","id":987654321,"result":{"content":[{"type":"text","text":"wrong"}]}}`,
			`{"jsonrpc":"2.0","id":"nobody","result":{"content":[{"type":"text","text":"wrong"}]}}`,
			`{"jsonrpc":"2.0","id":null,"result":{"content":[{"type":"text","text":"wrong"}]}}`,
			`{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"wrong"}]}}`,
			fmt.Sprintf(result, `"right"`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.wants, runInitialized(t, nil, toolCall(`"x"`, c.tool, c.args))); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithdrawWithoutParams(t *testing.T) {
	t.Parallel()
	in, say := io.Pipe()
	out, answer := io.Pipe()
	go func() { // ends with the input
		mcptest.Main(nil, in, answer, io.Discard)
		_ = answer.Close()
	}()
	go func() {
		_, _ = io.WriteString(say, initializeRequest+"\n"+toolCall(`"x"`, "withdraw", `{}`)+"\n"+`{"jsonrpc":"2.0","method":"notifications/vendor/go"}`+"\n")
	}()
	withdrawn := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if !gjson.Valid(line) {
			t.Errorf("%q is not JSON", line)
		}
		withdrawn = withdrawn || gjson.Get(line, "method").Str == "notifications/cancelled"
		if gjson.Get(line, "id").Str == "x" {
			_ = say.Close() // the answer was the last line
		}
	}
	if !withdrawn {
		t.Error("the question is not taken back")
	}
}

func TestGarbageWithTextID(t *testing.T) {
	t.Parallel()
	lines := runInitialized(t, nil, toolCall("7", "garbage", `{"textId":true}`))
	if got := gjson.Get(lines[len(lines)-1], "id").Raw; got != `"7"` {
		t.Errorf("the right answer has id %s", got)
	}
}

func TestNoiseEndsInAnAnswer(t *testing.T) {
	t.Parallel()
	lines := runInitialized(t, nil, toolCall("7", "noise", `{}`))
	last, bom := strings.CutPrefix(lines[len(lines)-1], "\ufeff")
	last, crlf := strings.CutSuffix(last, "\r")
	if !bom || !crlf || gjson.Get(last, "result.content.0.text").Str != "quiet" {
		t.Errorf("answer is %q", lines[len(lines)-1])
	}
	for _, line := range lines[:len(lines)-1] {
		if gjson.Valid(line) && gjson.Get(line, "id").Raw == "7" {
			t.Errorf("noise line answers the request: %q", line)
		}
	}
}

func TestTooLargeIsExact(t *testing.T) {
	t.Parallel()
	for _, args := range []string{`{"bytes":1000}`, `{"bytes":200000}`, `{"bytes":200000,"idLast":true}`} {
		line := runInitialized(t, nil, toolCall("7", "toolarge", args))[0]
		if want := int(gjson.Get(args, "bytes").Int()); len(line) != want || gjson.Get(line, "id").Raw != "7" {
			t.Errorf("%s: %d bytes", args, len(line))
		}
		if last := strings.HasSuffix(line, `"id":7}`); last != gjson.Get(args, "idLast").Bool() {
			t.Errorf("%s: id at the end: %t", args, last)
		}
	}
}

func TestFilesByteForByte(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "result.json")
	text := `{"tools":[{"name":"of_file","n":1.0}],  "z":-0}`
	if err := os.WriteFile(name, []byte(strings.Replace(text, "  ", "\r\n  \n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runInitialized(t, []string{"--definitions", name, "--result-file", name},
		listRequest("tools/list", ""), toolCall("1", "raw", `{}`), toolCall("2", "of_file", `{"text":"x"}`))
	want := []string{
		`{"jsonrpc":"2.0","id":1,"result":` + text + `}`,
		`{"jsonrpc":"2.0","id":1,"result":` + text + `}`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}]}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		flags   []string
		cursor  string
		entries int
		next    string
	}{
		{name: "all", entries: 5},
		{name: "first", flags: []string{"--page", "2"}, entries: 2, next: "from-2"},
		{name: "middle", flags: []string{"--page", "2"}, cursor: "from-2", entries: 2, next: "from-4"},
		{name: "last", flags: []string{"--page", "2"}, cursor: "from-4", entries: 1},
		{name: "endless", flags: []string{"--endless-cursor"}, cursor: "turn-6", entries: 5, next: "turn-7"},
		{name: "repeat", flags: []string{"--repeat-cursor"}, cursor: "again", entries: 5, next: "again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			line := runInitialized(t, append([]string{"--tools", "5"}, c.flags...), listRequest("tools/list", c.cursor))[0]
			if got := int(gjson.Get(line, "result.tools.#").Int()); got != c.entries {
				t.Errorf("%d entries, want %d", got, c.entries)
			}
			if got := gjson.Get(line, "result.nextCursor").Str; got != c.next {
				t.Errorf("next cursor %q, want %q", got, c.next)
			}
		})
	}
	line := runInitialized(t, nil, listRequest("tools/list", "nonsense"))[0]
	if gjson.Get(line, "error.code").Int() != -32602 {
		t.Errorf("a cursor nobody gave out: %s", line)
	}
}

func TestOfferedTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, want string }{
		{"--tools 0", `[]`},
		{"--tools 2", `["tool_0001","tool_0002"]`},
		{"--offer pid,echo", `["pid","echo"]`},
		{"--offer echo --tools 1", `["echo","tool_0001"]`},
	} {
		line := runInitialized(t, strings.Fields(c.flags), listRequest("tools/list", ""), toolCall("2", "tool_0001", `{"text":"x"}`))[0]
		if got := gjson.Get(line, "result.tools.#.name").Raw; got != c.want {
			t.Errorf("%s lists %s, want %s", c.flags, got, c.want)
		}
	}
}

func TestEras(t *testing.T) {
	t.Parallel()
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`
	for _, c := range []struct {
		name, flags, line string
		path, want        string
	}{
		{name: "legacy_knows_no_discover", flags: "--era legacy", line: discover, path: "error.code", want: "-32601"},
		{name: "discover", flags: "--era modern", line: discover, path: "result.supportedVersions", want: `["2026-07-28"]`},
		{name: "discover_both", flags: "--era both --versions 2026-07-28,2025-06-18", line: discover, path: "result.supportedVersions", want: `["2026-07-28","2025-06-18"]`},
		{name: "discover_error", flags: `--discover-error {"code":-1,"message":"m"}`, line: discover, path: "error", want: `{"code":-1,"message":"m"}`},
		{name: "modern_refuses_initialize", flags: "--era modern", line: initializeRequest, path: "error", want: `{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}`},
		{name: "modern_other_version", flags: "--era modern --versions 2027-01-01", line: discover, path: "error.data", want: `{"supported":["2027-01-01"],"requested":"2026-07-28"}`},
		{name: "modern_without_meta", flags: "--era modern", line: listRequest("tools/list", ""), path: "error.code", want: "-32602"},
		{name: "legacy_before_initialize", flags: "--era legacy", line: listRequest("tools/list", ""), path: "error.code", want: "-32600"},
		{name: "legacy_other_version", flags: "--versions 2024-11-05", line: initializeRequest, path: "result.protocolVersion", want: `"2024-11-05"`},
		{name: "legacy_instructions", flags: "--instructions read_me", line: initializeRequest, path: "result.instructions", want: `"read_me"`},
		{name: "legacy_server_info", flags: "--name n --version v", line: initializeRequest, path: "result.serverInfo", want: `{"name":"n","version":"v"}`},
		{name: "without_tools", flags: "--without tools,logging", line: initializeRequest, path: "result.capabilities.tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stdout, _, _ := runServer(t, strings.Fields(c.flags), c.line)
			if got := gjson.Get(stdout, c.path).Raw; got != c.want {
				t.Errorf("%s is %s, want %s; line %s", c.path, got, c.want, stdout)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--silent-unknown", "--never-answer"} {
		stdout, _, code := runServer(t, []string{flag}, `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		if stdout != "" || code != 0 {
			t.Errorf("%s: wrote %q, exit code %d", flag, stdout, code)
		}
	}
}

func TestInputRequired(t *testing.T) {
	t.Parallel()
	params := `"name":"ask2","arguments":{"what":"roots"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
	ask := func(more string) gjson.Result {
		line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + more + `}}`
		d := startChild(t, "--era", "modern")
		d.send(line)
		return gjson.Get(d.nextLine(), "result")
	}
	first := ask("")
	if first.Get("resultType").Str != "input_required" || first.Get("inputRequests.question-a.method").Str != "roots/list" {
		t.Fatalf("first result %s", first.Raw)
	}
	second := ask(`,"requestState":` + first.Get("requestState").Raw + `,"inputResponses":{"question-a":{"roots":[1.0]}}`)
	if second.Get("inputRequests.question-b.method").Str != "roots/list" {
		t.Fatalf("second result %s", second.Raw)
	}
	third := ask(`,"requestState":` + second.Get("requestState").Raw + `,"inputResponses":{"question-b":{"roots":[-0]}}`)
	if got := third.Get("content.0.text").Str; got != `[{"roots":[1.0]},{"roots":[-0]}]` {
		t.Errorf("answers %s", third.Raw)
	}
	if bad := ask(`,"requestState":"changed","inputResponses":{"question-a":{}}`); !bad.Get("isError").Bool() {
		t.Errorf("a changed state was taken: %s", bad.Raw)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	d := startChild(t, "--era", "modern")
	d.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{` + modernMeta + `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["fake://item/1"]}}}`)
	d.wantLine(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["fake://item/1"]}}}`)
	modernCall := func(id, name, args string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `,` + modernMeta + `}}`
	}
	d.send(modernCall("1", "touch", `{"uri":"fake://item/1"}`))
	d.wantLine(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"uri":"fake://item/1"}}`)
	d.nextLine()
	d.send(modernCall("2", "touch", `{"uri":"fake://item/2"}`))
	d.wantLine(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"touched"}]}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`)
	d.wantStderr(`cancelled "s"`)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	d := startChild(t)
	d.send(initializeRequest)
	d.nextLine()
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`
	d.send(toolCall("1", "slow", `{"ms":600000}`) + "\n" + fmt.Sprintf(cancel, 1))
	d.wantStderr("cancelled 1")
	d.send(toolCall("2", "late", `{"ms":500}`) + "\n" + fmt.Sprintf(cancel, 2))
	d.wantStderr("cancelled 2")
	d.wantLine(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"late"}]}}`)
}

func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 1000 {
		lines = append(lines, toolCall(fmt.Sprint(i+1), "echo", fmt.Sprintf(`{"text":"%d"}`, i+1)))
	}
	for i, line := range runInitialized(t, nil, lines...) {
		if want := fmt.Sprint(i + 1); gjson.Get(line, "id").Raw != want || gjson.Get(line, "result.content.0.text").Str != want {
			t.Fatalf("answer %d is %s", i, line)
		}
	}
}
