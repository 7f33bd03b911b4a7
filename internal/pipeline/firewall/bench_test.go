package firewall_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
	"collie/test/await"
)

// newCallsOf8KiB returns calls with about 8 KiB of arguments each, in shapes that occur in practice.
func newCallsOf8KiB(t testing.TB) map[string]*tool.Call {
	t.Helper()
	text := strings.Repeat("A line of a note, with a path /a/b and a URL https://example.org in it.\n", 110)
	var paths []string
	for i := range 90 {
		paths = append(paths, fmt.Sprintf("/home/ada/notes/%s/%d.md", strings.Repeat("deep/", 12), i))
	}
	return map[string]*tool.Call{
		"text":     newCall(t, "write_file", map[string]string{"path": "/home/ada/notes/plan.md", "content": text}),
		"paths":    newCall(t, "read_files", map[string][]string{"paths": paths}),
		"command":  newCall(t, "run_command", map[string]string{"command": strings.Repeat("git log --oneline -5 | head -3 && ls -la src\n", 170)}),
		"words":    newCall(t, "run_command", map[string]string{"command": "x" + strings.Repeat(" a", 4000)}),
		"many":     newCall(t, "run_command", map[string]string{"command": strings.Repeat("x y;", 2000)}),
		"folders":  newCall(t, "run_command", map[string]string{"command": strings.Repeat("cd /a; cat b/c* *d;", 400)}),
		"sql":      newCall(t, "query", map[string]string{"sql": "select a from b where c in (" + strings.Repeat("'a value', ", 720) + "'x')"}),
		"rm":       newCall(t, "run_command", map[string]string{"command": strings.Repeat("rm ", 2600)}),
		"shells":   newCall(t, "run_command", map[string]string{"command": strings.Repeat("bash -c x ", 800)}),
		"pipes":    newCall(t, "run_command", map[string]string{"command": "a" + strings.Repeat("|sh", 125)}),
		"most":     newCall(t, "run_command", map[string]string{"command": distinctCommands(28, 7)}),
		"distinct": newCall(t, "run_command", map[string]string{"command": distinctCommands(270, 2)}),
		"harms":    newCall(t, "run_command", map[string]string{"command": repeatNumbered("rm -r a%d; chmod +x b%[1]d\n", 290)}),
		"scripts":  newCall(t, "run_command", map[string]string{"command": repeatNumbered("sh -c 'ls x%d; cat ~/a/%[1]d' && ", 60) + "true"}),
		"absolute": newCall(t, "run_command", map[string]string{"command": repeatNumbered("cat /srv/data/a%d/b*\n", 84)}),
		"cd":       newCall(t, "run_command", map[string]string{"command": repeatNumbered("cd /srv/data/a%d; cat b*\n", 45)}),
		"quoted":   newCall(t, "run_command", map[string]string{"command": strings.Repeat(`echo "$(ls "$HOME")"`+"\n", 390)}),
		"nested":   newCall(t, "run_command", map[string]string{"command": strings.Repeat("echo $(", 100) + "ls" + strings.Repeat(")", 100)}),
		"query":    newCall(t, "search", map[string]string{"query": "select a from b where c in (" + strings.Repeat("'a value', ", 720) + "'x')"}),
		"code":     newCall(t, "run_python", map[string]string{"code": strings.Repeat("x = open('data/a.txt').read()[1, 2]\nprint(x)\n", 170)}),
		"script":   newCall(t, "run_command", map[string]string{"command": "cat > x <<'X'\n" + text + "X"}),
	}
}

// repeatNumbered returns n copies of a line, each formatted with its number.
func repeatNumbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

// distinctCommands returns a script of n different commands, each with the given number of operands.
func distinctCommands(n, operands int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "cmd%d", i)
		for k := range operands {
			fmt.Fprintf(&b, " d%d/f%d.txt", i, k)
		}
		b.WriteString(";\n")
	}
	return b.String()
}

// BenchmarkJudge measures the judgement of each of these calls, and of a small one.
func BenchmarkJudge(b *testing.B) {
	for name, c := range newCallsOf8KiB(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.Args)))
			for b.Loop() {
				judge(c)
			}
		})
	}
	b.Run("small", func(b *testing.B) {
		c, p := newCall(b, "get_issue", `{"owner":"ada","repo":"collie","number":7}`), &firewall.Policy{}
		b.ReportAllocs()
		for b.Loop() {
			p.Judge(c, &firewall.Files{}, nil)
		}
	})
}

// decodeAndParse decodes the arguments as JSON and parses a command as Bash. Every judgement needs at least that.
func decodeAndParse(t testing.TB, c *tool.Call) {
	t.Helper()
	var args struct{ Command string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		t.Fatal(err)
	}
	if args.Command == "" {
		return
	}
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(args.Command), ""); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkDecodeAndParse measures the least that a judgement can take, for comparison with BenchmarkJudge.
func BenchmarkDecodeAndParse(b *testing.B) {
	for name, c := range newCallsOf8KiB(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(c.Args)))
			for b.Loop() {
				decodeAndParse(b, c)
			}
		})
	}
}

// maxRatios limits the time of a judgement of some of the calls of newCallsOf8KiB, by their names, as a multiple of the time of
// decodeAndParse. The fastest runs are compared. The limits are about five times the measured values; quadratic growth would exceed
// them by far.
var maxRatios = map[string]float64{
	"text": 5, "paths": 20, "sql": 20, "nested": 15, "pipes": 40, "cd": 20, "absolute": 15,
	"code": 35, "query": 20, "scripts": 20,
}

// maxOtherRatio is the limit for calls that are not in maxRatios. They take about as long to judge as to parse.
const maxOtherRatio = 8

func TestSpeed(t *testing.T) {
	if testing.Short() || await.Race {
		t.Skip("measures, and runs without the race detector")
	}
	for name, c := range newCallsOf8KiB(t) {
		took, least := timeRuns(func() { judge(c) }), timeRuns(func() { decodeAndParse(t, c) })
		ratio := float64(took[0]) / float64(least[0])
		t.Logf("%-8s %5d bytes: best %v, p50 %v, p99 %v, %.1f times the floor (best %v, p99 %v)",
			name, len(c.Args), took[0], took[len(took)/2], took[len(took)*99/100], ratio, least[0], least[len(least)*99/100])
		limit, ok := maxRatios[name]
		if !ok {
			limit = maxOtherRatio
		}
		if ratio > limit {
			t.Errorf("%s: to judge 8 KiB takes %.1f times as long as to read them, expected at most %.0f", name, ratio, limit)
		}
	}
}

// timeRuns runs f 200 times and returns the durations in ascending order.
func timeRuns(f func()) []time.Duration {
	var took []time.Duration
	for range 200 {
		begun := time.Now()
		f()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took
}
