package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// writeChain writes a chain with one record into dir and returns its id. If prepared, the log reads ahead first (Log.Prepare).
func writeChain(t *testing.T, dir string, prepared bool) string {
	t.Helper()
	before, err := chainIDs(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if prepared {
		l.Prepare()
	}
	if err := l.Append(newRecordWithID("1")); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	known := map[string]bool{}
	for _, id := range before {
		known[id] = true
	}
	after, err := chainIDs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range after {
		if !known[id] {
			return id
		}
	}
	t.Fatal("no chain was made")
	return ""
}

// A new chain names the chains that were read ahead without reading them again, adds those that have appeared
// since, and leaves out those that are gone.
func TestReadAheadIsUsedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, gone := writeChain(t, dir, false), writeChain(t, dir, true)
	a := readAhead(dir)
	if a.key == nil || len(a.heads) != 2 || a.heads[kept].Seq == 0 {
		t.Fatalf("read ahead: %+v", a)
	}
	later := writeChain(t, dir, true)
	if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, kept, headFile)); err != nil { // reading it again would fail
		t.Fatal(err)
	}
	_, start, err := newChain(dir, time.Now(), NewRedactor(nil, ""), &Options{}, a)
	if err != nil {
		t.Fatal(err)
	}
	var d startDetail
	if err := json.Unmarshal(start.Detail, &d); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, h := range d.Heads {
		names[h.Chain] = true
	}
	if d.Chains != 2 || len(names) != 2 || !names[kept] || !names[later] {
		t.Errorf("the chain names %v of %d, want %s and %s", names, d.Chains, kept, later)
	}
}

// A log that was prepared but never used leaves nothing on disk.
func TestPrepareWritesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Prepare()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there, or %v", err)
	}
}

// A log recovers if its folder is moved away after it was read ahead, as any other log does.
func TestPreparedFolderIsGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	writeChain(t, dir, false)
	w := &writer{log: &Log{dir: dir}, opts: Options{create: createFile}, redact: NewRedactor(nil, ""), ahead: readAhead(dir)}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := w.ensureChain(); err != nil { // the first attempt may fail and is repeated
		err = w.ensureChain()
		if err != nil {
			t.Fatal(err)
		}
	}
	defer w.chain.close()
	if _, err := readKey(filepath.Join(dir, keyFile)); err != nil {
		t.Errorf("the key of the new chain: %v", err)
	}
}

// The directory entries of a new chain are synced without anybody waiting for a record, long before the
// commit that its records wait for.
func TestEntriesOfNewFilesAreSynced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, _, err := newChain(dir, time.Now(), NewRedactor(nil, ""), &Options{create: createFile}, readAheadState{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.nextSegment(); err != nil {
		t.Fatal(err)
	}
	if c.syncEntries(); c.unsyncedEntry {
		t.Error("the entries wait for the next record")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.unsyncedEntry = true
	if c.syncEntries(); !c.unsyncedEntry {
		t.Error("entries of folders that are gone count as synced")
	}
}

// isChainName recognizes names of chains. It allocates nothing, since it is called for every existing chain.
func TestChainNames(t *testing.T) { //nolint:paralleltest // it counts objects, those of other tests would count too
	const good = "20260728T091500Z-4711-9f3c01ab"
	pattern := regexp.MustCompile(`^\d{8}T\d{6}Z-\d+-[0-9a-f]{8}$`)
	names := []string{"", "-", "--", "20260728T091500Z--9f3c01ab", "20260728T091500Z-4711-", "20260728T091500Z-1-2-9f3c01ab"}
	for i := range good {
		names = append(names, good[:i]+good[i+1:], good[:i])
		for _, c := range "0aAgTZ-.\n٣" {
			names = append(names, good[:i]+string(c)+good[i+1:], good[:i]+string(c)+good[i:], good+string(c))
		}
	}
	for _, name := range append(names, good) {
		if got, want := isChainName(name), pattern.MatchString(name); got != want {
			t.Errorf("%q is a name of a chain: %v, want %v", name, got, want)
		}
	}
	if made := testing.AllocsPerRun(100, func() { isChainName(good) }); made > 0 {
		t.Errorf("%.0f objects, expected none", made)
	}
}
