package toolcache_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"collie/internal/source/upstream/toolcache"
)

var update = flag.Bool("update", false, "write the golden files anew")

// wantGolden compares got with a file in testdata.
func wantGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// compileSchema returns the JSON Schema of the file format.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(toolcache.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaError returns why data does not conform to the schema.
func schemaError(s *jsonschema.Schema, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// fullEntry is an entry with every field.
func fullEntry() *toolcache.Entry {
	e := newEntry(1, "search", "book")
	e.Prompts = []json.RawMessage{json.RawMessage(`{"name":"greet"}`)}
	e.Resources = []json.RawMessage{json.RawMessage(`{"uri":"file:///a","name":"a"}`)}
	e.ResourceTemplates = []json.RawMessage{json.RawMessage(`{"uriTemplate":"file:///{x}","name":"x"}`)}
	e.Fingerprint, e.Principal = "3f2a9c01:120:1763715600000", nthHash(9)
	e.ServerInfo = json.RawMessage(`{"name":"trains","version":"2"}`)
	e.Instructions, e.TTL, e.CacheScope = "先查询，再预订。", time.Minute, "private"
	e.Truncated, e.Dropped = true, []toolcache.Dropped{{Name: "坏", Reason: "no inputSchema"}}
	return e
}

// The file is the golden one byte for byte, conforms to the schema, and is read back with every field.
func TestFormat(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	c := b.open(t, noBackgroundWrites)
	c.Store("trains", fullEntry())
	c.Store("gone", newEntry(2, "z"))
	mustFlush(t, c)
	b.advance(1500 * time.Millisecond)
	c.Failed("trains", "handshake_timeout")
	c.Configured([]toolcache.Want{newWant("trains", 1)})
	mustClose(t, c)
	wantGolden(t, "v1.1.0.json", []byte(b.read(t)))
	if err := schemaError(compileSchema(t), []byte(b.read(t))); err != nil {
		t.Error(err)
	}
	r := b.verify(t)
	if len(r.Findings) != 0 || r.TotalWrites != 4 || r.Generation != 2 {
		t.Errorf("report %+v", r)
	}
	c = b.open(t)
	got, ok := c.Entries()["trains"]
	if !ok {
		t.Fatal("nothing read back")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(got, &fields); err != nil {
		t.Fatal(err)
	}
	w := newWant("trains", 1)
	w.Principal, w.Fingerprint, w.MaxAge = nthHash(9), "3f2a9c01:120:1763715600000", day
	e := wantVerdict(t, c, w, toolcache.Hit, "")
	wanted := fullEntry()
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		switch p.Last().String() {
		case ".State", ".LastUpdated", ".ValidatedAt", ".ToolsHash", ".Rev", ".LastErrorCode", ".LastErrorAt":
			return true
		}
		return false
	}, cmp.Ignore())
	if diff := cmp.Diff(wanted, e, ignore); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// The file is the same, whoever writes it and in whatever order.
func TestFormatIsDeterministic(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}} {
		b := newCacheFile(t)
		c := b.open(t, noBackgroundWrites)
		mustFlush(t, c)
		for _, name := range order {
			c.Store(name, newEntry(int(name[0]), "x"))
		}
		mustClose(t, c)
		texts = append(texts, b.read(t))
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Error(diff)
	}
}

// A file of format 1.0.0 becomes the golden file of the current format, without the secrets in it.
func TestMigration(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(filepath.Join("testdata", "v1.0.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	zone := time.FixedZone("CST", 8*3600)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	m, err := toolcache.MigrateFrom(old, zone)
	if err != nil || !m.Changed() || m.From != "1.0.0" || m.To != toolcache.Version {
		t.Fatalf("migration %s to %s, %v", m.From, m.To, err)
	}
	wantGolden(t, "v1.0.0-as-1.1.0.json", m.After)
	if strings.Contains(string(m.After), "in-the-clear") {
		t.Error("a secret of the other program was taken over")
	}
	if err := schemaError(compileSchema(t), m.After); err != nil {
		t.Error(err)
	}
	again, err := toolcache.Migrate(m.After)
	if err != nil || again.Changed() || !bytes.Equal(again.After, m.After) {
		t.Errorf("a second migration changes something: %v", err)
	}
	if r := toolcache.VerifyAt(old, now, zone); !r.OK() || len(r.Servers) != 2 || r.TotalWrites != 2 || r.Version != "1.0.0" {
		t.Errorf("verify: %+v", r)
	}
}

// Lists from another program's file are used only if the options trust them, and never replace a list of our own.
func TestOtherProgramsFile(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(filepath.Join("testdata", "v1.0.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWant("12306-mcp", 1)
	t.Run("in our place", func(t *testing.T) {
		t.Parallel()
		b := newCacheFile(t)
		b.write(t, string(old))
		c := b.open(t)
		c.Configured([]toolcache.Want{w, newWant("weather", 2)})
		wantVerdict(t, c, w, toolcache.Miss, "imported")
		mustClose(t, c)
		if b.read(t) != string(old) {
			t.Error("the file was migrated though nothing had to be written")
		}
		c = b.open(t, func(o *toolcache.Options) { o.TrustImported = true })
		c.Configured([]toolcache.Want{w, newWant("weather", 2)})
		wantVerdict(t, c, w, toolcache.Stale, "imported")
		if !c.Store("weather", newEntry(2, "now")) {
			t.Error("the first list of our own is not a change")
		}
		mustClose(t, c)
		b.verify(t)
		kept, err := os.ReadFile(b.path + ".v1.0.0.bak")
		if err != nil || !bytes.Equal(kept, old) {
			t.Errorf("the old file was not kept: %v", err)
		}
		if text := b.read(t); strings.Contains(text, "in-the-clear") || !strings.Contains(text, `"version": "1.1.0"`) {
			t.Errorf("written back:\n%s", text)
		}
		c = b.open(t, func(o *toolcache.Options) { o.TrustImported = true })
		wantVerdict(t, c, w, toolcache.Stale, "imported")
	})
	t.Run("import", func(t *testing.T) {
		t.Parallel()
		b := newStoredFile(t)
		c := b.open(t, func(o *toolcache.Options) { o.TrustImported = true })
		c.Store("weather", newEntry(2, "own"))
		got, err := toolcache.ImportFrom(c, old, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		want := []toolcache.Imported{{Name: "12306-mcp", Tools: 2}, {Name: "weather", Tools: 1, Skipped: "there is a list of its own"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("imported (-want +got):\n%s", diff)
		}
		wantVerdict(t, c, w, toolcache.Stale, "imported")
		mustClose(t, c)
		b.verify(t)
		for _, bad := range []string{"", "{", `{"version":"3.0.0","mcpServers":{},"metadata":{}}`, `[1]`} {
			if _, err := c.Import([]byte(bad)); err == nil {
				t.Errorf("%q was imported", bad)
			}
		}
	})
}

// Each kind of damage is reported with its place in the file and its rule.
func TestVerifyFindings(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	good := b.read(t)
	for name, tc := range map[string]struct {
		old, new, pointer, rule string
		warning                 bool
	}{
		"syntax":        {`"metadata": {`, `"metadata": }`, "", "json", false},
		"version":       {`"version": "1.1.0",` + "\n  \"m", `"version": "one",` + "\n  \"m", "/version", "type", false},
		"newer":         {`"version": "1.1.0",` + "\n  \"m", `"version": "2.0.0",` + "\n  \"m", "/version", "version", false},
		"created":       {`"createdAt": "2026-11-21T09:00:00.000Z"`, `"createdAt": "yesterday"`, "/metadata/createdAt", "type", false},
		"created later": {`"createdAt": "2026-11-21T09:00:00.000Z"`, `"createdAt": "2026-11-21T09:00:01.000Z"`, "/metadata/lastGlobalUpdate", "order", true},
		"future":        {`"createdAt": "2026-11-21T09:00:00.000Z",` + "\n    \"lastGlobalUpdate\": \"2026-11-21T09:00:00.000Z\"", `"createdAt": "2026-11-21T09:00:00.000Z",` + "\n    \"lastGlobalUpdate\": \"2027-11-21T09:00:00.000Z\"", "/metadata/lastGlobalUpdate", "time", true},
		"large count":   {`"totalWrites": 2`, `"totalWrites": 1000000000001`, "/metadata/totalWrites", "type", false},
		"name":          {`"b": {`, `"b c": {`, "/mcpServers/b c", "name", false},
		"tools":         {`"name":"z"`, `"name":"q"`, "/mcpServers/b/toolsHash", "tampered", false},
		"missing":       {`"configHash": "` + nthHash(2) + `",`, "", "/mcpServers/b", "required", false},
		"era":           {`"era": "legacy"`, `"era": "Le gacy"`, "/mcpServers/a/era", "type", false},
		"definition":    {`"name":"z"`, `"name":7`, "/mcpServers/b/tools/0", "definition", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(good, tc.old) {
				t.Fatalf("%q is not in\n%s", tc.old, good)
			}
			r := toolcache.VerifyAt([]byte(strings.Replace(good, tc.old, tc.new, 1)), b.clock(), time.UTC)
			if len(r.Findings) == 0 {
				t.Fatal("nothing found")
			}
			got := r.Findings[0]
			if got.Pointer != tc.pointer || got.Rule != tc.rule || (got.Severity == toolcache.SeverityWarning) != tc.warning || got.Message == "" {
				t.Errorf("found %+v", r.Findings)
			}
			if tc.rule == "json" && (got.Line != 3 || got.Column != 15) {
				t.Errorf("at %d:%d, want 3:15", got.Line, got.Column)
			}
			if r.OK() != tc.warning {
				t.Errorf("OK is %v", r.OK())
			}
		})
	}
}

// A tool's hash depends on six of its fields and not on their layout. The expected value is fixed, since files
// contain it.
func TestToolHash(t *testing.T) {
	t.Parallel()
	base := `{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}`
	want := toolcache.ToolHash(json.RawMessage(base))
	// SHA-256 of {"description":"d","inputSchema":{"properties":{"x":{},"y":{}},"type":"object"},"name":"a"}
	if vector := "c3307fb63585ab20daa507677510bdb6cb33e77cfc1e5657108e9d8ea12aa823"; want != vector {
		t.Errorf("hash %s, want %s", want, vector)
	}
	for _, same := range []string{
		`{ "inputSchema": {"properties":{"y":{}, "x":{}},"type":"object"}, "name":"\u0061", "description":"d" }`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{},"y":{}}},"_meta":{"n":1},"icons":[],"x":1}`,
	} {
		if toolcache.ToolHash(json.RawMessage(same)) != want {
			t.Errorf("%s has another hash", same)
		}
	}
	for _, other := range []string{
		`{"name":"b","description":"d","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}`,
		`{"name":"a","description":"D","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}`,
		`{"name":"a","title":"t","description":"d","inputSchema":{"type":"object","properties":{"x":{},"y":{}}}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{}}}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{},"y":{}}},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{},"y":{}}},"outputSchema":{}}`,
	} {
		if toolcache.ToolHash(json.RawMessage(other)) == want {
			t.Errorf("%s has the same hash", other)
		}
	}
	for _, bad := range []string{"", "7", "{", "null"} {
		if got := toolcache.ToolHash(json.RawMessage(bad)); got != "" {
			t.Errorf("%q has the hash %s", bad, got)
		}
	}
}
