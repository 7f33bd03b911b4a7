package codec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collie/internal/llm"
	"collie/internal/llm/codec"
	"collie/internal/llm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// pieces is a reader that returns data in pieces of the given sizes.
type pieces struct {
	data []byte
	size func() int
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(to, p.data[:min(len(p.data), max(p.size(), 1))])
	p.data = p.data[n:]
	return n, nil
}

// replay answers every request with the same stream.
type replay struct{ body io.Reader }

// RoundTrip implements [http.RoundTripper].
func (s replay) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(s.body), Request: r}, nil
}

// newID matches the random id of a call to which the provider gave none.
var newID = regexp.MustCompile(`call_[A-Z2-7]{26}`)

// decodeText returns the events of a stream, one per line as JSON.
func decodeText(ctx context.Context, c *wire.Codec, r io.Reader) string {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	draft := &wire.Draft{Model: "m", MaxOutput: 1, Names: map[string]string{"files__read": "files.read"}}
	for e, err := range wire.NewClient(wire.Options{Transport: replay{r}}).Stream(ctx, c, wire.Endpoint{}, draft) {
		if err != nil {
			e, ok := errors.AsType[*llm.Error](err)
			if !ok {
				return err.Error()
			}
			_ = lines.Encode(map[string]any{"error": e.Class, "code": e.Code, "message": e.Message, "retryAfter": e.RetryAfter.String()})
			continue
		}
		_ = lines.Encode(eventFields(e))
	}
	return newID.ReplaceAllString(out.String(), "NEW")
}

// eventFields returns the members of an event that are set.
func eventFields(e llm.Event) map[string]any {
	m := map[string]any{"kind": e.Kind}
	for name, text := range map[string]string{"id": e.ID, "name": e.Name, "model": e.Model, "text": e.Text, "args": e.Args, "finish": string(e.Finish), "opaque": string(e.Opaque)} {
		if text != "" {
			m[name] = text
		}
	}
	switch e.Kind {
	case llm.EventUsage:
		m["usage"] = e.Usage
	case llm.EventText, llm.EventReasoning, llm.EventToolStart, llm.EventToolArgs, llm.EventToolEnd:
		m["index"] = e.Index
	}
	return m
}

// readStreams returns the recorded streams by path.
func readStreams(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.stream"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d streams, %v", len(files), err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		if all[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// codecOf returns the codec for a recorded stream. The name of its folder is the kind of the API.
func codecOf(t testing.TB, file string) *wire.Codec {
	t.Helper()
	c := codec.For(filepath.Base(filepath.Dir(file)))
	if c == nil {
		t.Fatalf("%s: there is no such kind", file)
	}
	return c
}

// TestStreams compares the events of each recorded stream with its golden file. They must not depend on how the bytes are
// split.
func TestStreams(t *testing.T) {
	t.Parallel()
	for file, data := range readStreams(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			c := codecOf(t, file)
			got := decodeText(t.Context(), c, bytes.NewReader(data))
			golden := strings.TrimSuffix(file, ".stream") + ".events"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("decoded to\n%swant\n%s", got, want)
			}
			if one := decodeText(t.Context(), c, &pieces{bytes.Clone(data), func() int { return 1 }}); one != got {
				t.Errorf("byte by byte decoded to\n%s", one)
			}
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(seed, 1))
				if other := decodeText(t.Context(), c, &pieces{bytes.Clone(data), func() int { return random.IntN(40) }}); other != got {
					t.Fatalf("in the pieces of seed %d decoded to\n%s", seed, other)
				}
			}
		})
	}
}

// FuzzStreams checks that any bytes end in a finish or an error, and that the events do not depend on how they are split.
func FuzzStreams(f *testing.F) {
	for file, data := range readStreams(f) {
		for i, kind := range codec.Kinds() {
			if kind == codecOf(f, file).Kind {
				f.Add(i, data, uint64(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind int, data []byte, seed uint64) {
		kinds := codec.Kinds()
		c := codec.For(kinds[(kind%len(kinds)+len(kinds))%len(kinds)])
		random := rand.New(rand.NewPCG(seed, 1))
		whole, split := decodeText(t.Context(), c, bytes.NewReader(data)), decodeText(t.Context(), c, &pieces{bytes.Clone(data), func() int { return random.IntN(20) }})
		if whole != split {
			t.Errorf("whole\n%sin pieces\n%s", whole, split)
		}
		if n := strings.Count(whole, `"kind":"finish"`) + strings.Count(whole, `"error":`); n == 0 {
			t.Errorf("no end in\n%s", whole)
		}
	})
}
