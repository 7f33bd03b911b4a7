package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmaxmax/go-sse"
)

type nameAndData struct{ Name, Data string }

// readEvents reads all events, to the end or the first error.
func readEvents(r *sseReader) ([]nameAndData, error) {
	var out []nameAndData
	for {
		ev, err := r.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, nameAndData{ev.name, string(ev.data)})
	}
}

func TestSSEReader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []nameAndData
		lastID   string
		retry    time.Duration
	}{
		{name: "plain", in: "data: {}\n\n", want: []nameAndData{{"", "{}"}}, retry: -1},
		{name: "named", in: "event: endpoint\ndata: /x\n\n", want: []nameAndData{{"endpoint", "/x"}}, retry: -1},
		{name: "crlf", in: "data: a\r\ndata: b\r\n\r\n", want: []nameAndData{{"", "a\nb"}}, retry: -1},
		{name: "cr", in: "data: a\rdata: b\r\rdata: c\r\r", want: []nameAndData{{"", "a\nb"}, {"", "c"}}, retry: -1},
		{name: "comments", in: ": hello\n\n:\ndata: a\n: between\n\n", want: []nameAndData{{"", "a"}}, retry: -1},
		{name: "byte order mark", in: "\uFEFFdata: a\n\n", want: []nameAndData{{"", "a"}}, retry: -1},
		{name: "one space only", in: "data:  a\ndata:b\n\n", want: []nameAndData{{"", " a\nb"}}, retry: -1},
		{name: "no colon", in: "data\ndata\n\n", want: []nameAndData{{"", "\n"}}, retry: -1},
		{name: "priming event", in: "id: 7\nretry: 20\ndata:\n\n", lastID: "7", retry: 20 * time.Millisecond},
		{name: "id of an unfinished event", in: "id: 1\ndata: a\n\nid: 2\ndata: b", want: []nameAndData{{"", "a"}}, lastID: "1", retry: -1},
		{name: "no blank line at the end", in: "data: a\n", want: []nameAndData{{"", "a"}}, retry: -1},
		{name: "bad retry", in: "retry: 1s\nretry: -1\ndata: a\n\n", want: []nameAndData{{"", "a"}}, retry: -1},
		{name: "id with NUL", in: "id: a\ndata: a\n\nid: \x00\ndata: b\n\n", want: []nameAndData{{"", "a"}, {"", "b"}}, lastID: "a", retry: -1},
		{name: "name does not stay", in: "event: x\n\ndata: a\n\n", want: []nameAndData{{"", "a"}}, retry: -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
				r := newSSEReader(wrap(strings.NewReader(tt.in)), 1<<20, "")
				got, err := readEvents(r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if r.lastID != tt.lastID || r.retry != tt.retry {
					t.Errorf("id %q, retry %v; want %q, %v", r.lastID, r.retry, tt.lastID, tt.retry)
				}
			}
		})
	}
}

func TestSSEReaderLongEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 50_000)
	in := "data: " + long + "\n\ndata: short\n\ndata: " + long + "\ndata: " + long + "\n\ndata: last\n\n"
	want := []nameAndData{{"", long}, {"", "short"}, {"", long + "\n" + long}, {"", "last"}}
	for _, wrap := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.DataErrReader} {
		got, err := readEvents(newSSEReader(wrap(strings.NewReader(in)), 2<<20, ""))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events differ (-want +got):\n%.300s", diff)
		}
	}
}

// An event over the limit is reported with its beginning; later events are read.
func TestSSEReaderLimit(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1000, 5000, 100_000} {
		for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r", "\ndata: more\n\n"} {
			in := "data: {\"id\":5," + strings.Repeat("x", size) + end + "data: next\n\n"
			for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
				r := newSSEReader(wrap(strings.NewReader(in)), 900, "")
				_, err := r.next()
				frame, ok := errors.AsType[*FrameError](err)
				if !ok || !frame.TooLong || !bytes.HasPrefix(frame.Head, []byte(`{"id":5,`)) {
					t.Fatalf("size %d, end %q: got %v", size, end, err)
				}
				if ev, err := r.next(); err != nil || string(ev.data) != "next" {
					t.Errorf("size %d, end %q: after it %q, %v", size, end, ev.data, err)
				}
				if len(r.buf) > 16<<10 {
					t.Errorf("buffer has grown to %d bytes", len(r.buf))
				}
			}
		}
	}
}

func TestSSEReaderEndlessComments(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader(strings.Repeat(": life\nid: 3\n", 100_000)), strings.NewReader("data: a\n\n"))
	r := newSSEReader(in, 1000, "")
	if ev, err := r.next(); err != nil || string(ev.data) != "a" {
		t.Fatalf("got %q, %v", ev.data, err)
	}
	if len(r.buf) > sseSpare {
		t.Errorf("buffer has grown to %d bytes", len(r.buf))
	}
}

func FuzzSSEReader(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "id: 1\r\ndata: a\rdata: b\n\n\r\n\r", "event: x\ndata\n\n: c\nretry: 5\n\n",
		"\uFEFFdata: a\n\ndata: b\n", "data: a\r\r\ndata: b\r\n\n", "id\ndata:\ndata:\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readEvents(newSSEReader(bytes.NewReader(in), 1<<20, ""))
		if err != nil {
			t.Fatal(err)
		}
		slow, err := readEvents(newSSEReader(iotest.OneByteReader(bytes.NewReader(in)), 1<<20, ""))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, slow); diff != "" {
			t.Fatalf("read byte by byte it differs:\n%s", diff)
		}
		var want []nameAndData
		for ev, err := range sse.Read(bytes.NewReader(in), &sse.ReadConfig{MaxEventSize: 1 << 20}) {
			if err != nil {
				break // an unfinished line at the end
			}
			if ev.Data != "" {
				want = append(want, nameAndData{ev.Type, ev.Data})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("go-sse reads it otherwise (-theirs +ours):\n%s", diff)
		}
	})
}

func BenchmarkSSEReader(b *testing.B) {
	for _, size := range []int{200, 1 << 20, 16 << 20} {
		in := []byte("event: message\ndata: " + strings.Repeat("x", size) + "\n\n")
		b.Run(fmt.Sprintf("ours/%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				r := newSSEReader(&chunkedReader{in}, 64<<20, "")
				if ev, err := r.next(); err != nil || len(ev.data) != size {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("go-sse/%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				for ev, err := range sse.Read(&chunkedReader{in}, &sse.ReadConfig{MaxEventSize: 64 << 20}) {
					if err != nil || len(ev.Data) != size {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// chunkedReader reads like a socket: 16 KiB at a time.
type chunkedReader struct{ rest []byte }

func (p *chunkedReader) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(len(p.rest), 16<<10)])
	p.rest = p.rest[n:]
	return n, nil
}
