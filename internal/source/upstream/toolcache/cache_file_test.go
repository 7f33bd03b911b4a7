package toolcache_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// newStoredFile returns a file that has the entries a, with the tools x and y, and b, with the tool z.
func newStoredFile(t *testing.T) *cacheFile {
	t.Helper()
	b := newCacheFile(t)
	c := b.open(t, noBackgroundWrites)
	c.Store("a", newEntry(1, "x", "y"))
	c.Store("b", newEntry(2, "z"))
	mustClose(t, c)
	return b
}

// modeOf returns the permissions of a file.
func (b *cacheFile) modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// verify checks the file as collie cache verify does.
func (b *cacheFile) verify(t *testing.T) toolcache.Report {
	t.Helper()
	r := toolcache.VerifyAt([]byte(b.read(t)), b.clock(), time.UTC)
	if !r.OK() {
		t.Errorf("the file is not valid: %+v\n%s", r.Findings, b.read(t))
	}
	return r
}

// skipOnWindows skips the test on Windows, where permissions of files mean little.
func skipOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("modes of files say nothing there")
	}
}

// The first start creates the folder and a file without entries, both private.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	b.path = filepath.Join(filepath.Dir(b.path), "new", "folder", "collie.cache.json")
	c := b.open(t)
	await.Until(t, "the file is made", func() bool { _, err := os.Stat(b.path); return err == nil })
	if r := b.verify(t); len(r.Servers) != 0 || r.TotalWrites != 0 || r.Version != toolcache.Version {
		t.Errorf("the first file is %+v", r)
	}
	if runtime.GOOS != "windows" {
		if got := b.modeOf(t, b.path); got != 0o600 {
			t.Errorf("mode of the file %v", got)
		}
		if got := b.modeOf(t, filepath.Dir(b.path)); got != 0o700 {
			t.Errorf("mode of the folder %v", got)
		}
	}
	c.Store("a", newEntry(1, "x"))
	mustFlush(t, c)
	if r := b.verify(t); len(r.Servers) != 1 || r.TotalWrites != 1 {
		t.Errorf("after a success the file is %+v", r)
	}
}

// A list that is stored again unchanged is not written, except for its confirmation after an hour.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	before, err := os.Stat(b.path)
	if err != nil {
		t.Fatal(err)
	}
	b.advance(10 * time.Minute)
	c := b.open(t)
	c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2)})
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	if c.Store("a", newEntry(1, "x", "y")) || c.Store("b", newEntry(2, "z")) {
		t.Error("the same list is told to be another one")
	}
	mustClose(t, c)
	after, err := os.Stat(b.path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file was written though nothing changed")
	}
	if c.Stats().Writes.OK != 0 {
		t.Errorf("%d writes", c.Stats().Writes.OK)
	}
	b.advance(time.Hour)
	c = b.open(t)
	c.Store("a", newEntry(1, "x", "y"))
	mustClose(t, c)
	if !strings.Contains(b.read(t), `"validatedAt": "2026-11-21T10:10:00.000Z"`) {
		t.Errorf("after an hour the confirmation is not on disk:\n%s", b.read(t))
	}
}

// An entry is not used for another configuration of its server, and is used again when the old one is back.
func TestConfigurationChanged(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t)
	c.Configured([]toolcache.Want{newWant("a", 7), newWant("b", 2)})
	wantVerdict(t, c, newWant("a", 7), toolcache.Miss, "config_changed")
	wantVerdict(t, c, newWant("b", 2), toolcache.Hit, "")
	mustFlush(t, c)
	if got := c.Stats().Servers[0]; got.State != toolcache.Invalid || got.StateReason != "config_changed" {
		t.Errorf("the old entry is %+v", got)
	}
	mustClose(t, c)
	c = b.open(t) // back to the old configuration after a restart
	c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2)})
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	c.Configured([]toolcache.Want{newWant("a", 7), newWant("b", 2)})
	if !c.Store("a", newEntry(7, "x", "y")) {
		t.Error("the first list of another configuration is not a change")
	}
	wantVerdict(t, c, newWant("a", 7), toolcache.Hit, "")
}

// The entry of a removed server is kept for 30 days and used again if the server comes back.
func TestRemovedAndBack(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t)
	c.Configured([]toolcache.Want{newWant("b", 2)})
	wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "removed")
	mustClose(t, c)
	b.advance(10 * day)
	c = b.open(t)
	c.Configured([]toolcache.Want{newWant("b", 2)})
	c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2)})
	wantVerdict(t, c, newWant("a", 1), toolcache.Stale, "too_old") // there again, without any contact
	c.Mark("a", toolcache.Empty, "empty_list")
	c.Configured([]toolcache.Want{newWant("b", 2)})
	c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2)})
	wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "empty") // as it was before
	c.Configured([]toolcache.Want{newWant("b", 2)})
	mustClose(t, c)
	b.advance(31 * day)
	c = b.open(t)
	c.Configured([]toolcache.Want{newWant("b", 2)})
	mustClose(t, c)
	if r := b.verify(t); len(r.Servers) != 1 {
		t.Errorf("after 30 days the file still has %+v", r.Servers)
	}
}

// An entry follows a server to its new name. A copy of a server is not a rename.
func TestRenamed(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t, noBackgroundWrites)
	got := c.Configured([]toolcache.Want{newWant("new-name", 1), newWant("b", 2)})
	if diff := cmp.Diff(map[string]string{"new-name": "a"}, got); diff != "" {
		t.Errorf("renamed (-want +got):\n%s", diff)
	}
	e := wantVerdict(t, c, newWant("new-name", 1), toolcache.Hit, "")
	if e == nil || len(e.Tools) != 2 {
		t.Fatalf("the moved entry is %+v", e)
	}
	mustClose(t, c)
	if r := b.verify(t); len(r.Servers) != 2 || r.Servers[1].Name != "new-name" || r.Generation != 2 {
		t.Errorf("not in the same commit: %+v", r)
	}
	c = b.open(t)
	if got := c.Configured([]toolcache.Want{newWant("new-name", 1), newWant("copy", 1), newWant("b", 2)}); len(got) != 0 {
		t.Errorf("a copy beside the original is a move: %v", got)
	}
}

// A file that cannot be read as a whole is kept aside and replaced at the next write, with one warning.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	good := newStoredFile(t).read(t)
	for name, data := range map[string]string{
		"no JSON": "invalid json\n", "cut in half": good[:len(good)/2], "zero bytes": "", "binary": "\x00\xff\x1f\x8b\x08\x00",
		"cut gzip": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "another thing": `{"mcpServers": []}`, "an array": "[]", "null": "null",
		"text behind it": good + "x", "negative counter": strings.Replace(good, `"totalWrites": 2`, `"totalWrites": -2`, 1),
		"no metadata": `{"version":"1.1.0","mcpServers":{}}`, "servers null": `{"version":"1.1.0","mcpServers":null,"metadata":{}}`,
		"twice": strings.Replace(good, `"b": {`, `"a": {`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCacheFile(t)
			b.write(t, data)
			c := b.open(t)
			wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "no_entry")
			if n := b.log.count("level=WARN"); n != 1 {
				t.Errorf("%d warnings, want one:\n%s", n, b.log)
			}
			c.Store("c", newEntry(3, "q"))
			mustFlush(t, c)
			if r := b.verify(t); len(r.Servers) != 1 {
				t.Errorf("file after the first commit: %+v", r)
			}
			aside, err := filepath.Glob(b.path + ".corrupt-*")
			if err != nil || len(aside) != 1 {
				t.Fatalf("kept aside: %v, %v", aside, err)
			}
			if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != data {
				t.Errorf("what is kept aside is not what was there: %q, %v", kept, err)
			}
		})
	}
}

// The warning about a syntax error gives its line and column, in characters.
func TestPositionInTheWarning(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	b.edit(t, `"z"`, `"查"z`)
	before, _, _ := strings.Cut(b.read(t), `"查"z`)
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + len([]rune(`"查"`)) + 1
	b.open(t)
	if at := fmt.Sprintf("line %d column %d", line, column); b.log.count(at) != 1 {
		t.Errorf("no %q in the warning:\n%s", at, b.log)
	}
}

// A broken file is replaced by a copy of the last good one. At most three broken files are kept aside.
func TestLastGoodFile(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	mustClose(t, b.open(t)) // loads cleanly, which makes the copy
	b.write(t, "broken")
	c := b.open(t)
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	mustClose(t, c)
	if r := b.verify(t); len(r.Servers) != 2 {
		t.Errorf("the file after the copy was used: %+v", r)
	}
	for range 5 { // no more than three are kept
		b.advance(time.Minute)
		b.write(t, "broken")
		mustClose(t, b.open(t))
	}
	if aside, err := filepath.Glob(b.path + ".corrupt-*"); err != nil || len(aside) != 3 {
		t.Errorf("kept aside: %v, %v", aside, err)
	}
}

// A damaged entry is not used, and the other entries are. Fields of newer versions are kept.
func TestOneEntryBad(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, new, reason string }{
		"tools edited":          {`"description":"Does x & more"`, `"description":"Does evil"`, "tampered"},
		"a tool's name":         {`"name":"x"`, `"name":"w"`, "tampered"},
		"two of one name":       {`"name":"x"`, `"name":"y"`, "invalid"},
		"schema no object":      {`"inputSchema": {"type":"object","properties":{"查询":{"type":"string"}}},"x-n":12345678901234567890}` + ",\n", `"inputSchema": 7}` + ",\n", "invalid"},
		"hash without shape":    {nthHash(1), strings.Repeat("X", 64), "invalid"},
		"local time":            {`"lastUpdated": "2026-11-21T09:00:00.000Z"`, `"lastUpdated": "2026-11-21 09:00:00"`, "invalid"},
		"unknown state":         {`"state": "active"`, `"state": "good"`, "invalid"},
		"rev no number":         {`"rev": 1`, `"rev": "1"`, "invalid"},
		"a field that is newer": {`"rev": 1`, `"rev": 1, "x-new": [1]`, "hit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newStoredFile(t)
			text := b.read(t)
			head, tail, _ := strings.Cut(text, `"b": {`) // a comes first
			if !strings.Contains(head, tc.old) {
				t.Fatalf("%q is not in\n%s", tc.old, head)
			}
			b.write(t, strings.Replace(head, tc.old, tc.new, 1)+`"b": {`+tail)
			c := b.open(t)
			if tc.reason == "hit" {
				wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
			} else {
				wantVerdict(t, c, newWant("a", 1), toolcache.Miss, tc.reason)
				wantVerdict(t, c, newWant("a", 1), toolcache.Miss, tc.reason)
				if n := b.log.count("level=WARN"); n != 1 {
					t.Errorf("%d warnings:\n%s", n, b.log)
				}
			}
			wantVerdict(t, c, newWant("b", 2), toolcache.Hit, "")
			c.Store("a", newEntry(1, "x"))
			mustClose(t, c)
			b.verify(t)
			if tc.reason == "hit" && !strings.Contains(b.read(t), `"x-new": [1]`) {
				t.Errorf("the field of a newer version is gone:\n%s", b.read(t))
			}
		})
	}
}

// A read-only file is used and never written, also by root. The cache works in memory until it is writable.
func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	b := newStoredFile(t)
	before := b.read(t)
	if err := os.Chmod(b.path, 0o444); err != nil {
		t.Fatal(err)
	}
	c := b.open(t)
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	if c.Stats().Writable {
		t.Error("statistics call a read-only file writable")
	}
	c.Store("c", newEntry(3, "q"))
	for range 3 {
		if err := c.Flush(t.Context()); err == nil {
			t.Fatal("a read-only file was written") // by root too
		}
	}
	wantVerdict(t, c, newWant("c", 3), toolcache.Hit, "")
	if b.read(t) != before || b.modeOf(t, b.path) != 0o444 {
		t.Error("the file or its mode has changed")
	}
	if n := b.log.count("level=WARN"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, b.log)
	}
	if err := os.Chmod(b.path, 0o644); err != nil {
		t.Fatal(err)
	}
	mustFlush(t, c)
	if r := b.verify(t); len(r.Servers) != 3 {
		t.Errorf("after chmod: %+v", r)
	}
	if got := b.modeOf(t, b.path); got != 0o600 {
		t.Errorf("mode %v, want it no wider than 0600", got)
	}
}

// A file in a read-only folder is used, and written once the folder is writable.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	b := newStoredFile(t)
	dir := filepath.Dir(b.path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	c := b.open(t)
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	c.Store("c", newEntry(3, "q"))
	if err := c.Flush(t.Context()); err == nil {
		t.Error("written into a read-only folder")
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mustFlush(t, c)
	b.verify(t)
}

// The file gets the permissions in the options.
func TestModeOfTheFile(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	b := newCacheFile(t)
	c := b.open(t, func(o *toolcache.Options) { o.Mode = 0o640 })
	mustFlush(t, c)
	if got := b.modeOf(t, b.path); got != 0o640 {
		t.Errorf("mode %v, want the one that was asked for", got)
	}
}

// Many gateways write one file at the same time. No entry is lost, and each gateway sees those of the others.
func TestTwoGateways(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	const writers, each = 10, 100 // as one home with ten clients, all starting at once
	var all []*toolcache.Cache
	for range writers {
		all = append(all, b.open(t))
	}
	done := make(chan struct{})
	for w, c := range all {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range each {
				c.Store(fmt.Sprintf("s-%d-%d", w, i), newEntry(w*each+i, "x"))
				if i%20 == 19 { // the lock may be busy for longer than one waits; it is tried again
					_ = c.Flush(t.Context())
				}
			}
		}()
	}
	for range writers {
		<-done
	}
	for _, c := range all {
		await.Until(t, "everything is written", func() bool { return c.Flush(t.Context()) == nil })
	}
	start := time.Now()
	for w, c := range all { // each sees what all others wrote
		stop := c.Watch(func(string) {})
		defer stop()
		await.Until(t, "everybody sees everything", func() bool { return len(c.Entries()) == writers*each })
		if w == 0 {
			t.Logf("seen after %v", time.Since(start))
		}
	}
	for _, c := range all {
		mustClose(t, c)
	}
	if r := b.verify(t); len(r.Servers) != writers*each || r.TotalWrites != writers*each {
		t.Errorf("%d entries and %d writes, want %d of each", len(r.Servers), r.TotalWrites, writers*each)
	}
}

// A list of 2000 tools is compressed in the file.
func TestHugeList(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	e := newEntry(1)
	for i := range 2000 {
		e.Tools = append(e.Tools, json.RawMessage(fmt.Sprintf(
			`{"name":"tool_%d","description":%q,"inputSchema":{"type":"object"}}`, i, strings.Repeat("列车 trains ", 110))))
	}
	// Under the race detector it takes longer than a file system may.
	patient := toolcache.SlowFile(b.path, toolcache.Options{Now: b.clock}, time.Minute, func(string) {})
	c := b.open(t, func(o *toolcache.Options) { toolcache.WithFile(o, patient) })
	c.Store("a", e)
	mustFlush(t, c)
	mustClose(t, c)
	info, err := os.Stat(b.path)
	if err != nil {
		t.Fatal(err)
	}
	c = b.open(t)
	got := wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	st := c.Stats()
	if len(got.Tools) != 2000 || !st.Compressed || info.Size()*5 > st.PlainSize || st.BytesSaved < 2<<20 {
		t.Errorf("%d tools, %d of %d bytes, %+v", len(got.Tools), info.Size(), st.PlainSize, st.FileInfo)
	}
	plain, err := toolcache.Plain([]byte(b.read(t)))
	if err != nil || !json.Valid(plain) {
		t.Errorf("the text of the file: %v", err)
	}
	c.Mark("a", toolcache.Active, "") // no change
	c.Store("b", newEntry(2, "x"))
	mustFlush(t, c)
	mustClose(t, c)
	b.verify(t)
}

// A failed refresh changes nothing but lastError, which the next success removes.
func TestRefreshFailed(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	before := b.read(t)
	c := b.open(t)
	c.Failed("a", "handshake_timeout")
	c.Failed("a", "handshake_timeout")
	c.Failed("nobody", "x")
	mustClose(t, c)
	head, _, _ := strings.Cut(b.read(t), `"b": {`)
	if !strings.Contains(head, `"lastError": {"code":"handshake_timeout","at":"2026-11-21T09:00:00.000Z"}`) {
		t.Errorf("no lastError:\n%s", head)
	}
	strip := func(text string) (lines []string) {
		_, servers, _ := strings.Cut(text, `"mcpServers"`)
		for line := range strings.SplitSeq(servers, "\n") {
			if !strings.Contains(line, "lastError") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if diff := cmp.Diff(strip(before), strip(b.read(t))); diff != "" {
		t.Errorf("something else has changed (-before +after):\n%s", diff)
	}
	c = b.open(t)
	c.Store("a", newEntry(1, "x", "y"))
	mustClose(t, c)
	if strings.Contains(b.read(t), "lastError") {
		t.Error("a success does not take the error away")
	}
}

// Entries with definitions that are invalid or too large, or without a hash or a valid name, are refused and
// counted.
func TestWhatIsNotKept(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	before := b.read(t)
	c := b.open(t)
	bad := func(def string) *toolcache.Entry {
		e := newEntry(1, "x")
		e.Tools = append(e.Tools, json.RawMessage(def))
		return e
	}
	noHash := newEntry(1, "x")
	noHash.ConfigHash = "abc"
	for name, e := range map[string]*toolcache.Entry{
		"nothing": newEntry(1), "no hash": noHash, "no name": bad(`{"description":"d"}`), "no object": bad(`7`), "no JSON": bad(`{"name":`),
		"twice": bad(string(definition("x"))), "empty name": bad(`{"name":""}`), "long name": bad(`{"name":"` + strings.Repeat("n", 129) + `"}`),
		"control": bad(`{"name":"a\u0007"}`), "schema": bad(`{"name":"s","inputSchema":[]}`), "bytes": bad("{\"name\":\"\xff\"}"),
		"two values": bad(`{"name":"s"} {}`), "large": bad(`{"name":"s","d":"` + strings.Repeat("x", 1<<20) + `"}`),
		"deep": bad(`{"name":"s","inputSchema":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70) + `}`),
	} {
		if c.Store("a", e) {
			t.Errorf("%s: kept", name)
		}
	}
	only := newEntry(1)
	only.Prompts = []json.RawMessage{json.RawMessage(`{"name":"p"}`)}
	if c.Store("a", only) {
		t.Error("a list without tools has replaced one with tools")
	}
	if !c.Store("prompts-only", only) {
		t.Error("a server without tools is not kept")
	}
	c.Clear("prompts-only")
	if c.Store("a b", newEntry(1, "x")) {
		t.Error("a name that no server can have is kept")
	}
	mustClose(t, c)
	if b.read(t) != before {
		t.Errorf("the file has changed:\n%s", b.read(t))
	}
	if got := c.Stats().Refused; got["definition"] != 12 || got["empty"] != 1 || got["no_hash"] != 1 || got["no_tools"] != 1 || got["name"] != 1 {
		t.Errorf("refused: %v", got)
	}
}

// A file of a newer major version is neither used nor written.
func TestNewerMajor(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	b.edit(t, `"version": "1.1.0",`+"\n  \"metadata\"", `"version": "2.0.0",`+"\n  \"metadata\"")
	before := b.read(t)
	c := b.open(t)
	wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "no_entry")
	c.Store("c", newEntry(3, "q"))
	wantVerdict(t, c, newWant("c", 3), toolcache.Hit, "")
	if err := c.Flush(t.Context()); err == nil {
		t.Error("a newer file was written")
	}
	_ = c.Close() // it has the same error
	if b.read(t) != before {
		t.Error("a newer file was touched")
	}
	if names, err := filepath.Glob(b.path + ".*"); err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "corrupt") }) {
		t.Errorf("files beside it: %v", names)
	}
}

// A file of a newer minor version is used and written, and keeps its version and its unknown fields.
func TestNewerMinor(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	b.edit(t, `"version": "1.1.0",`+"\n  \"metadata\"", `"version": "1.9.3", "future": {"a": 1},`+"\n  \"metadata\"")
	b.edit(t, `"fileWrites":`, `"later": [2], "fileWrites":`)
	c := b.open(t)
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	c.Store("c", newEntry(3, "q"))
	mustClose(t, c)
	text := b.read(t)
	for _, kept := range []string{`"version": "1.9.3"`, `"future": {"a": 1}`, `"later": [2]`} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is gone:\n%s", kept, text)
		}
	}
	b.verify(t)
}

// A symbolic link stays; the file that it points to is written.
func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	b := newCacheFile(t)
	target := filepath.Join(t.TempDir(), "real.json")
	if err := os.Symlink(target, b.path); err != nil {
		t.Fatal(err)
	}
	c := b.open(t) // the target is missing yet
	c.Store("a", newEntry(1, "x"))
	mustClose(t, c)
	c = b.open(t)
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	c.Store("b", newEntry(2, "x"))
	mustClose(t, c)
	if info, err := os.Lstat(b.path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Lstat(target); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the target: %v, %v", info, err)
	}
	b.verify(t)
}

// A running cache notices edits: an edited definition is no longer used, and a broken file does not lose what is in
// memory.
func TestEditedWhileRunning(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t)
	told := make(chan string, 10)
	defer c.Watch(func(s string) { told <- s })()
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	b.edit(t, `"description":"Does x & more"`, `"description":"Does evil"`)
	select {
	case got := <-told:
		if got != "a" {
			t.Errorf("told of %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was told of the edit")
	}
	wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "tampered")
	b.write(t, `{"half": `)
	await.Until(t, "the broken file is warned about", func() bool { return b.log.count("cause=read_corrupt") > 0 })
	wantVerdict(t, c, newWant("b", 2), toolcache.Hit, "")
	c.Store("c", newEntry(3, "q"))
	mustFlush(t, c)
	if r := toolcache.VerifyAt([]byte(b.read(t)), b.clock(), time.UTC); len(r.Servers) < 2 || r.TotalWrites == 0 {
		t.Errorf("after the next commit: %+v", r)
	}
}

// A deleted file is written again from memory.
func TestDeletedWhileRunning(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t)
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
	c.Store("c", newEntry(3, "q"))
	mustFlush(t, c)
	if r := b.verify(t); len(r.Servers) != 3 {
		t.Errorf("written from memory: %+v", r)
	}
}

// A running cache takes over what another gateway stores or deletes, and reports it to watchers.
func TestAnotherGatewaysChange(t *testing.T) {
	t.Parallel()
	testAnotherGatewaysChange(t)
}

// The same without notices of the system.
func TestAnotherGatewaysChangeIsPolled(t *testing.T) {
	t.Parallel()
	testAnotherGatewaysChange(t, func(o *toolcache.Options) { o.PollOnly = true })
}

func testAnotherGatewaysChange(t *testing.T, change ...func(*toolcache.Options)) {
	t.Helper()
	b := newStoredFile(t)
	one, two := b.open(t, change...), b.open(t)
	told := make(chan string, 10)
	defer one.Watch(func(s string) { told <- s })()
	two.Store("a", newEntry(1, "new"))
	mustFlush(t, two)
	select {
	case got := <-told:
		if got != "a" {
			t.Errorf("told of %q", got)
		}
	case <-time.After(await.Limit):
		t.Fatal("not told")
	}
	if e := wantVerdict(t, one, newWant("a", 1), toolcache.Hit, ""); len(e.Tools) != 1 {
		t.Errorf("%d tools", len(e.Tools))
	}
	two.Clear("b")
	mustFlush(t, two)
	if got := <-told; got != "b" {
		t.Errorf("told of %q", got)
	}
	wantVerdict(t, one, newWant("b", 2), toolcache.Miss, "no_entry")
	one.Store("b", newEntry(2, "z")) // a server that runs writes back
	mustFlush(t, one)
	if r := b.verify(t); len(r.Servers) != 2 {
		t.Errorf("%+v", r)
	}
}
