package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"collie/internal/mcp"
	"collie/internal/process"
)

// Some old servers list their tools in the initialize result and do not implement tools/list. Their tools are taken
// from there, with a warning. A server that has tools/list is asked by that alone.
func TestToolsInTheInitializeResult(t *testing.T) {
	t.Parallel()
	const early = `[{"name":"echo","inputSchema":{"type":"object"}},{"name":"","inputSchema":{}},{"name":"echo","description":"twice"}]`
	for name, tt := range map[string]struct {
		capabilities, list string
		said               bool
	}{
		"no capability":            {`{}`, "", true},
		"a capability and no list": {`{"tools":{}}`, "", true},
		"a list":                   {`{"tools":{}}`, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{
				"initialize": `{"protocolVersion":"2024-11-05","capabilities":` + tt.capabilities + `,"serverInfo":{"name":"m","version":"1"},"tools":` + early + `}`,
				"tools/list": tt.list,
				"tools/call": `{"content":[{"type":"text","text":"here"}]}`,
			}
			open := func(ctx context.Context, c *conn, opts mcp.ClientOptions) (err error) {
				fromUs, toServer := io.Pipe()
				fromServer, toUs := io.Pipe()
				go answerRequests(fromUs, toUs, answers) // ends with the pipes
				lines := mcp.NewLines(fromServer, toServer, 0, func() error {
					_ = toServer.Close()
					return fromServer.Close()
				})
				c.Client, err = mcp.Connect(ctx, mcp.NewConn(lines, c, nil), opts)
				return err
			}
			set := NewSet([]Spec{newSpec(t, "m", fmt.Sprintf(plain, ""))}, Options{open: open})
			defer set.Close(context.Background())
			s := set.servers[0]
			if err := callEchoTool(s); err != nil {
				t.Fatal(err)
			}
			if st := s.Status(); st.Tools != 1 {
				t.Errorf("it has %d tools, want echo alone: %+v", st.Tools, st)
			}
			said := slices.ContainsFunc(s.logs(), func(e process.Entry) bool { return strings.Contains(e.Text, "initialize result") })
			if said != tt.said {
				t.Errorf("said in its log: %t, want %t", said, tt.said)
			}
		})
	}
}

// answerRequests answers requests by their method. An empty answer means "method not found".
func answerRequests(in io.Reader, out io.Writer, answers map[string]string) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var req struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		if result := answers[req.Method]; result != "" {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result)
			continue
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", req.ID)
	}
}
