package process

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A text is split into lines without their line breaks, and lines that are too long are cut.
func TestEachLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", maxLine+10)
	for in, want := range map[string][]string{
		"":                          nil,
		"a\r\n\nb":                  {"a", "", "b"},
		long + "\nnext\n":           {long[:maxLine], "next"},
		long + long:                 {long[:maxLine]},
		long[:maxLine] + "\nnext\n": {long[:maxLine], "next"},
	} {
		var got []string
		eachLine(strings.NewReader(in), func(b []byte) { got = append(got, string(b)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.20q: (-want +got)\n%s", in, diff)
		}
	}
}

// Any text gives as many lines as it has, none longer than maxLine.
func FuzzEachLine(f *testing.F) {
	f.Add("a\nb")
	f.Add("\n\r\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		n := 0
		eachLine(strings.NewReader(in), func(b []byte) {
			n++
			if len(b) > maxLine || strings.ContainsRune(string(b), '\n') {
				t.Errorf("line %q", b)
			}
		})
		want := strings.Count(in, "\n")
		if in != "" && !strings.HasSuffix(in, "\n") {
			want++
		}
		if n != want {
			t.Errorf("%d lines, want %d", n, want)
		}
	})
}

// A line that is accepted names a group that may be ended, and is read the same when it is written again.
func FuzzReaperLine(f *testing.F) {
	for _, s := range []string{"+12 34", "-12", "+1 0", "+-3 0", "-", "+12", "+99999999999 1", "+12 -1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		pgid, start, add, ok := parseReaperLine(line)
		if !ok {
			return
		}
		if pgid <= 1 || start < 0 {
			t.Fatalf("%q means group %d from %d", line, pgid, start)
		}
		if !add {
			return
		}
		again, startAgain, _, ok := parseReaperLine(strings.TrimSuffix(reaperLine(pgid, start), "\n"))
		if !ok || again != pgid || startAgain != start {
			t.Errorf("%q does not survive being written: %d %d %v", line, again, startAgain, ok)
		}
	})
}

// A ledger that can be read can be read again after it is written.
func FuzzLedger(f *testing.F) {
	f.Add([]byte(`{"version":1,"children":[{"server":"a","pid":3,"pgid":3,"startTime":9,"gateway":{"pid":2,"startTime":1}}]}`))
	f.Add([]byte(`{"children":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		children, err := parseLedger(data)
		if err != nil || !utf8.Valid(data) {
			return
		}
		encoded, err := encodeLedger(children)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseLedger(encoded)
		if err != nil || len(again) != len(children) {
			t.Errorf("%q → %q: %v", data, encoded, err)
		}
	})
}

// The quoting rules of cmd.exe; see batchLine.
func TestBatchLine(t *testing.T) {
	t.Parallel()
	got := batchLine(`C:\a b\npx.cmd`, []string{"-y", `say "hi" & del`, "%PATH%", `dir\`, `two\\`, `a\b\"c`, ""})
	want := `cmd.exe /e:ON /v:OFF /d /s /c ""C:\a b\npx.cmd" "-y" "say ""hi"" & del" "%%cd:~,%PATH%%cd:~,%" "dir\\" "two\\\\" "a\b\\""c" """`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
