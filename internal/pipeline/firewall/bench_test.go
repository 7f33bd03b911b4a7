package firewall_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/pipeline/firewall"
	"collie/internal/tool"
)

// eightKiB are arguments of 8 KiB in the shapes that calls have.
func eightKiB(t testing.TB) map[string]*tool.Call {
	t.Helper()
	text := strings.Repeat("A line of a note, with a path /a/b and a URL https://example.org in it.\n", 110)
	var paths []string
	for i := range 90 {
		paths = append(paths, fmt.Sprintf("/home/ada/notes/%s/%d.md", strings.Repeat("deep/", 12), i))
	}
	return map[string]*tool.Call{
		"text":    call(t, "write_file", map[string]string{"path": "/home/ada/notes/plan.md", "content": text}),
		"paths":   call(t, "read_files", map[string][]string{"paths": paths}),
		"command": call(t, "run_command", map[string]string{"command": strings.Repeat("git log --oneline -5 | head -3 && ls -la src\n", 170)}),
		"words":   call(t, "run_command", map[string]string{"command": "x" + strings.Repeat(" a", 4000)}),
		"many":    call(t, "run_command", map[string]string{"command": strings.Repeat("x y;", 2000)}),
		"folders": call(t, "run_command", map[string]string{"command": strings.Repeat("cd /a; cat b/c* *d;", 400)}),
		"sql":     call(t, "query", map[string]string{"sql": "select a from b where c in (" + strings.Repeat("'a value', ", 720) + "'x')"}),
		"script":  call(t, "run_command", map[string]string{"command": "cat > x <<'X'\n" + text + "X"}),
	}
}

func BenchmarkJudge(b *testing.B) {
	for name, c := range eightKiB(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.Args)))
			for b.Loop() {
				judge(c)
			}
		})
	}
	b.Run("small", func(b *testing.B) {
		c, p := call(b, "get_issue", `{"owner":"ada","repo":"collie","number":7}`), &firewall.Policy{}
		b.ReportAllocs()
		for b.Loop() {
			p.Judge(c, &firewall.Files{}, nil)
		}
	})
}

// BenchmarkParse is the floor: the same bytes read as JSON.
func BenchmarkParse(b *testing.B) {
	c := eightKiB(b)["text"]
	for b.Loop() {
		var v any
		if err := json.Unmarshal(c.Args, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// most is how many times as long as reading the arguments as JSON the judgement of each may take, at best: some five times
// what was measured. What grows with the square of the arguments would be far beyond.
var most = map[string]float64{"text": 5, "paths": 20, "command": 100, "words": 150, "many": 150, "folders": 200, "sql": 15, "script": 10}

func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	for name, c := range eightKiB(t) {
		took, floor := sorted(func() { judge(c) }), sorted(func() {
			var v any
			_ = json.Unmarshal(c.Args, &v)
		})
		ratio := float64(took[0]) / float64(floor[0])
		t.Logf("%-8s %d bytes: best %v, p99 %v, %.1f times reading them as JSON (%v)", name, len(c.Args), took[0], took[len(took)*99/100], ratio, floor[0])
		if ratio > most[name] {
			t.Errorf("%s: to judge 8 KiB takes %.1f times as long as to read them as JSON, expected at most %.0f", name, ratio, most[name])
		}
	}
}

// sorted is how long f took, each of many times.
func sorted(f func()) []time.Duration {
	var took []time.Duration
	for range 200 {
		begun := time.Now()
		f()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took
}
