package markdown_test

import (
	"strings"
	"testing"

	"collie/internal/face/cli/chat/markdown"
)

// Each element of Markdown has its form on a terminal of 20 columns.
func TestRender(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"heading and text": {"# Tea\n\nOolong **at** `four`", "# Tea\n\nOolong at four"},
		"chinese wraps":    {"今天我们在工作室喝乌龙茶然后写报告", "今天我们在工作室喝乌\n龙茶然后写报告"},
		"list":             {"- one\n- two\n  - three\n\n1. a\n2. b", "• one\n• two\n  • three\n\n1. a\n2. b"},
		"code is cut":      {"```go\nfunc main() { println(1) }\n```", "  go\n  func main() { prin\n  tln(1) }"},
		"table":            {"| 茶 | when |\n|--|--|\n| 乌龙 | four |", "茶   │ when\n─────┼─────\n乌龙 │ four"},
		"aligned table":    {"| price | 茶 |\n|--:|:-:|\n| 7 | 乌龙茶 |", "price │   茶\n──────┼───────\n    7 │ 乌龙茶"},
		"quote":            {"> a\n> b", "│ a b"},
		"html is text":     {"a <b>c</b>", "a <b>c</b>"},
		"link":             {"[x](http://a.b)", "x (http://a.b)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(markdown.Renderer{}.Render(c.source, 20), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Split takes only blocks that further text cannot change.
func TestSplit(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"one\n\ntwo":              0, // the last line may become anything
		"one\n\ntwo\n":            5,
		"- a\n\n- b\n":            0,
		"- a\n\n  b\n\nc\n":       10,
		"```\na\n\nb\n":           0,
		"```\na\n\nb\n```\n\nc\n": 14,
	} {
		if got := markdown.Split(source); got != want {
			t.Errorf("Split(%q) is %d, want %d", source, got, want)
		}
	}
}

// Render and Split accept any text, and Split never returns more than the length of its text.
func FuzzRender(f *testing.F) {
	for _, s := range []string{"# a\n\n| b | c |\n|--|--|\n| 茶 | d |\n\n", "- a\n  1. b\n> c\n```\nd", "**乌龙*茶"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, source string, width int) {
		_ = markdown.Renderer{Styled: true}.Render(source, width&0xff)
		if at := markdown.Split(source); markdown.Split(source[:at]) > at || at > len(source) {
			t.Errorf("%d of %d bytes are whole", at, len(source))
		}
	})
}
