package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

// This file removes old records so that the rest can still be verified.

// kindPrune is the kind of records about chains that were removed, as a whole or in part.
const kindPrune = "prune"

const (
	pruneLockFile = "prune.lock"
	pruneLockWait = 10 * time.Second
	// prunedPerRecord bounds the chains that one record names.
	prunedPerRecord = 200
)

// PruneOptions of [Prune].
type PruneOptions struct {
	// Before is the time up to which records are removed.
	Before time.Time
	// Origin of the records that Prune writes.
	Origin tool.Origin
	// DryRun removes nothing.
	DryRun bool
	// Alive reports whether the process with this id runs. It may still write the chain that has
	// its id.
	Alive func(pid int) bool
	// Log opens the log that records the removal. Its Anchor is read as well.
	Log Options
}

// PruneReport says what [Prune] removed, or would remove.
type PruneReport struct {
	// Chains were removed as a whole; Segments, Records and Bytes include those of all chains.
	Chains, Segments, Records int
	Bytes                     int64
	// Kept are chains that stay though they are old: Verify finds problems in them.
	Kept []string
}

// prunedDetail is the detail of a record of kind prune.
type prunedDetail struct {
	Time   string        `json:"time"`   // when they were removed, in timeLayout
	Before string        `json:"before"` // records from then on were kept
	Chains []prunedChain `json:"chains"`
}

// prunedChain names the newest record of a chain that was removed.
type prunedChain struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
	Hash  string `json:"hash"`
	Whole bool   `json:"whole,omitempty"` // no part of the chain was kept
}

// Prune removes the oldest segments of each chain in dir, as long as all records in them are older than o.Before, and
// whole chains whose process has ended. Each removal is recorded first, in a chain of its own and in the anchor, so
// that [Verify] can tell it from other deletions. After an error the rest is not removed; what was removed is on
// record.
func Prune(ctx context.Context, dir string, o PruneOptions) (PruneReport, error) {
	lockCtx, cancel := context.WithTimeout(ctx, pruneLockWait)
	defer cancel()
	if _, err := os.Stat(dir); err != nil {
		return PruneReport{}, ignoreMissing(err)
	}
	unlock, err := atomicfile.Lock(lockCtx, filepath.Join(dir, pruneLockFile))
	if err != nil {
		return PruneReport{}, fmt.Errorf("prune audit log: another process prunes it: %w", err)
	}
	defer unlock()
	p := &pruner{dir: dir, options: &o}
	if err := p.plan(ctx); err != nil {
		return PruneReport{}, fmt.Errorf("prune audit log: %w", err)
	}
	if o.DryRun || len(p.chains) == 0 {
		return p.report, nil
	}
	if err = p.removeOnRecord(ctx, p.remove); err != nil {
		return p.report, fmt.Errorf("prune audit log: %w", err)
	}
	return p.report, nil
}

// pruner finds and removes what is old.
type pruner struct {
	dir     string
	options *PruneOptions
	report  PruneReport
	chains  []oldChain
	former  []prunedDetail // of the records of kind prune that will be removed
	began   []time.Time    // when the chains that stay began
	// now is the time of the removal and of the records that are being written about it. The chain that records the
	// removal begins with its first record and counts the chains that are still there, so it must not begin after the
	// removal.
	now time.Time
}

// oldChain is the part of a chain that is to be removed.
type oldChain struct {
	prunedChain
	segments []string // paths, oldest first
}

func (p *pruner) plan(ctx context.Context) error {
	verdict, err := Verify(ctx, p.dir, p.options.Log.Anchor)
	if err != nil {
		return err
	}
	for i := range verdict.Chains {
		c := &verdict.Chains[i]
		old, err := p.oldSegments(c)
		if err != nil {
			return err
		}
		if len(old.segments) > 0 && !c.OK() {
			p.report.Kept = append(p.report.Kept, c.Chain)
			old.segments = nil
		}
		if !old.Whole || len(old.segments) == 0 {
			p.began = append(p.began, startTime(c.Chain))
		}
		if len(old.segments) > 0 {
			p.chains = append(p.chains, old)
		}
	}
	return p.countRemoved()
}

// oldSegments returns the segments of a chain that are old enough. The newest one of a chain that may still grow is not.
func (p *pruner) oldSegments(c *ChainReport) (oldChain, error) {
	old := oldChain{prunedChain: prunedChain{Chain: c.Chain}}
	folder := filepath.Join(p.dir, c.Chain)
	names, err := segments(folder)
	if err != nil {
		return old, ignoreMissing(err) // a missing chain is a problem that Verify reports
	}
	for i, name := range names {
		path := filepath.Join(folder, name)
		data, err := os.ReadFile(path)
		if err != nil {
			return old, err
		}
		last, ok := lastLine(data)
		final := i == len(names)-1
		if !ok || !last.when().Before(p.options.Before) || final && !c.Ended && p.mayBeWriting(c.Chain) {
			break
		}
		old.segments = append(old.segments, path)
		old.Seq, old.Hash, old.Whole = last.seq, hex.EncodeToString(last.hash[:]), final
	}
	return old, nil
}

// countRemoved fills in the report, and finds the records about former removals.
func (p *pruner) countRemoved() error {
	for i := range p.chains {
		c := &p.chains[i]
		if c.Whole {
			p.report.Chains++
		}
		p.report.Segments += len(c.segments)
		for _, path := range c.segments {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			p.report.Bytes += int64(len(data))
			p.report.Records += bytes.Count(data, []byte{'\n'})
			for _, raw := range wholeLines(data) {
				if detail, ok := readPruned(raw); ok {
					p.former = append(p.former, detail)
				}
			}
		}
	}
	return nil
}

// removeOnRecord writes the removal into the audit, and runs it.
func (p *pruner) removeOnRecord(ctx context.Context, remove func() error) error {
	p.now = time.Now()
	if err := p.writeToAnchor(p.now.UTC().Format(timeLayout)); err != nil {
		return err
	}
	if err := p.recordRemoval(ctx); err != nil {
		return err
	}
	return errors.Join(remove(), p.recordEnd(ctx))
}

// recordRemoval writes the removal into the audit. It repeats former removals that remaining chains need: a chain that
// began before a removal still names the removed chains.
func (p *pruner) recordRemoval(ctx context.Context) error {
	details := slices.DeleteFunc(p.former, func(d prunedDetail) bool {
		at, err := time.Parse(timeLayout, d.Time)
		return err == nil && !slices.ContainsFunc(p.began, func(t time.Time) bool { return t.Before(at) })
	})
	return p.appendRecords(ctx, append(details, p.details(p.chains)...))
}

// recordEnd writes the removal of whole chains into the audit once more, with the time at which it has ended, if a
// chain began meanwhile: that one may have counted some of them.
func (p *pruner) recordEnd(ctx context.Context) error {
	ids, err := chainIDs(p.dir)
	if err != nil || !slices.ContainsFunc(ids, func(id string) bool { return startTime(id).After(p.now) }) {
		return err
	}
	p.now = time.Now()
	return p.appendRecords(ctx, p.details(slices.DeleteFunc(slices.Clone(p.chains), func(c oldChain) bool { return !c.Whole })))
}

// details returns what is recorded about the removal of chains.
func (p *pruner) details(chains []oldChain) (list []prunedDetail) {
	stamp, before := p.now.UTC().Format(timeLayout), p.options.Before.UTC().Format(timeLayout)
	for some := range slices.Chunk(chains, prunedPerRecord) {
		d := prunedDetail{Time: stamp, Before: before}
		for i := range some {
			d.Chains = append(d.Chains, some[i].prunedChain)
		}
		list = append(list, d)
	}
	return list
}

// appendRecords writes records in a chain of its own.
func (p *pruner) appendRecords(ctx context.Context, details []prunedDetail) error {
	log, err := Open(p.dir, &p.options.Log)
	if err != nil {
		return err
	}
	for i := range details {
		if err = p.appendRecord(ctx, log, &details[i]); err != nil {
			break
		}
	}
	return errors.Join(err, log.Close()) // Close signs a head over them
}

func (p *pruner) appendRecord(ctx context.Context, log *Log, d *prunedDetail) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return log.AppendSync(ctx, tool.Record{Time: p.now, Kind: kindPrune, Origin: p.options.Origin, Detail: text})
}

// writeToAnchor writes the removal into the anchor, which names chains for ever.
func (p *pruner) writeToAnchor(stamp string) error {
	path := p.options.Log.Anchor
	if path == "" {
		return nil
	}
	key, err := openKey(p.dir)
	if err != nil {
		return err
	}
	var text []byte
	for i := range p.chains {
		line := prunedLine{Chain: p.chains[i].Chain, Pruned: p.chains[i].Seq, Whole: p.chains[i].Whole, Time: stamp}
		line.sign(key)
		encoded, err := json.Marshal(line)
		if err != nil {
			return err
		}
		text = append(append(text, encoded...), '\n')
	}
	if err := appendToFile(path, text); err != nil {
		return fmt.Errorf("the anchor must be updated first: %w", err)
	}
	return nil
}

// remove removes the segments. A folder is renamed first, so that readers never find half of it.
func (p *pruner) remove() error {
	for i := range p.chains {
		c := &p.chains[i]
		if c.Whole {
			folder := filepath.Join(p.dir, c.Chain)
			hidden := filepath.Join(p.dir, "."+c.Chain)
			if err := os.Rename(folder, hidden); err != nil {
				return err
			}
			if err := os.RemoveAll(hidden); err != nil {
				return err
			}
			continue
		}
		for _, path := range c.segments {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// readPruned returns the detail of raw if that is a record of kind prune.
func readPruned(raw []byte) (d prunedDetail, ok bool) {
	if !hasKind(raw, kindPrune) {
		return d, false
	}
	var rec struct {
		Detail prunedDetail `json:"detail"`
	}
	return rec.Detail, json.Unmarshal(raw, &rec) == nil
}

// lastLine returns the last whole line of a segment.
func lastLine(data []byte) (line, bool) {
	data = bytes.TrimSuffix(data[:bytes.LastIndexByte(data, '\n')+1], []byte{'\n'})
	return parseLine(data[bytes.LastIndexByte(data, '\n')+1:])
}

// mayBeWriting reports whether the process may run that writes a chain. The id of another process, or of another
// machine, can only keep a chain that could go.
func (p *pruner) mayBeWriting(id string) bool {
	pid, err := strconv.Atoi(strings.Split(id, "-")[1]) // isChainName has checked the form
	return err == nil && p.options.Alive(pid)
}

// ignoreMissing returns err unless a file or folder does not exist, as when it has been pruned meanwhile.
func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
