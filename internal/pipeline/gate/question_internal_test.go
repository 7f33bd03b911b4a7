package gate

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"collie/internal/tool"
)

const hostile = "a\x1b[2J\r\nTargets: \u202eb\u2028c\u0085d\x00\U000e0041\u200b"

func hostileCall(args string) *tool.Call {
	return &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Principal: hostile, Client: hostile},
		Tool:    hostile, Args: json.RawMessage(args), Action: &tool.Action{Name: hostile, Description: hostile, Dangerous: true},
	}
}

// Foreign text in a question cannot control the terminal that shows it, or look like a line of Collie's own.
func TestQuestionIsHarmless(t *testing.T) {
	t.Parallel()
	q := question(hostileCall(`{"x":"\u001b[2J`+"\u202e\u2028\u0085\U000e0041"+`"}`), tool.Plan{Targets: []string{hostile, hostile}}, nil)
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{q.Tool, q.Action, q.Effect, q.Args, string(raw)}, q.Targets...) {
		if strings.ContainsFunc(text, invisible) {
			t.Errorf("%q", text)
		}
	}
	if want := `{"x":"\u001b[2J\u202e\u2028\u0085\udb40\udc41"}`; q.Args != want {
		t.Errorf("arguments %s, want %s", q.Args, want)
	}
	if n := strings.Count(message(q), "\n"); n != 8 || strings.ContainsFunc(strings.ReplaceAll(message(q), "\n", ""), invisible) {
		t.Errorf("%d lines: %q", n, message(q))
	}
	family := "家族 👨\u200d👩\u200d👧 e\u0301"
	if got := line(family, 99); got != family {
		t.Errorf("%q became %q", family, got)
	}
}

func TestQuestionIsShort(t *testing.T) {
	t.Parallel()
	targets := make([]string, 57)
	for i := range targets {
		targets[i] = strings.Repeat("长", 1000)
	}
	long, err := json.Marshal(map[string]string{"markdown": strings.Repeat("字", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	c := hostileCall(string(long))
	c.Action.Description = "First line.\nSecond line."
	q := question(c, tool.Plan{Targets: targets}, nil)
	if len(q.Targets) != 21 || q.Targets[20] != "… and 37 more" || utf8.RuneCountInString(q.Targets[0]) > 330 {
		t.Errorf("%d targets: %s", len(q.Targets), q.Targets)
	}
	if n := utf8.RuneCountInString(q.Args); n < 1800 || n > 1830 || !strings.HasSuffix(q.Args, "… (3215 more characters)") {
		t.Errorf("%d characters of arguments: …%s", n, q.Args[len(q.Args)-60:])
	}
	if args := argsText(json.RawMessage("{" + strings.Repeat("字", 5000))); !strings.HasSuffix(args, "… (3201 more characters)") {
		t.Errorf("arguments that are not JSON: …%s", args[len(args)-60:])
	}
	if q.Effect != "First line." {
		t.Errorf("effect %q", q.Effect)
	}
	if got := question(&tool.Call{Action: &tool.Action{}}, tool.Plan{}, nil).Args; got != "{}" {
		t.Errorf("no arguments are shown as %q", got)
	}
}

func FuzzQuestion(f *testing.F) {
	for _, args := range []string{`{"a":1}`, `{"markdown":"\u001b","b":["x",{"value":null}]}`, `{"a":1,"a":2}`, `{`, `null`, "{\"a\":\"\xff\u202e\"}", `{"\ud800":"\ud800"}`, `[[]]`} {
		f.Add(args, hostile)
	}
	f.Fuzz(func(t *testing.T, args, target string) {
		c, plan := hostileCall(args), tool.Plan{Targets: []string{target}}
		q := question(c, plan, nil)
		for _, text := range []string{q.Args, q.Targets[0]} {
			if strings.ContainsFunc(text, invisible) || utf8.RuneCountInString(text) > maxArgs+40 {
				t.Errorf("%q", text)
			}
		}
		bound := callBinding(c, plan)
		if !json.Valid([]byte(args)) {
			return
		}
		out := outline(json.RawMessage(args))
		if !json.Valid(out) {
			t.Errorf("outline %s of %s", out, args)
		}
		// White space makes no difference, unless a name occurs twice.
		v := jsontext.Value(args)
		if v.Kind() == '{' && v.IsValid() && v.Indent() == nil {
			d := *c
			d.Args = json.RawMessage(v)
			if bound != callBinding(&d, plan) {
				t.Errorf("%s and %s are two calls", args, v)
			}
		}
	})
}

func TestCodes(t *testing.T) {
	t.Parallel()
	seen := map[rune]int{}
	for range 1000 {
		for _, r := range newCode() {
			seen[r]++
		}
	}
	for _, r := range codeLetters { // 250 are expected on average
		if seen[r] < 125 || seen[r] > 500 {
			t.Errorf("%c came %d times in 6,000", r, seen[r])
		}
	}
	if len(seen) != len(codeLetters) {
		t.Errorf("letters %v", seen)
	}
}
