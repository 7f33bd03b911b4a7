// Package admin reads, verifies and exports the records of a home, for people: the command line and the API use it.
// The entry point is [Open].
package admin

import (
	"context"
	"io"
	"iter"
	"time"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
)

// The audit's own types, for callers of [Records].
type (
	// Entry is one record.
	Entry = audit.Entry
	// Filter selects records for [Records.Query].
	Filter = audit.Filter
	// Problem is a fault that [Records.Verify] found.
	Problem = audit.Problem
	// Pruned says what was removed.
	Pruned = audit.PruneReport
	// Exported is the result of [Records.Export].
	Exported = audit.Exported
	// ExportReport is the result of [VerifyExport].
	ExportReport = audit.ExportReport
	// Report is the result of [Records.Verify].
	Report = audit.Report
)

// Records gives access to the audit of a home, with the records of all processes that ever used it. It is
// safe for concurrent use and needs no Close.
type Records struct{ dir, anchor string }

// Open returns the records of the home that cfg belongs to.
func Open(cfg *config.Config) Records { return Records{cfg.Audit.Dir, cfg.Audit.Anchor} }

// Dir returns the folder of the records. It need not exist.
func (r Records) Dir() string { return r.dir }

// Tail yields the newest n records, oldest first. With follow it goes on with new ones until ctx ends. An
// error ends the sequence.
func (r Records) Tail(ctx context.Context, n int, follow bool) iter.Seq2[Entry, error] {
	return audit.Tail(ctx, r.dir, n, follow)
}

// Query yields the records that match f, oldest first. An error ends the sequence.
func (r Records) Query(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return audit.Query(ctx, r.dir, f)
}

// Verify checks the records for later changes, also against the anchor if the settings name one. The report lists the chains by age with what was found. An
// error means that the records could not be read.
func (r Records) Verify(ctx context.Context) (Report, error) {
	return audit.Verify(ctx, r.dir, r.anchor)
}

// Export writes the records from since until before until to w, zero times being no bounds: as lines with proofs that
// [VerifyExport] checks, or as CSV. It does not put that on record.
func (r Records) Export(ctx context.Context, w io.Writer, asCSV bool, since, until time.Time) (Exported, error) {
	if asCSV {
		return audit.ExportCSV(ctx, r.dir, w, since, until)
	}
	return audit.Export(ctx, r.dir, w, since, until)
}

// Fingerprint returns the fingerprint of the key that signs the records, SHA-256 in hex; "" if there is none yet.
func (r Records) Fingerprint() (string, error) { return audit.Fingerprint(r.dir) }

// VerifyExport checks what [Records.Export] wrote as lines. name stands in problems.
func VerifyExport(r io.Reader, name string) (ExportReport, error) {
	return audit.VerifyExport(r, name)
}
