package promptguard_test

import (
	"os"
	"strings"
	"testing"

	"collie/internal/pipeline/promptguard"
)

// page returns a harmless text of 16 KiB, half English and half Chinese.
func page(t testing.TB) string {
	var b strings.Builder
	for b.Len() < 16<<10 {
		for _, x := range texts(t, "benign.txtar") {
			if promptguard.Scan(x.is).Verdict == promptguard.Clean && !strings.Contains(x.name, "article") && !strings.ContainsAny(x.is, "\u200b\u200d\ufeff\u00ad\u202b") {
				b.WriteString(x.is + "\n\n")
			}
		}
	}
	return strings.ToValidUTF8(b.String()[:16<<10], "")
}

// bytesOf looks once at every byte of text, as a baseline for measurements.
func bytesOf(text string) (n int) {
	for i := range len(text) {
		if text[i] == '<' {
			n++
		}
	}
	return n
}

// code returns 16 KiB of Go source.
func code(t testing.TB) string {
	var b strings.Builder
	for _, file := range []string{"sentence.go", "unfold.go", "marks.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return strings.ToValidUTF8(b.String()[:16<<10], "")
}

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string]string{"page": page(b), "code": code(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				promptguard.Scan(text)
			}
		})
	}
}

// BenchmarkBytes measures bytesOf, for comparison with BenchmarkScan.
func BenchmarkBytes(b *testing.B) {
	text := page(b)
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		n += bytesOf(text)
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

func FuzzScan(f *testing.F) {
	for _, file := range []string{"attacks.txtar", "benign.txtar"} {
		for _, x := range texts(f, file) {
			f.Add(x.is)
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
