package pins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A pins file is read the same with and without its definitions, and is the same after writing and reading it.
func FuzzParse(f *testing.F) {
	hash := strings.Repeat("0a", 32)
	st := state{}
	st.put("a", "搜索", &record{
		hash: hash, digest: hash, firstSeen: time.UnixMilli(1), approved: time.UnixMilli(2),
		definition: json.RawMessage(`{"name":"搜索"}`),
		pending: &sighting{
			hash: hash, digest: hash, at: time.UnixMilli(3), changed: []string{"title"}, definition: json.RawMessage(`{"title":"\u0000"}`),
		},
	})
	f.Add(st.encode())
	f.Add([]byte(`{"version":1,"servers":{}}`))
	f.Add([]byte(`{"version":1,"servers":{"a":{"b":{"hash":"` + hash + `","hash":1}}}}`))
	f.Add([]byte(`{"version":1,"servers":{"\ud800":{"":{"hash":"` + hash + `","definition":{"a":[ 1 ]}}}}}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		full, err := parse(raw, true)
		lean, err2 := parse(raw, false)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("with definitions %v, without %v", err, err2)
		}
		if err != nil {
			return
		}
		if !equal(full, lean) {
			t.Fatal("the two ways of reading differ")
		}
		once := full.encode()
		again, err := parse(once, true)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		if twice := again.encode(); !bytes.Equal(once, twice) {
			t.Fatalf("%s\n%s", once, twice)
		}
	})
}

// definition returns a tool's definition of a usual size.
func definition(i int) json.RawMessage {
	var p strings.Builder
	for n := range 10 {
		fmt.Fprintf(&p, `,"param%d":{"type":"string","description":"The parameter number %d, with words about what it is for"}`, n, n)
	}
	return json.RawMessage(fmt.Sprintf(`{"name":"tool%d","description":%q,"inputSchema":{"type":"object","properties":{%s}}}`,
		i, strings.Repeat("Some words of text. ", 20), p.String()[1:]))
}

// writeFullFile returns the path of a file with the pins of 50 servers, each with the tools of definitions.
func writeFullFile(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "pins.json")
	s := Open(path, testHash, Options{})
	for server := range 50 {
		s.Check(fmt.Sprint("server", server), definitions(), true)
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// testHash replaces the tool cache's hash. It tells definitions apart by their length.
func testHash(def json.RawMessage) string {
	return fmt.Sprintf("%064x", len(def))
}

// definitions returns the definitions of 20 tools.
func definitions() []json.RawMessage {
	var out []json.RawMessage
	for i := range 20 {
		out = append(out, definition(i))
	}
	return out
}

// Pinned definitions are read from the file only when they are needed.
func TestDefinitionsAreNotKeptInMemory(t *testing.T) {
	t.Parallel()
	path := writeFullFile(t)
	s := Open(path, testHash, Options{})
	defer s.Close()
	s.Check("server1", definitions(), true)
	for server, tools := range s.book.pins {
		for name, r := range tools {
			if r.definition != nil || !r.stored {
				t.Fatalf("%s %s: definition in memory: %t, stored: %t", server, name, r.definition != nil, r.stored)
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := writeFullFile(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size()), "bytes")
	b.ReportAllocs()
	for b.Loop() {
		if s := Open(path, testHash, Options{}); len(s.book.pins) != 50 {
			b.Fatal("not loaded")
		}
	}
}

func BenchmarkCheckStored(b *testing.B) {
	s := Open(writeFullFile(b), func(json.RawMessage) string { b.Fatal("hashed"); return "" }, Options{})
	defs := definitions()
	for b.Loop() {
		for server := range 50 {
			if len(s.Check(fmt.Sprint("server", server), defs, false)) > 0 {
				b.Fatal("changed")
			}
		}
	}
}
