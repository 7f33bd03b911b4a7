package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// maxProblems is the maximum number of problems reported for one chain.
const maxProblems = 100

// Verify checks every chain in dir against its own hashes, its head, and what other chains say about it. It
// may run while chains are being written. Findings are in the Report; an error means that the records could
// not be read.
func Verify(ctx context.Context, dir string) (Report, error) {
	var report Report
	ids, err := chainIDs(dir)
	if err != nil {
		return report, fmt.Errorf("verify audit log: %w", err)
	}
	key, err := readKey(filepath.Join(dir, keyFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	witnesses, counted := readWitnesses(dir, ids)
	for _, id := range ids {
		v := &verifier{dir: dir, key: key, witnesses: witnesses[id]}
		v.report.Chain = id
		if err := v.chain(ctx); err != nil {
			return report, fmt.Errorf("verify audit log: %w", err)
		}
		delete(witnesses, id)
		report.Chains = append(report.Chains, v.report)
	}
	for _, id := range slices.Sorted(maps.Keys(witnesses)) {
		w := witnesses[id][0]
		report.Chains = append(report.Chains, ChainReport{Chain: id, Problems: []Problem{{
			Fault: ChainMissing, File: id, Seq: 1,
			Message: fmt.Sprintf("chain %s saw it with %d records on disk", w.by, w.Seq),
		}}})
	}
	if all := counted.others + 1; counted.others > 0 && all > len(report.Chains) {
		c := &report.Chains[slices.Index(ids, counted.by)]
		c.Problems = append(c.Problems, Problem{
			Fault: ChainMissing, File: counted.by, Seq: 1,
			Message: fmt.Sprintf("it found %d chains when it began; %d of them are gone, and none that is left names them",
				counted.others, all-len(report.Chains)),
		})
	}
	return report, nil
}

// census says how many chains the chain by found when it began. Chains are never removed, so there must be at
// least as many now.
type census struct {
	by     string
	others int
}

// witness is what the chain by says about another chain.
type witness struct {
	named
	by string
}

// readWitnesses collects what the first records of all chains say about other chains, by the chain they are
// about, and the highest number of chains that any of them found.
func readWitnesses(dir string, ids []string) (all map[string][]witness, counted census) {
	all = map[string][]witness{}
	for _, id := range ids {
		raw, ok := readStart(filepath.Join(dir, id))
		if !ok {
			continue
		}
		var start struct {
			Kind   string      `json:"kind"`
			Detail startDetail `json:"detail"`
		}
		if json.Unmarshal(raw, &start) != nil || start.Kind != kindStart {
			continue // reported when that chain is checked
		}
		if start.Detail.Chains > counted.others {
			counted = census{id, start.Detail.Chains}
		}
		for _, n := range start.Detail.Heads {
			if isChainName(n.Chain) {
				all[n.Chain] = append(all[n.Chain], witness{n, id})
			}
		}
	}
	return all, counted
}

// verifier checks one chain.
type verifier struct {
	dir       string
	key       *signingKey // nil if there is no key
	witnesses []witness
	report    ChainReport

	head        *head  // nil if there is no trustworthy head
	file        string // the file being read, below dir
	lineNo      int
	seq         uint64 // number of the record before
	hash        [sha256.Size]byte
	hashUnknown bool            // the line before was damaged, so its hash is unknown
	seqs        map[uint64]bool // all record numbers that occur; filled when needed
	moved       map[uint64]bool // records known to come later than they should
}

func (v *verifier) problem(f Fault, seq uint64, format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems,
			Problem{f, v.file, v.lineNo, seq, fmt.Sprintf(format, args...)})
	}
}

// chain checks the chain. It reads the head first, so that a chain that is being written has at least the
// records that the head covers.
func (v *verifier) chain(ctx context.Context) error {
	folder := filepath.Join(v.dir, v.report.Chain)
	h, headErr := readHead(folder)
	names, err := segments(folder)
	if err != nil {
		return err
	}
	v.checkHead(h, headErr, len(names) > 0)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		v.file, v.lineNo = filepath.Join(v.report.Chain, name), 0
		v.segment(data)
	}
	v.checkEnd()
	return nil
}

func (v *verifier) checkHead(h *head, err error, written bool) {
	v.file = filepath.Join(v.report.Chain, headFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if written {
			v.problem(HeadMissing, 0, "records cut off at the end would not show")
		} else { // a folder is created together with its head
			v.problem(HeadMissing, 0, "the folder is empty: what was in it has been removed")
		}
	case err != nil:
		v.problem(HeadForged, 0, "%v", err)
	case h.Chain != v.report.Chain:
		v.problem(HeadForged, h.Seq, "it belongs to chain %q", h.Chain)
	case v.key == nil:
		v.problem(HeadForged, h.Seq, "the file %q is missing, so that no signature can be checked", keyFile)
	case !h.isSignedBy(v.key):
		v.problem(HeadForged, h.Seq, "the signature does not fit the content")
	default:
		v.head, v.report.Covered = h, h.Seq
	}
}

func (v *verifier) segment(data []byte) {
	end := 0
	for n, raw := range wholeLines(data) {
		v.lineNo = n
		v.record(raw)
		end += len(raw) + 1
	}
	v.report.Torn = end < len(data)
}

func (v *verifier) record(raw []byte) {
	l, ok := parseLine(raw)
	if !ok || !l.intact() {
		v.damaged(raw, ok)
		return
	}
	v.order(&l)
	if v.report.Records == 0 {
		v.report.First = l.when()
	}
	v.report.Records++
	v.report.Last = l.when()
	v.report.Ended = isEnd(raw)
	v.seq, v.hash, v.hashUnknown = l.seq, l.hash, false
	v.report.Seq = max(v.report.Seq, l.seq)
	v.checkWitnesses(&l)
}

// damaged reports a line that was changed. It counts as the record that belongs at this place.
func (v *verifier) damaged(raw []byte, record bool) {
	seq := v.report.Seq + 1
	switch {
	case record:
		v.problem(Edited, seq, "the record does not have the hash it states")
	case isNewer(raw):
		v.problem(Newer, seq, "this version knows format %d only", format)
	default:
		v.problem(Edited, seq, "the line is not a record")
	}
	v.report.Records++
	v.report.Seq = seq
	v.seq, v.hashUnknown = seq, true
}

// order checks that l continues the chain.
func (v *verifier) order(l *line) {
	want := v.report.Seq + 1
	switch {
	case l.seq < want:
		if !v.moved[l.seq] {
			v.problem(Swapped, l.seq, "record %d stands here again or too late, expected record %d", l.seq, want)
		}
	case l.seq > want:
		v.gap(want, l.seq)
	case !v.hashUnknown && l.seq == v.seq+1 && l.prev != v.hash:
		v.problem(Edited, l.seq, "it continues another record than the one before it, which was rewritten")
	}
}

// gap reports that the records in [want, seq) are missing here.
func (v *verifier) gap(want, seq uint64) {
	if v.seqs == nil {
		v.seqs, v.moved = v.allNumbers(), map[uint64]bool{}
	}
	if !v.seqs[want] {
		v.problem(Deleted, want, "records %d to %d are missing", want, seq-1)
		return
	}
	for s := want; s < seq && v.seqs[s]; s++ {
		v.moved[s] = true
	}
	v.problem(Swapped, want, "record %d stands here, record %d comes later", seq, want)
}

// occurring returns the numbers of all records of the chain.
func (v *verifier) allNumbers() map[uint64]bool {
	seqs := map[uint64]bool{}
	folder := filepath.Join(v.dir, v.report.Chain)
	names, _ := segments(folder) // they were read successfully before
	for _, name := range names {
		data, _ := os.ReadFile(filepath.Join(folder, name))
		for _, raw := range wholeLines(data) {
			if l, ok := parseLine(raw); ok {
				seqs[l.seq] = true
			}
		}
	}
	return seqs
}

// checkWitnesses compares l with what the head and other chains say about it.
func (v *verifier) checkWitnesses(l *line) {
	if v.head != nil && l.seq == v.head.Seq && hex.EncodeToString(l.hash[:]) != v.head.Hash {
		v.problem(Edited, l.seq, "the head was signed over another record %d", l.seq)
	}
	for _, w := range v.witnesses {
		if l.seq == w.Seq && hex.EncodeToString(l.hash[:]) != w.Hash {
			v.problem(Edited, l.seq, "chain %s saw another record %d", w.by, l.seq)
		}
	}
}

// checkEnd compares the number of records with what the head and other chains say.
func (v *verifier) checkEnd() {
	last := v.report.Seq
	if v.head != nil && last < v.head.Seq {
		v.problem(Cut, last+1, "the head covers %d records, here are %d", v.head.Seq, last)
	} else if v.head != nil {
		v.report.Uncovered = last - v.head.Seq
	}
	for _, w := range v.witnesses {
		if last < w.Seq && (v.head == nil || v.head.Seq < w.Seq) {
			v.problem(Cut, last+1, "chain %s saw %d records, here are %d", w.by, w.Seq, last)
			return
		}
	}
}
