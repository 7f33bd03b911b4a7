//go:build stories

package agent_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/terminal"
)

var updateScreens = flag.Bool("update", false, "write testdata/screens anew")

// changing are the parts of a screen that differ between runs, with what replaces them. The order matters, because the end
// of an id may look like a time, such as 3s.
var changing = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d+ tokens in, \d+ out`), "N tokens in, N out"},
	{regexp.MustCompile(`[\d.]+k of [\d.]+k tokens \(\d+ %\)`), "N of N tokens (N %)"},
	{regexp.MustCompile(`[\d.]+k / [\d.]+k 个词元 \(\d+ %\)`), "N / N 个词元 (N %)"},
	{regexp.MustCompile(`输入 \d+ 个词元，输出 \d+ 个`), "输入 N 个词元，输出 N 个"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "YYYY-MM-DD"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\d{14}-[0-9a-z]{7}`), "DDDDDDDDDDDDDD-IIIIIII"},
	{regexp.MustCompile(`\d+(\.\d+)?(ms|s)\b`), "TIME"},
}

// steady returns the text of a view, with the parts replaced that change from run to run.
func steady(v *terminal.View) string {
	text := v.String()
	for _, c := range changing {
		text = c.what.ReplaceAllString(text, c.with)
	}
	return text
}

// same waits until the terminal shows the screen recorded in testdata/screens.
func same(t *testing.T, x terminal.Xterm, s *terminal.Screen, name string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if *updateScreens {
		last := ""
		await.Until(t, "the screen is drawn", func() bool {
			now := steady(x.View(s))
			defer func() { last = now }()
			return now == last
		})
		if err := os.WriteFile(file, []byte(steady(x.View(s))), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	await.Until(t, "the screen is that of "+file, func() bool {
		got = steady(x.View(s))
		return got == string(want)
	}, func() string { return "it is\n" + got })
}

const lesson = "# 乌龙茶\n\nOolong is **partly oxidised**; so says the [book](https://example.org/茶).\n\n" +
	"1. warm the pot\n2. *five grams*, 95 °C\n   - first: 10 s\n   - 第二泡：十五秒\n\n" +
	"| tea | 中文 | minutes |\n|---|---|---:|\n| green | 绿茶 | 2 |\n| oolong | 乌龙茶 | 0.2 |\n\n" +
	"```go\nfunc steep(t time.Duration) error { return nil } // a line of code that is wider than eighty columns are, and stays whole\n```\n\n> 好茶不怕细品"

// TestScreens compares what a terminal emulator shows of a conversation with the screens in testdata/screens, at usual
// sizes and in both languages.
func TestScreens(t *testing.T) {
	t.Parallel()
	x := terminal.NewXterm(t, filepath.Join("..", "terminal"))
	for _, at := range []struct {
		name, locale       string
		size               terminal.Size
		answered, question string
		document           string // the document that the model moves
	}{
		{name: "80x24", locale: "C.UTF-8", size: terminal.Size{Columns: 80, Rows: 24}, answered: "tokens in", question: "Run it?", document: "/Welcome/Writing"},
		{name: "200x60", locale: "C.UTF-8", size: terminal.Size{Columns: 200, Rows: 60}, answered: "tokens in", question: "Run it?", document: "/Welcome/Writing"},
		{name: "80x24-zh", locale: "zh_CN.UTF-8", size: terminal.Size{Columns: 80, Rows: 24}, answered: "个词元", question: "执行吗？", document: "/欢迎/写作"},
	} {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			p, settings := newPrograms(t, scriptOf(
				provider.Turn{Say: lesson},
				callTurn("fs", `{"action":"mv","from":"`+at.document+`","to":"`+path.Dir(at.document)+`/记录 Minutes"}`), provider.Turn{Say: "搬好了 (moved)"},
			))
			s := terminal.Run(t, at.size, "env", "LC_ALL="+at.locale, "TERM=xterm-256color", p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
			s.WaitFor("collie chat")
			s.Type("怎么泡 oolong？")
			s.WaitFor("oolong")
			same(t, x, s, at.name+"-typed")
			s.Type("\r")
			s.WaitFor("好茶不怕细品", at.answered)
			same(t, x, s, at.name+"-answer")
			s.Type("move it\r")
			s.WaitFor(at.question)
			same(t, x, s, at.name+"-question")
			s.Type("y")
			s.WaitFor("搬好了", at.answered)
			s.Type("/b")
			s.WaitFor("/branches")
			same(t, x, s, at.name+"-completion")
			s.Type("\x15")
			s.Type("\x03\x03")
			s.WaitForExit(0)
		})
	}
}

// numbered returns n numbered words, each in English and in Chinese.
func numbered(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("word%d 字%d", i, i)
	}
	return strings.Join(words, " ")
}

// A terminal that changes its size while an answer comes loses no word of it.
func TestResizeInMidStream(t *testing.T) {
	t.Parallel()
	x := terminal.NewXterm(t, filepath.Join("..", "terminal"))
	words := numbered(300)
	p, settings := newPrograms(t, scriptOf(provider.Turn{Say: words + ".\n\nthat was all", Pace: provider.Duration(5 * time.Millisecond)}))
	s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, "env", "LC_ALL=C.UTF-8", "TERM=xterm-256color", p.Collie, "chat", "--home", t.TempDir(), "--config", settings)
	s.WaitFor("collie chat")
	s.Type("count\r")
	for i, size := range []terminal.Size{{Columns: 61, Rows: 20}, {Columns: 132, Rows: 40}, {Columns: 40, Rows: 10}, {Columns: 80, Rows: 24}} {
		s.WaitFor(fmt.Sprintf("word%d", 40*(i+1)))
		s.Resize(size)
	}
	s.WaitFor("that was all", "tokens in")
	shown := strings.Join(strings.Fields(x.View(s).String()), " ")
	at := 0
	for w := range strings.FieldsSeq(words) {
		i := strings.Index(shown[at:], w)
		if i < 0 {
			t.Fatalf("%q is lost of\n%s", w, x.View(s))
		}
		at += i
	}
	s.Type("\x03\x03")
	s.WaitForExit(0)
}

// TestTerminalGoesAwayInMidTurn ends the terminal, or kills the program, during an answer: the conversation is kept and,
// if only the terminal went away, the unsent input too.
func TestTerminalGoesAwayInMidTurn(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"hang up", "kill"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p, settings := newPrograms(t, scriptOf(provider.Turn{Say: numbered(2000), Pace: provider.Duration(20 * time.Millisecond)}))
			home := t.TempDir()
			s := terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--home", home, "--config", settings)
			s.WaitFor("collie chat")
			s.Type("tell me\r")
			s.WaitFor("word200") // after a second the answer so far is in the store
			s.Type("and the next one")
			s.WaitFor("and the next one")
			if way == "kill" {
				s.Kill()
			} else {
				s.HangUp()
			}
			s = terminal.Run(t, terminal.Size{Columns: 80, Rows: 24}, p.Collie, "chat", "--continue", "--home", home, "--config", settings)
			kept := []string{"tell me", "word20 字20"}
			if way == "hang up" {
				kept = append(kept, "and the next one")
			}
			s.WaitFor(kept...)
			s.Type("\x15")
			s.Type("\x03\x03")
			s.WaitForExit(0)
			p.AwaitNone(t, leaveLimit)
		})
	}
}
