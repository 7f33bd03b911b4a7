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

// The kinds of record about the log itself, and of a change.
const (
	kindStart  = "chain.start"
	kindGap    = "chain.gap"
	kindEnd    = "chain.end"
	kindChange = "change"
)

// namedHeads bounds how many chains a new chain names.
const namedHeads = 64

var segmentName = lazyregexp.New(`^\d{6}\.jsonl$`)

// chain is the chain that this process writes.
type chain struct {
	folder string
	id     string
	key    *signingKey
	enc    *encoder
	create func(string) (file, error)

	seg    file
	number int       // of seg
	size   int64     // of the whole lines in seg
	born   time.Time // of seg
	dirty  bool      // seg has lines that the head does not cover
	fresh  bool      // a folder has an entry that was never synced
	bad    bool      // seg failed and must be left
}

// named is a chain as the first record of another one names it.
type named struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
}

// startDetail is the detail of chain.start.
type startDetail struct {
	Host    string  `json:"host,omitempty"`
	PID     int     `json:"pid"`
	Version string  `json:"version,omitempty"`
	Format  int     `json:"format"`
	Chains  int     `json:"chains"`
	Heads   []named `json:"heads,omitempty"`
}

// ahead is what was read of a folder before a chain is made in it. The zero value has nothing.
type ahead struct {
	key   *signingKey      // nil if there was none
	heads map[string]named // by chain
}

// readAhead reads the key and the newest heads of dir. What cannot be read now is read again for the chain, which tells what
// is wrong. A head that moves on meanwhile stays true as it was: it names a record that its chain must have.
func readAhead(dir string) ahead {
	a := ahead{heads: map[string]named{}}
	a.key, _ = readKey(filepath.Join(dir, keyFile))
	ids, _ := chainIDs(dir)
	for _, h := range heads(dir, ids, nil) {
		a.heads[h.Chain] = h
	}
	return a
}

// newChain makes the folder of a new chain in dir, which begins at the time begin, and
// returns its first record, which is not written yet. The record names the chains that are there now, whatever was read ahead.
func newChain(dir string, begin time.Time, r *Redactor, o *Options, a ahead) (_ *chain, _ tool.Record, err error) {
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
		id: id, folder: filepath.Join(dir, id), key: key, enc: newEncoder(r, key), create: o.create, fresh: true,
	}
	if err := c.begin(); err != nil {
		return nil, start, err
	}
	host, _ := os.Hostname() // for people; it may stay empty
	start.Detail, err = json.Marshal(startDetail{host, os.Getpid(), o.Version, format, len(ids), heads(dir, ids, a.heads)})
	return c, start, err
}

// begin makes the folder with a head that covers nothing, both at once: a folder without a head is one that somebody
// has emptied.
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
		_ = os.RemoveAll(unready) // it holds nothing yet
	}
	return err
}

// heads reads the heads of the newest chains, but for those that are known. A folder without a head is for Verify to report.
func heads(dir string, ids []string, known map[string]named) []named {
	var found []named
	for _, id := range ids[max(0, len(ids)-namedHeads):] {
		if h, ok := known[id]; ok {
			found = append(found, h)
		} else if h, err := readHead(filepath.Join(dir, id)); err == nil && h.Chain == id {
			found = append(found, named{id, h.Seq, h.Hash})
		}
	}
	return found
}

// isChainName reports whether a folder is called as chains are: 20260728T091500Z-4711-9f3c01ab. Each new chain asks it of
// all that are there, and each short-lived command makes one.
func isChainName(name string) bool {
	all := func(s, of string) bool { return s != "" && strings.Trim(s, of) == "" }
	begin, rest, _ := strings.Cut(name, "-")
	pid, random, _ := strings.Cut(rest, "-")
	const digits = "0123456789"
	return len(begin) == len("20060102T150405Z") && all(begin[:8], digits) && begin[8] == 'T' && all(begin[9:15], digits) && begin[15] == 'Z' &&
		all(pid, digits) && len(random) == 8 && all(random, digits+"abcdef")
}

// chainIDs lists the chains of dir, oldest first. A dir that does not exist has none.
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

// nextSegment leaves the segment, whatever state it is in, and begins the next one.
func (c *chain) nextSegment() error {
	if c.seg != nil {
		if c.dirty { // after a failure; what the disk lost shows as a break of the chain
			_ = c.seg.Sync()
		}
		_ = c.seg.Close()
		c.seg = nil
		if c.size == 0 && os.Remove(c.path()) == nil { // or a full disk would fill with empty files
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
		c.seg, c.size, c.born, c.fresh, c.bad = seg, 0, time.Now(), true, false
		return nil
	}
}

func (c *chain) path() string { return filepath.Join(c.folder, segmentFile(c.number)) }

func segmentFile(number int) string { return fmt.Sprintf("%06d.jsonl", number) }

// sync brings the segment onto the disk, and the entries of the folders that lead to it.
func (c *chain) sync() error {
	if _, err := os.Lstat(c.path()); err != nil { // somebody took it away from under us
		c.bad = true
		return err
	}
	if err := c.syncFolders(); err != nil {
		return err
	}
	if !c.dirty {
		return nil
	}
	if err := c.seg.Sync(); err != nil {
		c.bad = true
		return err
	}
	return nil
}

// syncFolders brings the entries of new files onto the disk.
func (c *chain) syncFolders() error {
	if !c.fresh {
		return nil
	}
	err := cmp.Or(syncFolder(filepath.Dir(c.folder)), syncFolder(c.folder))
	c.fresh = err != nil
	return err
}

// syncEntries brings the entries of new files onto the disk while nobody waits, so that a command which ends after one call
// waits for its records alone. What fails here is tried again, and told, by sync.
func (c *chain) syncEntries() { _ = c.syncFolders() }

// writeHead makes the head cover all that was written. The segment has been synced.
func (c *chain) writeHead() error {
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
	return nil
}

func (c *chain) close() {
	if c.seg != nil {
		_ = c.seg.Close() // synced, or reported as a failure
	}
}

// segments lists the segments in folder, oldest first.
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
