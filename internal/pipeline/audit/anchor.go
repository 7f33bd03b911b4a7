package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// This file copies signed heads of the chains to a file elsewhere, which shows if somebody replaces the whole log.

// anchorTime is the time between two lines of a chain in the anchor while the chain grows.
const anchorTime = 5 * time.Minute

// maxAnchorLine bounds a line of an anchor. A head has about 350 bytes.
const maxAnchorLine = 64 << 10

// anchor appends signed heads to a file outside the folder of the log. A nil anchor does nothing.
type anchor struct {
	path   string
	log    *slog.Logger
	next   time.Time // when the next line is due
	seq    uint64    // number of the record that the newest line covers
	failed bool      // the last attempt failed, and the log says so
}

func newAnchor(path string, log *slog.Logger) *anchor {
	if path == "" {
		return nil
	}
	return &anchor{path: path, log: log}
}

// add appends a head to the anchor, unless the anchor has it already or the last one was written less than anchorTime ago.
// The last head of a chain is appended at any time. text is the content of the head's file. If that fails, the chain goes on without the anchor, because its file may be on a disk that is not
// always mounted.
func (a *anchor) add(seq uint64, text []byte, now time.Time, last bool) {
	if a == nil || seq == a.seq || !last && now.Before(a.next) {
		return
	}
	err := appendToFile(a.path, text)
	if err == nil {
		a.seq, a.next = seq, now.Add(anchorTime)
	}
	switch {
	case err != nil && !a.failed:
		a.log.Warn("the audit cannot be anchored; records are kept without it", "file", a.path, "error", err)
	case err == nil && a.failed:
		a.log.Info("the audit is anchored again", "file", a.path)
	}
	a.failed = err != nil
}

// appendToFile appends text in one write, so that the lines of several processes do not mix.
func appendToFile(path string, text []byte) (err error) {
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(text)
	return err
}

// prunedLine is a line of the anchor about records that were removed on purpose.
type prunedLine struct {
	Chain     string `json:"chain"`
	Pruned    uint64 `json:"pruned"` // number of the newest record that was removed
	Whole     bool   `json:"whole"`  // no part of the chain was kept
	Time      string `json:"time"`
	Signature string `json:"signature"`
}

func (p *prunedLine) signed() []byte {
	return fmt.Appendf(nil, "collie audit pruned v1\n%s\n%d\n%t\n%s\n", p.Chain, p.Pruned, p.Whole, p.Time)
}

func (p *prunedLine) sign(k *signingKey) { p.Signature = k.sign(p.signed()) }

func (p *prunedLine) isSignedBy(k *signingKey) bool { return k.isSigned(p.signed(), p.Signature) }

// readAnchor returns the newest head of each chain in the anchor at path, and the removals recorded there. Entries
// that are not signed by key are reported as problems and left out.
func readAnchor(path string, key *signingKey) (map[string]head, []prunedDetail, AnchorReport, error) {
	report := AnchorReport{Path: path}
	f, err := os.Open(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		report.Missing = true
		return nil, nil, report, nil
	}
	if err != nil {
		return nil, nil, report, fmt.Errorf("read anchor: %w", err)
	}
	defer f.Close()
	newest := map[string]head{}
	lineOf := map[string]int{}
	var pruned []prunedDetail
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxAnchorLine)
	for n := 1; lines.Scan(); n++ {
		var h head
		var p prunedLine
		switch {
		case json.Unmarshal(lines.Bytes(), &h) != nil || !isChainName(h.Chain):
			report.addProblem(n, 0, "the line is not a head")
		case json.Unmarshal(lines.Bytes(), &p) == nil && p.Pruned > 0:
			if key == nil || !p.isSignedBy(key) {
				report.addProblem(n, p.Pruned, "the removal of chain %s was signed with another key, or the line was made up", p.Chain)
				continue
			}
			pruned = append(pruned, prunedDetail{Time: p.Time, Chains: []prunedChain{{Chain: p.Chain, Seq: p.Pruned, Whole: p.Whole}}})
		default:
			if before, known := newest[h.Chain]; !known || h.Seq >= before.Seq {
				newest[h.Chain], lineOf[h.Chain] = h, n
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, report, fmt.Errorf("read anchor %s: %w", path, err)
	}
	report.Chains = len(newest)
	for _, chain := range slices.Sorted(maps.Keys(newest)) {
		h := newest[chain]
		if key == nil || !h.isSignedBy(key) {
			delete(newest, chain)
			report.addProblem(lineOf[chain], h.Seq, "chain %s was signed with another key: the folder of the audit has been replaced, or the line was made up", chain)
		}
	}
	return newest, pruned, report, nil
}

func (a *AnchorReport) addProblem(line int, seq uint64, format string, args ...any) {
	if len(a.Problems) < maxProblems {
		a.Problems = append(a.Problems, Problem{AnchorForged, a.Path, line, seq, fmt.Sprintf(format, args...)})
	}
}
