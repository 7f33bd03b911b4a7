package toolcache_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// entryOfSize returns an entry of a realistic size: some 1.7 KB for a tool with 10 parameters.
func entryOfSize(n, tools, parameters int) *toolcache.Entry {
	e := newEntry(n)
	for i := range tools {
		var b strings.Builder
		fmt.Fprintf(&b, `{"name":"tool_%d_%d","title":"Find things %[2]d","description":%q,"inputSchema":{"type":"object","properties":{`,
			n, i, fmt.Sprintf("Looks for thing %d of server %d. ", i, n)+strings.Repeat("It returns what it found, in the order of time. ", 6))
		for p := range parameters {
			if p > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"parameter_%d":{"type":"string","description":"What number %[1]d of tool %d means to server %d","minLength":1,"maxLength":%d}`, p, i, n, 100+p)
		}
		b.WriteString(`},"required":["parameter_0"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"title":"Find"}}`)
		e.Tools = append(e.Tools, json.RawMessage(b.String()))
	}
	return e
}

// BenchmarkLoad opens a cache file and looks every server up, as a start does. Run it with
// -cpu 1; the budgets are 15 ms for 50x20 and 80 ms for 50x40 (3.5 MB).
func BenchmarkLoad(b *testing.B) {
	for _, tc := range []struct {
		name                       string
		servers, tools, parameters int
		compression                string
		touched                    bool
	}{
		{"50x20", 50, 20, 5, "auto", false},
		{"50x20 in the clear", 50, 20, 5, "none", false},
		{"50x40", 50, 40, 11, "auto", false},
		{"50x40 in the clear", 50, 40, 11, "none", false},
		{"50x40 without seals", 50, 40, 11, "none", true}, // every hash is computed
	} {
		b.Run(tc.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "collie.cache.json")
			c := toolcache.Open(b.Context(), toolcache.Options{Path: path, Compression: tc.compression})
			var wants []toolcache.Want
			for s := range tc.servers {
				name := fmt.Sprintf("server-%d", s)
				c.Store(name, entryOfSize(s, tc.tools, tc.parameters))
				wants = append(wants, newWant(name, s))
			}
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			if tc.touched {
				data = []byte(strings.ReplaceAll(string(data), `"toolsSeal":"`, `"toolsSeat":"`))
				if err := os.WriteFile(path, data, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			plain, err := toolcache.Plain(data)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				c := toolcache.Open(b.Context(), toolcache.Options{Path: path, Collect: time.Hour})
				c.Configured(wants)
				for _, w := range wants {
					if _, v, why := c.Lookup(w); v != toolcache.Hit {
						b.Fatal(v, why)
					}
				}
				b.StopTimer()
				_ = c.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkCommit writes one server's list into a file of 50.
func BenchmarkCommit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "collie.cache.json")
	c := toolcache.Open(b.Context(), toolcache.Options{Path: path, Collect: time.Hour})
	defer func() { _ = c.Close() }()
	for s := range 50 {
		c.Store(fmt.Sprintf("server-%d", s), entryOfSize(s, 40, 11))
	}
	for n := 0; b.Loop(); n++ {
		c.Store("server-1", entryOfSize(100+n, 40, 11))
		if err := c.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
