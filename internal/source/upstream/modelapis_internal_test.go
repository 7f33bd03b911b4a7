package upstream

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"collie/internal/mcp"
	"collie/internal/tool"
)

// A server whose tools exceed limits of model APIs passes the diagnosis, with notes that name server, tool and limit.
func TestDiagnoseNamesLimits(t *testing.T) {
	t.Parallel()
	const fine = `{"name":"fine","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`
	long := fmt.Sprintf(`{"name":"long","description":%q,"inputSchema":{"type":"object"}}`, strings.Repeat("x", 1025))
	var many []string
	for i := range 129 {
		many = append(many, strings.Replace(strings.Replace(fine, "fine", fmt.Sprintf("t%d", i), 1), `"d"`, `""`, 1))
	}
	for name, tt := range map[string]struct {
		server string
		entry  string // further members, in place of a prefix
		tools  []string
		detail string
		notes  []string // some of them
	}{
		"all fit": {"m", "", []string{fine}, "all 1 tools fit", nil},
		"one is long": {"m", "", []string{fine, long}, "1 of 2 tools do not fit all", []string{
			"OpenAI does not take a description of more than 1024 characters: long of m",
		}},
		"a name": {"1m", "", []string{fine}, "1 of 1 tools do not fit all", []string{
			"Gemini, parameters does not take a name that does not fit ^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$: fine of 1m",
		}},
		"an alias": {"m", `"prefix":"","tools":{"override":{"1st":{"alias":"first"}}}`, []string{strings.Replace(fine, "fine", "1st", 1)}, "all 1 tools fit", nil},
		"many": {"m", "", many, "129 of 129 tools do not fit all", []string{
			"OpenAI takes at most 128 tools, and m has 129",
			"Amazon Bedrock Converse does not take an empty description: t0, t1, t2, t3, t4, t5, t6, t7 and 121 more of m",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{
				"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}`,
				"tools/list": `{"tools":[` + strings.Join(tt.tools, ",") + `]}`,
				"ping":       `{}`,
			}
			open := func(ctx context.Context, c *conn, opts mcp.ClientOptions) (err error) {
				fromUs, toServer := io.Pipe()
				fromServer, toUs := io.Pipe()
				go answerRequests(fromUs, toUs, answers) // ends with the pipes
				c.Client, err = mcp.Connect(ctx, mcp.NewConn(mcp.NewLines(fromServer, toServer, 0, func() error {
					_ = toServer.Close()
					return fromServer.Close()
				}), c, nil), opts)
				return err
			}
			var steps []tool.Step
			spec := newSpec(t, tt.server, fmt.Sprintf(plain, ","+cmp.Or(tt.entry, `"prefix":"`+tt.server+`__"`)))
			if !Diagnose(t.Context(), spec, Options{open: open, Environ: []string{"PATH=/bin:/usr/bin"}}, func(s tool.Step) { steps = append(steps, s) }) {
				t.Fatalf("it is not well: %+v", steps)
			}
			i := slices.IndexFunc(steps, func(s tool.Step) bool { return s.Name == "model APIs" })
			if i < 0 || !steps[i].OK || !strings.HasPrefix(steps[i].Detail, tt.detail) || (len(tt.notes) == 0) != (len(steps[i].Notes) == 0) {
				t.Fatalf("steps %+v", steps)
			}
			for _, note := range tt.notes {
				if !slices.Contains(steps[i].Notes, note) {
					t.Errorf("not noted: %s, but %q", note, steps[i].Notes)
				}
			}
		})
	}
}
