package mcp_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

// readMessagesAndErrors returns what a stream yields: the raw bytes of a message, or the kind of a bad frame.
func readMessagesAndErrors(t *testing.T, s mcp.Stream) (list []string) {
	t.Helper()
	for range 1000 {
		m, err := s.Read()
		var frame *mcp.FrameError
		var invalid *mcp.InvalidError
		switch {
		case err == nil:
			list = append(list, string(m.Raw))
		case errors.Is(err, io.EOF):
			return list
		case !errors.As(err, &frame):
			t.Fatalf("the stream ended with %v", err)
		case frame.TooLong:
			list = append(list, "too long")
		case errors.As(err, &invalid):
			list = append(list, "invalid")
		default:
			list = append(list, "broken")
		}
	}
	t.Fatal("the stream does not end")
	return nil
}

func TestLinesRead(t *testing.T) {
	t.Parallel()
	const a, b = `{"jsonrpc":"2.0","method":"a"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{name: "one", in: a + "\n", want: []string{a}},
		{name: "last_without_end", in: a + "\n" + b, want: []string{a, b}},
		{name: "crlf", in: a + "\r\n" + b + "\r\n", want: []string{a, b}},
		{name: "bom", in: "\ufeff" + a + "\n" + b + "\n", want: []string{a, b}},
		{name: "bom_each_line", in: "\ufeff" + a + "\n\ufeff" + b + "\r\n", want: []string{a, b}},
		{name: "bom_before_blank", in: "\ufeff\n" + a + "\n", want: []string{a}},
		{name: "blank", in: "\n\r\n \t\n" + a + "\n\n", want: []string{a}},
		{name: "padded", in: "  " + a + "\t\n", want: []string{a}},
		{name: "nothing"},
		{name: "noise", in: "hello\n" + a + "\n", want: []string{"broken", a}},
		{name: "json_noise", in: "42\n{\"a\":1}\n" + a + "\n", want: []string{"invalid", "invalid", a}},
		{name: "batch", in: "[" + a + " , " + b + "]\n" + a + "\n", want: []string{a, b, a}},
		{name: "batch_with_noise", in: "[" + a + ",1," + b + "]\n" + a + "\n", want: []string{"invalid", a, b, a}},
		{name: "batch_of_nothing", in: "[]\n[1]\n" + a + "\n", want: []string{"invalid", "invalid", a}},
		{name: "batch_broken", in: "[" + a + "\n" + a + "\n", want: []string{"broken", a}},
		{
			name: "invalid_utf8", in: "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"t\":\"x\xff\xfe y\xe6\x96\"}}\n" + a + "\n",
			want: []string{"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"t\":\"x\ufffd y\ufffd\"}}", a},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(tc.in), "bytewise": iotest.OneByteReader(strings.NewReader(tc.in)),
			} {
				if d := cmp.Diff(tc.want, readMessagesAndErrors(t, mcp.NewLines(r, io.Discard, 0, nil))); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
		})
	}
}

// The limit is exact to the byte, whether below or above the size of the read buffer. A line over it does not
// affect others.
func TestLinesLimit(t *testing.T) {
	t.Parallel()
	const a = `{"jsonrpc":"2.0","method":"a"}`
	frame := func(n int) string {
		const head, tail = `{"jsonrpc":"2.0","id":7,"result":{"t":"`, `"}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	for _, limit := range []int{100, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000} {
		for _, end := range []string{"\n", "\r\n"} {
			in := frame(limit) + end + frame(limit+1) + end + a + end + frame(3*limit) + end + frame(limit+1)
			want := []string{frame(limit), "too long", a, "too long", "too long"}
			if d := cmp.Diff(want, readMessagesAndErrors(t, mcp.NewLines(strings.NewReader(in), io.Discard, limit, nil))); d != "" {
				t.Errorf("limit %d, end %q (-want +got):\n%s", limit, end, d)
			}
		}
	}
}

func TestLinesWriteMakesOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := mcp.NewLines(strings.NewReader(""), &out, 0, nil)
	if err := l.Write([]byte("{\r\n \"a\": \"b\\n\"\n}")); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "{   \"a\": \"b\\n\" }\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// FuzzLines: on any input, reading neither panics nor hangs nor loses the following line.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"", "\n", "\r\n", "\ufeff", "{", "[", "[]", "[1,", "null", `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"\x00\xff", `[{"jsonrpc":"2.0","method":"x"},5]`, strings.Repeat("[", 2000), strings.Repeat("x", 300),
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("y", 300) + `"}`, "a\nb\r\nc", "\"\\", `{"id":`,
	} {
		f.Add([]byte(s))
	}
	const last = `{"jsonrpc":"2.0","id":"the last","method":"end"}`
	f.Fuzz(func(t *testing.T, in []byte) {
		text := string(in) + "\n" + last
		l := mcp.NewLines(strings.NewReader(text), io.Discard, 256, nil)
		found := false
		for range len(text) + 2 {
			m, err := l.Read()
			if errors.Is(err, io.EOF) {
				if !found {
					t.Fatalf("the line after %q was lost", in)
				}
				return
			}
			if _, ok := errors.AsType[*mcp.FrameError](err); err != nil && !ok {
				t.Fatalf("%q ended the stream: %v", in, err)
			}
			if err == nil && !utf8.Valid(m.Raw) {
				t.Fatalf("message with invalid UTF-8: %q", m.Raw)
			}
			found = found || string(m.Raw) == last
		}
		t.Fatalf("%q does not end", in)
	})
}
