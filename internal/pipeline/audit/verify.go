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
	"time"
)

// This file checks that no record was changed or removed.

// maxProblems is the maximum number of problems reported for one chain.
const maxProblems = 100

// Verify checks every chain in dir against its own hashes, its head, what other chains say about it, and the anchor
// at that path, if it is not "". It may run while chains are being written. Findings are in the Report; an error means
// that the records or the anchor could not be read.
func Verify(ctx context.Context, dir, anchor string) (Report, error) {
	var report Report
	ids, err := chainIDs(dir)
	if err != nil {
		return report, fmt.Errorf("verify audit log: %w", err)
	}
	key, err := readKey(filepath.Join(dir, keyFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	t := testimony{witnesses: map[string][]witness{}, pruned: map[string]pruneState{}}
	t.readStarts(dir, ids)
	if anchor != "" {
		if report.Anchor, err = t.readAnchor(anchor, key); err != nil {
			return report, fmt.Errorf("verify audit log: %w", err)
		}
		listed := ids // what the anchor names is on disk by now, but chains may have begun since
		if ids, err = chainIDs(dir); err != nil {
			return report, fmt.Errorf("verify audit log: %w", err)
		}
		t.readStarts(dir, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, known := slices.BinarySearch(listed, id); return known }))
	}
	for _, id := range ids {
		v := &verifier{dir: dir, key: key, witnesses: t.witnesses[id]}
		v.report.Chain = id
		if err := v.checkChain(ctx); err != nil {
			return report, fmt.Errorf("verify audit log: %w", err)
		}
		delete(t.witnesses, id)
		if v.report.OK() {
			t.addRemovals(v.pruned...)
		}
		report.Chains = append(report.Chains, v.report)
	}
	t.reportMissing(&report)
	return report, nil
}

// testimony collects what the chains of a folder and its anchor record about each other: which
// chains must exist, and with which records.
type testimony struct {
	witnesses map[string][]witness  // by the chain that they are about
	censuses  []census              // one for each chain
	anchored  []string              // chains that began while an anchor was set
	pruned    map[string]pruneState // by chain
}

// census says how many chains the chain by found when it began. At least as many must exist now, except those that
// were pruned since.
type census struct {
	by     string
	others int
}

// pruneState says which records of a chain were removed on purpose: those up to seq.
type pruneState struct {
	seq uint64
	at  time.Time // when the whole chain was removed; zero if it was not
}

func (s pruneState) isWhole() bool { return !s.at.IsZero() }

// addRemovals adds the removals that records of kind prune describe.
func (t *testimony) addRemovals(list ...prunedDetail) {
	for i := range list {
		at, err := time.Parse(timeLayout, list[i].Time)
		if err != nil {
			continue // not written by the holder of the key, so ignored
		}
		for _, c := range list[i].Chains {
			s := t.pruned[c.Chain]
			s.seq = max(s.seq, c.Seq)
			if c.Whole && at.After(s.at) { // recorded when it begins and, if need be, when it has ended
				s.at = at
			}
			t.pruned[c.Chain] = s
		}
	}
}

// reportMissing reports what is missing and was not pruned.
func (t *testimony) reportMissing(report *Report) {
	for i := range report.Chains {
		c := &report.Chains[i]
		if c.Pruned > t.pruned[c.Chain].seq {
			c.Problems = slices.Insert(c.Problems, 0, Problem{
				Fault: Deleted, File: filepath.Join(c.Chain, segmentFile(1)), Seq: 1, Message: fmt.Sprintf("records %d to %d are missing", 1, c.Pruned),
			})
			c.Pruned = 0
		}
	}
	present := len(report.Chains)
	for _, id := range slices.Sorted(maps.Keys(t.witnesses)) {
		pruned := t.pruned[id]
		i := slices.IndexFunc(t.witnesses[id], func(w witness) bool { return !pruned.isWhole() || w.Seq > pruned.seq })
		if i < 0 {
			continue
		}
		report.Chains = append(report.Chains, ChainReport{Chain: id, Problems: []Problem{{
			Fault: ChainMissing, File: id, Seq: 1, Message: t.witnesses[id][i].missingMessage(),
		}}})
	}
	t.checkCounts(report, present)
}

// checkCounts compares the number of chains with what the chains found when they began. Of the chains in the report the
// first so many as present says exist; the others are known to be missing.
func (t *testimony) checkCounts(report *Report, present int) {
	var by census
	gone := 0
	var removals []time.Time // of whole chains, in order
	for _, s := range t.pruned {
		if s.isWhole() {
			removals = append(removals, s.at)
		}
	}
	slices.SortFunc(removals, time.Time.Compare)
	for _, c := range t.censuses {
		before, _ := slices.BinarySearchFunc(removals, startTime(c.by), time.Time.Compare)
		if n := c.others + 1 - len(report.Chains) - (len(removals) - before); n > gone {
			by, gone = c, n
		}
	}
	if gone == 0 {
		return
	}
	i := slices.IndexFunc(report.Chains[:present], func(c ChainReport) bool { return c.Chain == by.by })
	report.Chains[i].Problems = append(report.Chains[i].Problems, Problem{
		Fault: ChainMissing, File: by.by, Seq: 1,
		Message: fmt.Sprintf("it found %d chains when it began; %d of them are gone, and none that is left names them", by.others, gone),
	})
}

// witness is what another chain or the anchor recorded about a chain: the head that it saw.
type witness struct {
	namedHead
	by string // the chain; "" is the anchor
}

// missingMessage, otherRecordMessage and cutMessage describe what contradicts the witness: the chain is gone, it has a different record with
// that number, or it has fewer records.
func (w *witness) missingMessage() string {
	if w.by == "" {
		return fmt.Sprintf("the anchor names it with %d records", w.Seq)
	}
	return fmt.Sprintf("chain %s saw it with %d records on disk", w.by, w.Seq)
}

func (w *witness) otherRecordMessage() string {
	if w.by == "" {
		return fmt.Sprintf("the anchor names another record %d", w.Seq)
	}
	return fmt.Sprintf("chain %s saw another record %d", w.by, w.Seq)
}

func (w *witness) cutMessage(records uint64) string {
	if w.by == "" {
		return fmt.Sprintf("the anchor names %d records, here are %d", w.Seq, records)
	}
	return fmt.Sprintf("chain %s saw %d records, here are %d", w.by, w.Seq, records)
}

// readStarts adds what the first records of chains state.
func (t *testimony) readStarts(dir string, ids []string) {
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
		if start.Detail.Chains > 0 {
			t.censuses = append(t.censuses, census{id, start.Detail.Chains})
		}
		if start.Detail.Anchor != "" {
			t.anchored = append(t.anchored, id)
		}
		for _, n := range start.Detail.Heads {
			if isChainName(n.Chain) {
				t.witnesses[n.Chain] = append(t.witnesses[n.Chain], witness{n, id})
			}
		}
	}
}

// readAnchor adds the heads in the anchor at path.
func (t *testimony) readAnchor(path string, key *signingKey) (AnchorReport, error) {
	heads, pruned, report, err := readAnchor(path, key)
	if err != nil {
		return report, err
	}
	t.addRemovals(pruned...)
	for id, h := range heads {
		if h.Seq > 0 {
			t.witnesses[id] = append(t.witnesses[id], witness{namedHead{id, h.Seq, h.Hash}, ""})
		}
	}
	for _, id := range t.anchored {
		if _, named := heads[id]; !named {
			report.Unnamed++
		}
	}
	if report.Missing && report.Unnamed > 0 {
		report.addProblem(0, 0, "the file is missing, though %d chains were anchored when they began", report.Unnamed)
	}
	return report, nil
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
	outOfOrder  map[uint64]bool // records known to come later than they should
	pruned      []prunedDetail  // of records that the head covers
}

func (v *verifier) addProblem(f Fault, seq uint64, format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems,
			Problem{f, v.file, v.lineNo, seq, fmt.Sprintf(format, args...)})
	}
}

// checkChain checks the chain. It reads the head first, so that a chain that is being written has at least the
// records that the head covers.
func (v *verifier) checkChain(ctx context.Context) error {
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
		v.checkSegment(data)
	}
	v.checkEnd()
	return nil
}

func (v *verifier) checkHead(h *head, err error, written bool) {
	v.file = filepath.Join(v.report.Chain, headFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if written {
			v.addProblem(HeadMissing, 0, "records cut off at the end would not show")
		} else { // a folder is created together with its head
			v.addProblem(HeadMissing, 0, "the folder is empty: what was in it has been removed")
		}
	case err != nil:
		v.addProblem(HeadForged, 0, "%v", err)
	case h.Chain != v.report.Chain:
		v.addProblem(HeadForged, h.Seq, "it belongs to chain %q", h.Chain)
	case v.key == nil:
		v.addProblem(HeadForged, h.Seq, "the file %q is missing, so that no signature can be checked", keyFile)
	case !h.isSignedBy(v.key):
		v.addProblem(HeadForged, h.Seq, "the signature does not fit the content")
	default:
		v.head, v.report.Covered = h, h.Seq
	}
}

func (v *verifier) checkSegment(data []byte) {
	end := 0
	for n, raw := range wholeLines(data) {
		v.lineNo = n
		v.checkRecord(raw)
		end += len(raw) + 1
	}
	v.report.Torn = end < len(data)
}

func (v *verifier) checkRecord(raw []byte) {
	l, ok := parseLine(raw)
	if !ok || !l.isIntact() {
		v.reportDamaged(raw, ok)
		return
	}
	v.checkOrder(&l)
	if v.report.Records == 0 {
		v.report.First = l.when()
	}
	v.report.Records++
	v.report.Last = l.when()
	v.report.Ended = hasKind(raw, kindEnd)
	if detail, ok := readPruned(raw); ok && v.head != nil && l.seq <= v.head.Seq {
		v.pruned = append(v.pruned, detail)
	}
	v.seq, v.hash, v.hashUnknown = l.seq, l.hash, false
	v.report.Seq = max(v.report.Seq, l.seq)
	v.checkWitnesses(&l)
}

// reportDamaged reports a line that was changed: one whose hash is wrong if it can be read as a record, else one that is
// none. It counts as the record that belongs at this place.
func (v *verifier) reportDamaged(raw []byte, record bool) {
	seq := v.report.Seq + 1
	switch {
	case record:
		v.addProblem(Edited, seq, "the record does not have the hash it states")
	case isNewer(raw):
		v.addProblem(Newer, seq, "this version knows format %d only", format)
	default:
		v.addProblem(Edited, seq, "the line is not a record")
	}
	v.report.Records++
	v.report.Seq = seq
	v.seq, v.hashUnknown = seq, true
}

// checkOrder checks that l continues the chain.
func (v *verifier) checkOrder(l *line) {
	want := v.report.Seq + 1
	if l.seq > want && v.report.Records == 0 && v.lineNo == 1 && filepath.Base(v.file) != segmentFile(1) {
		v.report.Pruned, want = l.seq-1, l.seq // if no record explains the removal, reportMissing reports it
	}
	switch {
	case l.seq < want:
		if !v.outOfOrder[l.seq] {
			v.addProblem(Swapped, l.seq, "record %d is repeated or comes too late, expected record %d", l.seq, want)
		}
	case l.seq > want:
		v.reportGap(want, l.seq)
	case !v.hashUnknown && l.seq == v.seq+1 && l.prev != v.hash:
		v.addProblem(Edited, l.seq, "it continues another record than the one before it, which was rewritten")
	}
}

// reportGap reports that the records in [want, seq) are missing here.
func (v *verifier) reportGap(want, seq uint64) {
	if v.seqs == nil {
		v.seqs, v.outOfOrder = v.allNumbers(), map[uint64]bool{}
	}
	if !v.seqs[want] {
		v.addProblem(Deleted, want, "records %d to %d are missing", want, seq-1)
		return
	}
	for s := want; s < seq && v.seqs[s]; s++ {
		v.outOfOrder[s] = true
	}
	v.addProblem(Swapped, want, "record %d is here, record %d comes later", seq, want)
}

// allNumbers returns the numbers of all records of the chain.
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

// checkWitnesses compares the hash of l with the head and the witnesses.
func (v *verifier) checkWitnesses(l *line) {
	if v.head != nil && l.seq == v.head.Seq && hex.EncodeToString(l.hash[:]) != v.head.Hash {
		v.addProblem(Edited, l.seq, "the head was signed over another record %d", l.seq)
	}
	for _, w := range v.witnesses {
		if l.seq == w.Seq && hex.EncodeToString(l.hash[:]) != w.Hash {
			v.addProblem(Edited, l.seq, "%s", w.otherRecordMessage())
		}
	}
}

// checkEnd compares the number of records with the head and the witnesses.
func (v *verifier) checkEnd() {
	last := v.report.Seq
	if v.head != nil && last < v.head.Seq {
		v.addProblem(Cut, last+1, "the head covers %d records, here are %d", v.head.Seq, last)
	} else if v.head != nil {
		v.report.Uncovered = last - v.head.Seq
	}
	for _, w := range v.witnesses {
		if last < w.Seq && (v.head == nil || v.head.Seq < w.Seq) {
			v.addProblem(Cut, last+1, "%s", w.cutMessage(last))
			return
		}
	}
}
