package audit

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/lazyregexp"
	"collie/internal/tool"
)

// This file begins the chain of a process: its folder, its first record, and what it says about other chains.

// The kinds of records about the log itself, and of changes.
const (
	kindStart  = "chain.start"
	kindGap    = "chain.gap"
	kindEnd    = "chain.end"
	kindChange = "change"
)

// namedHeads is the maximum number of chains that a new chain names.
const namedHeads = 64

var segmentName = lazyregexp.New(`^\d{6}\.jsonl$`)

// chain is the chain that this process is writing.
type chain struct {
	folder string
	id     string
	key    *signingKey
	enc    *encoder
	create func(string) (file, error)
	anchor *anchor // nil if there is none

	seg           file
	number        int       // number of seg
	size          int64     // bytes of the whole lines in seg
	createdAt     time.Time // when seg was created
	dirty         bool      // seg has lines that the head does not cover yet
	unsyncedEntry bool      // a folder has an entry that was never synced
	mustRotate    bool      // writing to seg failed: use a new one
}

// namedHead is how the first record of a chain describes another chain.
type namedHead struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
}

// startDetail is the detail of the record chain.start.
type startDetail struct {
	Host    string      `json:"host,omitempty"`
	PID     int         `json:"pid"`
	Version string      `json:"version,omitempty"`
	Format  int         `json:"format"`
	Chains  int         `json:"chains"`
	Heads   []namedHead `json:"heads,omitempty"`
	Anchor  string      `json:"anchor,omitempty"` // the file that is to name this chain
}

// readAheadState holds what was read of a folder before a chain is created in it. The zero value is
// empty.
type readAheadState struct {
	key   *signingKey          // nil if there is no key yet
	heads map[string]namedHead // by chain
}

// readAhead reads the key and the newest heads of dir. What cannot be read now is read again when the chain
// is made, which reports the error. A head may advance meanwhile; the old one stays true, because it names a
// record that its chain must have.
func readAhead(dir string) readAheadState {
	a := readAheadState{heads: map[string]namedHead{}}
	a.key, _ = readKey(filepath.Join(dir, keyFile))
	ids, _ := chainIDs(dir)
	for _, h := range heads(dir, ids, nil) {
		a.heads[h.Chain] = h
	}
	return a
}

// newChain creates the folder of a new chain in dir. It returns the chain and its first record, which is not
// written yet. That record names the chains that exist now; a only saves reading their heads again.
func newChain(dir string, begin time.Time, r *Redactor, o *Options, a readAheadState) (_ *chain, _ tool.Record, err error) {
	start := tool.Record{Time: begin, Kind: kindStart}
	key := a.key
	if key == nil {
		if key, err = openKey(dir); err != nil {
			return nil, start, err
		}
	}
	ids, err := chainIDs(dir)
	if err != nil {
		return nil, start, err
	}
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		return nil, start, err
	}
	id := fmt.Sprintf("%s-%d-%s", start.Time.UTC().Format("20060102T150405Z"), os.Getpid(), hex.EncodeToString(random))
	c := &chain{
		id: id, folder: filepath.Join(dir, id), key: key, enc: newEncoder(r, key), create: o.create, unsyncedEntry: true,
		anchor: newAnchor(o.Anchor, o.Logger),
	}
	if err := c.begin(); err != nil {
		return nil, start, err
	}
	host, _ := os.Hostname() // only for people; may be empty
	start.Detail, err = json.Marshal(startDetail{host, os.Getpid(), o.Version, format, len(ids), heads(dir, ids, a.heads), o.Anchor})
	return c, start, err
}

// begin creates the folder together with a head that covers nothing, in one rename: a folder without a head
// shows that files were deleted from it.
func (c *chain) begin() error {
	unready := filepath.Join(filepath.Dir(c.folder), "."+c.id)
	if err := os.Mkdir(unready, 0o700); err != nil {
		return err
	}
	h := head{Chain: c.id, Hash: zeroHash}
	text, err := h.encode(c.key)
	if err == nil {
		err = atomicfile.WriteNoSync(filepath.Join(unready, headFile), text, 0o600)
	}
	if err == nil {
		err = os.Rename(unready, c.folder)
	}
	if err != nil {
		_ = os.RemoveAll(unready) // the folder holds nothing yet, so an error does not matter
	}
	return err
}

// heads returns the heads of the newest chains. It takes those in known from there and reads the others. Verify reports folders without a head.
func heads(dir string, ids []string, known map[string]namedHead) []namedHead {
	var found []namedHead
	for _, id := range ids[max(0, len(ids)-namedHeads):] {
		if h, ok := known[id]; ok {
			found = append(found, h)
		} else if h, err := readHead(filepath.Join(dir, id)); err == nil && h.Chain == id {
			found = append(found, namedHead{id, h.Seq, h.Hash})
		}
	}
	return found
}

// isChainName reports whether name has the form of a chain id: 20260728T091500Z-4711-9f3c01ab. It is fast,
// because each new chain checks all existing folders and each short-lived command makes a chain.
func isChainName(name string) bool {
	all := func(s, of string) bool { return s != "" && strings.Trim(s, of) == "" }
	begin, rest, _ := strings.Cut(name, "-")
	pid, random, _ := strings.Cut(rest, "-")
	const digits = "0123456789"
	return len(begin) == len("20060102T150405Z") && all(begin[:8], digits) && begin[8] == 'T' && all(begin[9:15], digits) && begin[15] == 'Z' &&
		all(pid, digits) && len(random) == 8 && all(random, digits+"abcdef")
}

// chainIDs returns the chains of dir, oldest first; none if dir does not exist.
func chainIDs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && isChainName(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// nextSegment leaves the current segment, in whatever state it is, and begins the next one.
func (c *chain) nextSegment() error {
	if c.seg != nil {
		if c.dirty { // after a failure; lost lines show as a break in the chain
			_ = c.seg.Sync()
		}
		_ = c.seg.Close()
		c.seg = nil
		if c.size == 0 && os.Remove(c.path()) == nil { // otherwise a full disk would fill up with empty files
			c.number--
		}
	}
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	for {
		seg, err := c.create(filepath.Join(c.folder, segmentFile(c.number+1)))
		if err == nil || errors.Is(err, fs.ErrExist) {
			c.number++
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		c.seg, c.size, c.createdAt, c.unsyncedEntry, c.mustRotate = seg, 0, time.Now(), true, false
		return nil
	}
}

// path returns the path of the segment that is being written.
func (c *chain) path() string { return filepath.Join(c.folder, segmentFile(c.number)) }

func segmentFile(number int) string { return fmt.Sprintf("%06d.jsonl", number) }

// sync syncs the segment and the folders that lead to it.
func (c *chain) sync() error {
	if _, err := os.Lstat(c.path()); err != nil { // another program has removed the file
		c.mustRotate = true
		return err
	}
	if err := c.syncFolders(); err != nil {
		return err
	}
	if !c.dirty {
		return nil
	}
	if err := c.seg.Sync(); err != nil {
		c.mustRotate = true
		return err
	}
	return nil
}

// syncFolders syncs the directory entries of new files.
func (c *chain) syncFolders() error {
	if !c.unsyncedEntry {
		return nil
	}
	err := cmp.Or(syncFolder(filepath.Dir(c.folder)), syncFolder(c.folder))
	c.unsyncedEntry = err != nil
	return err
}

// syncEntries syncs the directory entries of new files in the background, so that a command that ends after
// one call waits only for its records. Errors are ignored: sync tries again and reports them.
func (c *chain) syncEntries() { _ = c.syncFolders() }

// writeHead makes the head cover all that was written, and anchors it if that is due or last says that it is the last
// one. The segment must be synced already.
func (c *chain) writeHead(last bool) error {
	if !c.dirty {
		return nil
	}
	h := head{
		Chain: c.id, Seq: c.enc.seq, Hash: hex.EncodeToString(c.enc.prev[:]),
		Segment: segmentFile(c.number), Offset: c.size,
	}
	text, err := h.encode(c.key)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(c.folder, headFile), text, 0o600); err != nil {
		return err
	}
	c.dirty = false
	c.anchor.add(h.Seq, text, time.Now(), last)
	return nil
}

func (c *chain) close() {
	if c.seg != nil {
		_ = c.seg.Close() // it was synced, or its failure was reported
	}
}

// segments returns the segments in folder, oldest first.
func segments(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if segmentName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func gapRecord(lost int) tool.Record {
	return tool.Record{Time: time.Now(), Kind: kindGap, Detail: fmt.Appendf(nil, `{"dropped":%d}`, lost)}
}

func endRecord() tool.Record { return tool.Record{Time: time.Now(), Kind: kindEnd} }
