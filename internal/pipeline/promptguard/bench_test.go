package promptguard_test

import (
	"os"
	"strings"
	"testing"

	"collie/internal/pipeline/promptguard"
)

// measuredSize is how long the texts are whose scans are measured, in bytes.
const measuredSize = 16 << 10

// invisible are characters of no width. Removing them makes a scan slower, so a text of usual speed has none.
const invisible = "\u200b\u200d\ufeff\u00ad\u202b"

// harmlessPage returns a text of measuredSize, made of the English and Chinese texts of benign.txtar that a scan finds clean.
// It leaves out the long articles, which would leave no room for others.
func harmlessPage(t testing.TB) string {
	var b strings.Builder
	for b.Len() < measuredSize {
		for _, x := range readTexts(t, "benign.txtar") {
			isClean := promptguard.Scan(x.content).Verdict == promptguard.Clean
			if isClean && !strings.Contains(x.name, "article") && !strings.ContainsAny(x.content, invisible) {
				b.WriteString(x.content + "\n\n")
			}
		}
	}
	return strings.ToValidUTF8(b.String()[:measuredSize], "")
}

// countTags counts the characters < in text. It is the baseline of measurements: a loop that looks once at every byte.
func countTags(text string) (n int) {
	for i := range len(text) {
		if text[i] == '<' {
			n++
		}
	}
	return n
}

// goSource returns measuredSize of Go source, from files of this package.
func goSource(t testing.TB) string {
	var b strings.Builder
	for _, file := range []string{"sentence.go", "unfold.go", "marks.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return strings.ToValidUTF8(b.String()[:measuredSize], "")
}

// BenchmarkScan measures a scan of a text of notes, and of one of source code.
func BenchmarkScan(b *testing.B) {
	for name, text := range map[string]string{"page": harmlessPage(b), "code": goSource(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				promptguard.Scan(text)
			}
		})
	}
}

// BenchmarkCountTags measures the baseline, for comparison with BenchmarkScan.
func BenchmarkCountTags(b *testing.B) {
	text := harmlessPage(b)
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		n += countTags(text)
	}
}

func TestCleanTextsCostNoMemory(t *testing.T) {
	text := strings.Repeat("Met with the landlord about the window. 和房东谈了窗户的事，他答应下周派人来。\n", 100)
	if r := promptguard.Scan(text); r.Verdict != promptguard.Clean {
		t.Fatal(r)
	}
	if n := testing.AllocsPerRun(20, func() { promptguard.Scan(text) }); n > 0 {
		t.Errorf("a clean text costs %v allocations, expected none", n)
	}
}

// FuzzScan: whatever a text is, it has reasons if it is not clean, and each of them is a part of the text.
func FuzzScan(f *testing.F) {
	for _, file := range []string{"attacks.txtar", "benign.txtar"} {
		for _, x := range readTexts(f, file) {
			f.Add(x.content)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := promptguard.Scan(text)
		if (r.Verdict == promptguard.Clean) != (len(r.Reasons) == 0) {
			t.Errorf("%v has the reasons %v", r.Verdict, r.Reasons)
		}
		for _, reason := range r.Reasons {
			if reason.Start < 0 || reason.End < reason.Start || reason.End > len(text) {
				t.Errorf("%v is not in a text of %d bytes", reason, len(text))
			}
		}
	})
}
