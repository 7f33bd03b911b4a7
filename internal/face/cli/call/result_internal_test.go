package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// viewed returns what a person sees of a payload.
func viewed(payload string) string {
	v := &resultView{action: "fs.read", subjectArg: "/asked"}
	return v.render(gjson.Parse(payload))
}

// Payloads of our own actions are shown with what matters first, each kind of value in its own form.
func TestOwnResults(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf(`"标签%d"`, i))
	}
	for name, tt := range map[string]struct{ payload, want string }{
		"written": {
			`{"success":true,"path":"/工作/新","created":true,"id":"x","requestId":"r"}`,
			"✓ fs.read /工作/新\n  id         x\n  created    true\n  requestId  r\n",
		},
		"a document named by ids": {
			`{"id":"x","path":"/1/x.sy","hPath":"/日记/今天"}`,
			"✓ fs.read /日记/今天\n  id    x\n  path  /1/x.sy\n",
		},
		"what to call next": {
			`{"path":"/a","avToolHint":"av(action=\"render\", id=\"x\") shows the rows"}`,
			"✓ fs.read /a\n  avToolHint  collie av render --id x shows the rows\n",
		},
		"nothing but success": {`{"success":true}`, "✓ fs.read /asked\n"},
		"a text": {
			`{"path":"/a","content":"# 目标\n\ntext","totalBlocks":2,"truncated":false}`,
			"✓ fs.read /a\n  totalBlocks  2\n\n# 目标\n\ntext\n",
		},
		"two texts": {
			`{"path":"/a","kramdown":"one","markdown":"two\n"}`,
			"✓ fs.read /a\n\nkramdown:\none\n\nmarkdown:\ntwo\n",
		},
		"a plain list": {
			`{"tags":[` + strings.Repeat(`"标签",`, 51) + `"x"],"total":52}`,
			"✓ fs.read /asked\n  total  52\n  tags (52)\n" + strings.Repeat("    标签\n", 50) + "    … 2 more; --json shows all\n",
		},
		"a page": {
			`{"data":[` + strings.Join(many, ",") + `],"total":30,"page":1,"pageSize":12,"pageCount":3,"hasNextPage":true}`,
			"✓ fs.read /asked\n  data (12)\n    " + strings.Join(strings.Split(strings.ReplaceAll(strings.Join(many, "\n    "), `"`, ""), "\n"), "\n") +
				"\npage 1 of 3, 30 in all; --page 2 shows the next\n",
		},
		"columns of Chinese": {
			`{"items":[{"id":"1","name":"工作","closed":false},{"id":"22","name":"a","closed":true}]}`,
			"✓ fs.read /asked\n  items (2)\n    NAME  ID  CLOSED\n    工作  1\n    a     22  true\n",
		},
		"a tree": {
			`{"tree":[{"name":"a","path":"/a","children":[{"name":"b","path":"/a/b","children":3}]}]}`,
			"✓ fs.read /asked\n  tree (1)\n    NAME  PATH  CHILDREN\n    a     /a\n      b   /a/b  3\n",
		},
		"a database": {
			`{"name":"书","table":{"columns":[{"name":"书名"},{"name":"年"}],"rows":[{"id":"r1","cells":["红楼梦",1791]},{"id":"r2","cells":[["a","b"],null]}]},"pageCount":1,"page":1,"total":2}`,
			"✓ fs.read 书\n  ROW  书名    年\n  r1   红楼梦  1791\n  r2   a, b\npage 1 of 1, 2 in all\n",
		},
		"an object": {`{"conf":{"a":1,"b":{"c":2}}}`, "✓ fs.read /asked\n  conf\n    a  1\n    b  {\"c\":2}\n"},
		"no items":  {`{"items":[],"errors":[]}`, "✓ fs.read /asked\n  items  none\n"},
		"a list":    {`[1,"二"]`, "✓ fs.read /asked\n    1\n    二\n"},
		"a word":    {`"3.7.3"`, "✓ fs.read /asked\n3.7.3\n"},
		"filtered": {
			`{"items":["a"],"partial":true,"filteredOutCount":2,"reason":"permission_filtered","permissionSummary":{"x":1}}`,
			"✓ fs.read /asked\n  items (1)\n    a\n(2 more in notebooks that may not be read)\n",
		},
		"many scalars": {
			`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"id":"x","h":8,"type":"d"}`,
			"✓ fs.read x\n  type  d\n  a     1\n  b     2\n  c     3\n  d     4\n  e     5\n  f     6\n  g     7\n  … 1 more; --json shows all\n",
		},
		"control characters": {`{"path":"/a\u001b[2J","n":"b\u0007"}`, "✓ fs.read /a\uFFFD[2J\n  n  b\uFFFD\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, viewed(tt.payload)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Long values are cut to a line.
func TestValuesAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("长", 200)
	for line := range strings.Lines(viewed(`{"n":"` + long + `","items":[{"name":"` + long + `"}],"path":"` + long + `"}`)) {
		if w := output.Width(strings.TrimRight(line, "\n")); w > output.Width(output.Cut(strings.Repeat("x", 1000)))+len("✓ fs.read ")+2 {
			t.Errorf("a line of %d columns: %s", w, line)
		}
	}
}

// The mark of success has a colour if the view has colours.
func TestColourOnlyAtATerminal(t *testing.T) {
	t.Parallel()
	v := &resultView{action: "a.b", colour: true}
	if got := v.render(gjson.Parse(`{}`)); got != "\x1b[32m✓\x1b[0m a.b\n" {
		t.Errorf("%q", got)
	}
}

// With --json the payload is one line, and the exit code tells whether a part is missing.
func TestOwnResultsForPrograms(t *testing.T) {
	t.Parallel()
	target := &namedTarget{tool: &tool.Tool{Name: "fs"}, action: &tool.Action{Name: "ls", Strict: true}}
	for _, tt := range []struct {
		text, want string
		code       int
	}{
		{`{ "path": "/", "items": [ ] }`, `{"path":"/","items":[]}`, 0},
		{`[1, 2]`, `[1,2]`, 0},
		{`{"partial":true,"errors":[{"path":"/a"}]}`, `{"partial":true,"errors":[{"path":"/a"}]}`, root.ExitPartial},
		{`{"partial":true,"reason":"permission_filtered"}`, `{"partial":true,"reason":"permission_filtered"}`, 0},
		{`{"partial":true,"reason":"permission_filtered","failedDocs":1}`, `{"partial":true,"reason":"permission_filtered","failedDocs":1}`, root.ExitPartial},
	} {
		p, out, _ := newProgram("")
		p.JSON = true
		raw, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": tt.text}}, "structuredContent": map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		code := 0
		if e, ok := errors.AsType[*root.ExitError](p.showResult(t.Context(), nil, target, nil, tool.Result{Raw: raw})); ok {
			code = e.Code
		}
		if out.String() != tt.want+"\n" || code != tt.code {
			t.Errorf("%s: %q, exit %d; want %q, exit %d", tt.text, out, code, tt.want, tt.code)
		}
	}
}

// An error in a result becomes an error of the command, with its kind and exit code.
func TestOwnErrors(t *testing.T) {
	t.Parallel()
	target := &namedTarget{tool: &tool.Tool{Name: "fs"}, action: &tool.Action{Name: "ls", Strict: true}}
	e := &tool.Error{Op: "call", Kind: tool.Denied, Message: "no", Hint: `fs(action="ls", path="/") shows what there is`}
	var errw bytes.Buffer
	p := commands{&root.Program{Output: output.Output{Out: &bytes.Buffer{}, Err: &errw}}}
	if code := p.Report(p.showResult(t.Context(), nil, target, nil, e.ErrorResult())); code != root.ExitDenied {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(errw.String(), "Hint: collie fs ls --path / shows") {
		t.Errorf("%s", &errw)
	}
}

// FuzzOwnView: whatever an action returns, the output has no control characters and ends with a line break.
func FuzzOwnView(f *testing.F) {
	f.Add(`{"items":[{"name":"a","children":[{"children":[]}]}],"pageCount":2}`)
	f.Add(`{"table":{"columns":[{"name":1}],"rows":[{"cells":[[{}]]}]}}`)
	f.Add(`{"items":[{},{"":null}]}`)
	f.Fuzz(func(t *testing.T, payload string) {
		if !gjson.Valid(payload) {
			return
		}
		got := output.Harmless(viewed(payload))
		if !strings.HasSuffix(got, "\n") || strings.ContainsRune(got, '\x1b') {
			t.Errorf("%q", got)
		}
	})
}
