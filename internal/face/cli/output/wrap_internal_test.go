package output

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/test/await"
)

// Text is wrapped between words and between wide characters, but not before punctuation.
func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 0, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one incomprehensibility", 8, []string{"one", "incomprehensibility"}},
		{"笔记在思源里，读写都行", 12, []string{"笔记在思源", "里，读写都行"}},
		{"用 collie 读笔记", 9, []string{"用 collie", "读笔记"}},
		{"か\u3099き\u3099く\u3099", 4, []string{"か\u3099き\u3099", "く\u3099"}}, // a mark stays with its character
	} {
		if diff := cmp.Diff(tt.want, wrapText(tt.text, tt.width)); diff != "" {
			t.Errorf("%q in %d (-want +got):\n%s", tt.text, tt.width, diff)
		}
	}
}

// Prose is joined, but lists and code stay as they are, and only scripts without spaces are joined without one.
func TestParagraphs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one\ntwo\n\nthree":                      "one two\n\nthree",
		"use\n```sh\na\nb\n\nc\n```\nthen\nthis": "use\n```sh\na\nb\n\nc\n```\nthen this",
		"~~~~\na\n~~~\nb\n```\nc\n~~~~\nd\ne":    "~~~~\na\n~~~\nb\n```\nc\n~~~~\nd e",
		"  ```\n  a\nb\n  ```\nc\nd":             "  ```\n  a\nb\n  ```\nc d",
		"```code``` is\nno\nfence":               "```code``` is\nno fence",
		"```\nnever\nclosed":                     "```\nnever\nclosed",
		"1. a\n2. b\n10) c":                      "1. a\n2. b\n10) c",
		"1.读\n2、写\n3）删":                          "1.读\n2、写\n3）删",
		"takes\n1.5 seconds\n2026 or\n3":         "takes 1.5 seconds 2026 or 3",
		"✅ read\n✅ write":                        "✅ read ✅ write",
		"한국어 단어\n사이":                             "한국어 단어 사이",
		"读写\n笔记，\nあ\nカー\nー":                      "读写笔记，あカーー",
		"读 notes\n写":                             "读 notes写",
		"end（\nx\n）":                             "end（x）",
	} {
		if got := Paragraphs(text, 80); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := Paragraphs(text, 0); got != text {
			t.Errorf("%q without a width became %q", text, got)
		}
	}
}

// The time that long texts take grows with their length alone.
func TestLongParagraphs(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	got := Paragraphs(strings.Repeat("a\n", 1<<19), 100)
	await.Within(t, "a paragraph of 1 MiB", time.Since(begun), 10*time.Second)
	if strings.Count(got, "a") != 1<<19 {
		t.Errorf("%d letters", strings.Count(got, "a"))
	}
}

// FuzzWrapped: wrapping loses nothing but spaces, and no line that could be broken is too long.
func FuzzWrapped(f *testing.F) {
	f.Add("one two  three 笔记。end", 7)
	f.Fuzz(func(t *testing.T, text string, width int) {
		text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
		lines := wrapText(text, width)
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%q became %q", text, lines)
		}
		for _, line := range lines {
			if len(unbreakableParts(line)) > 1 && width > 0 && Width(line) > width {
				t.Errorf("%q in %d: the line %q", text, width, line)
			}
		}
	})
}

// A second column is wrapped with its continuation lines below it.
func TestWrapSecondColumn(t *testing.T) {
	t.Parallel()
	got := WrapSecondColumn("Flags:\n      --tls-cert FILE    certificate of the gateway, in PEM form\n  -h  help\n", 44)
	want := "Flags:\n      --tls-cert FILE    certificate of the\n                         gateway, in PEM\n                         form\n  -h  help\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = WrapSecondColumn("      --笔记 文件    在思源里的笔记，读写都行，一个也不漏掉\n", 45)
	want = "      --笔记 文件    在思源里的笔记，读写都\n                     行，一个也不漏掉\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A table fits its terminal whatever it contains: columns are cut, the last one is cut or wrapped.
func TestTablesFit(t *testing.T) {
	t.Parallel()
	rows := [][]string{{strings.Repeat("a", 60), strings.Repeat("思", 30), strings.Repeat("word ", 30)}, {"b", "c", "d"}}
	for _, whole := range []bool{false, true} {
		text := tableLayout{width: 80, wrapLast: whole}.text([]string{"ONE", "TWO", "THREE"}, rows)
		for line := range strings.Lines(text) {
			if w := Width(strings.TrimRight(line, "\n")); w > 80 {
				t.Errorf("a line of %d columns: %q", w, line)
			}
		}
		if whole && strings.Count(text, "word") != 30 {
			t.Errorf("words are lost:\n%s", text)
		}
	}
}

// Cells that are input for other commands are not cut.
func TestCellsForCommandsAreWhole(t *testing.T) {
	t.Parallel()
	id := "01a2024c-4baf-7611-bb3c-2bd7d5266c9e"
	for head, row := range map[string][]string{
		"REQUEST WHEN ACTION STATE UNDO TARGETS":   {id, "12 min ago", "document.transfer_references", "failed", "no: it overwrote nothing; delete what it added", "/Work/Plan"},
		"ID TYPE FSPATH PLAINCONTENT":              {"20261122080301-abcdefg", "NodeParagraph", "/Welcome/Welcome to your notes", strings.Repeat("思", 60)},
		"TIME KIND ORIGIN WHAT OUTCOME MS MESSAGE": {"11-22 11:44:16", "call.result", "direct", "search.query_sql", "refused", "1004.5", strings.Repeat("m", 60)},
		"NAME STATE TOOLS COMMAND":                 {strings.Repeat("n", 40), strings.Repeat("s", 40), strings.Repeat("t", 40), "npx"},
	} {
		text := LayOut(strings.Fields(head), [][]string{row}, 80)
		if !strings.Contains(text, row[0]+"  ") {
			t.Errorf("%s: %q is cut:\n%s", head, row[0], text)
		}
		for line := range strings.Lines(text) {
			if w := Width(strings.TrimRight(line, "\n")); w > 80 {
				t.Errorf("%s: a line of %d columns: %q", head, w, line)
			}
		}
	}
	if text := LayOut([]string{"NAME", "STATE"}, [][]string{{strings.Repeat("n", 100), "ready"}}, 80); Width(strings.Split(text, "\n")[1]) > 80 {
		t.Errorf("a name as wide as the terminal:\n%s", text)
	}
}

// Rows that are written as they come fit too, and their times are not cut.
func TestRowsKeepTimes(t *testing.T) {
	t.Parallel()
	row := []string{"11-22 11:44:16", "call.result", "direct", "search.query_sql", "refused", "1004.5", strings.Repeat("m", 60)}
	line := tableLayout{width: 80}.rows(strings.Fields("TIME KIND ORIGIN WHAT OUTCOME MS MESSAGE"), []int{14, 11, 6, 14, 7, 6, 200})(row)
	if !strings.HasPrefix(line, "11-22 11:44:16  call.re") || Width(line) > 80 {
		t.Errorf("%d columns: %q", Width(line), line)
	}
}

// Heads are bold and outcomes have colours, but only at a terminal.
func TestColours(t *testing.T) {
	t.Parallel()
	on := Painter(true)
	got := tableLayout{Painter: on}.text([]string{"NAME", "STATE"}, [][]string{{"a", "failed"}, {"b", "ready"}})
	if want := "\x1b[1mNAME\x1b[0m  \x1b[1mSTATE\x1b[0m\na     \x1b[31mfailed\x1b[0m\nb     ready\n"; got != want {
		t.Errorf("%q", got)
	}
	if got := on.Marked("✗ a\n· b\n✓ c ✗\n"); got != "\x1b[31m✗\x1b[0m a\n· b\n\x1b[32m✓\x1b[0m c ✗\n" {
		t.Errorf("%q", got)
	}
	p, out, _ := newOutput()
	if p.colours(out) {
		t.Error("colours where there is no terminal")
	}
}
