package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"time"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/process"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// The audit's own types, for callers of [Records].
type (
	// AuditEntry is one record.
	AuditEntry = audit.Entry
	// AuditFilter selects records for [Records.Query].
	AuditFilter = audit.Filter
	// AuditProblem is a fault that [Records.Verify] found.
	AuditProblem = audit.Problem
	// AuditPruned is the result of [PruneRecords].
	AuditPruned = audit.PruneReport
	// AuditExported is the result of [Records.Export].
	AuditExported = audit.Exported
	// AuditExportReport is the result of [VerifyAuditExport].
	AuditExportReport = audit.ExportReport
	// AuditReport is the result of [Records.Verify].
	AuditReport = audit.Report
)

// Records gives access to the audit of a home, with the records of all processes that ever used it. It is
// safe for concurrent use and needs no Close.
type Records struct{ dir, anchor string }

// OpenRecords returns the records of the home that cfg belongs to.
func OpenRecords(cfg *config.Config) Records { return Records{cfg.Audit.Dir, cfg.Audit.Anchor} }

// Dir returns the folder of the records. It need not exist.
func (r Records) Dir() string { return r.dir }

// Tail yields the newest n records, oldest first. With follow it goes on with new ones until ctx ends. An
// error ends the sequence.
func (r Records) Tail(ctx context.Context, n int, follow bool) iter.Seq2[AuditEntry, error] {
	return audit.Tail(ctx, r.dir, n, follow)
}

// Query yields the records that match f, oldest first. An error ends the sequence.
func (r Records) Query(ctx context.Context, f AuditFilter) iter.Seq2[AuditEntry, error] {
	return audit.Query(ctx, r.dir, f)
}

// Verify checks the records for later changes, also against the anchor if the settings name one. The report lists the chains by age with what was found. An
// error means that the records could not be read.
func (r Records) Verify(ctx context.Context) (AuditReport, error) {
	return audit.Verify(ctx, r.dir, r.anchor)
}

// Export writes the records from since until before until to w, zero times being no bounds: as lines with proofs that
// [VerifyAuditExport] checks, or as CSV. It does not put that on record; [RecordExport] does.
func (r Records) Export(ctx context.Context, w io.Writer, asCSV bool, since, until time.Time) (AuditExported, error) {
	if asCSV {
		return audit.ExportCSV(ctx, r.dir, w, since, until)
	}
	return audit.Export(ctx, r.dir, w, since, until)
}

// Fingerprint returns the fingerprint of the key that signs the records, SHA-256 in hex; "" if there is none yet.
func (r Records) Fingerprint() (string, error) { return audit.Fingerprint(r.dir) }

// VerifyAuditExport checks what [Records.Export] wrote as lines. name stands in problems.
func VerifyAuditExport(r io.Reader, name string) (AuditExportReport, error) {
	return audit.VerifyExport(r, name)
}

// RecordExport records that somebody exported the audit. detail says what; it is JSON.
func RecordExport(ctx context.Context, cfg *config.Config, o Options, detail json.RawMessage) error {
	opts := auditOptions(cfg, o)
	log, err := audit.Open(cfg.Audit.Dir, &opts)
	if err != nil {
		return err
	}
	rec := tool.Record{Kind: audit.KindExport, Origin: tool.Direct, Name: "audit", Detail: detail}
	return errors.Join(log.AppendSync(ctx, rec), log.Close())
}

// RecordChange records a change that a person made, for commands that have no [App]. It returns when the
// record is on disk.
func RecordChange(ctx context.Context, cfg *config.Config, o Options, rec tool.Record) error {
	opts := auditOptions(cfg, o)
	log, err := audit.Open(cfg.Audit.Dir, &opts)
	if err != nil {
		return err
	}
	return errors.Join(log.Change(ctx, rec), log.Close())
}

func auditOptions(cfg *config.Config, o Options) audit.Options {
	specs, _ := serveradmin.Specs(cfg, o.Env)
	return audit.Options{
		Secrets: secrets(cfg, o.Env, specs), Content: audit.Content(cfg.Audit.Content), Version: o.Version, Logger: o.Logger,
		Anchor: cfg.Audit.Anchor,
	}
}

// PruneRecords removes the records of the home that cfg belongs to that are older than before, in whole segments, and
// puts that on record. A dry run only says what it would remove.
func PruneRecords(ctx context.Context, cfg *config.Config, o Options, before time.Time, origin tool.Origin, dryRun bool) (AuditPruned, error) {
	return audit.Prune(ctx, cfg.Audit.Dir, audit.PruneOptions{
		Before: before, Origin: origin, DryRun: dryRun, Alive: process.Alive, Log: auditOptions(cfg, o),
	})
}

// The times of a [retention].
const (
	firstPrune = time.Minute // after the start, which it must not slow down
	nextPrune  = 24 * time.Hour
)

// retention removes old records while a process runs. The zero value does nothing.
type retention struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// keepRecords starts the removal of records that are older than cfg says, if it says so.
func keepRecords(ctx context.Context, cfg *config.Config, o Options) retention {
	if cfg.Audit.Keep == 0 {
		return retention{}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := retention{cancel, make(chan struct{})}
	go func() {
		defer close(r.done)
		wait := time.NewTimer(firstPrune)
		defer wait.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-wait.C:
			}
			switch p, err := PruneRecords(ctx, cfg, o, time.Now().Add(-cfg.Audit.Keep), tool.Scheduled, false); {
			case ctx.Err() != nil:
				return
			case err != nil:
				o.Logger.Warn("old records of the audit not removed", "error", err)
			case p.Segments > 0:
				o.Logger.Info("old records of the audit removed", "records", p.Records, "bytes", p.Bytes, "chains", p.Chains)
			case len(p.Kept) > 0:
				o.Logger.Warn("old records of the audit are kept: collie audit verify finds problems in them", "chains", p.Kept)
			}
			wait.Reset(nextPrune)
		}
	}()
	return r
}

func (r retention) close() {
	if r.cancel != nil {
		r.cancel()
		<-r.done
	}
}

// The gate's own types, for callers that answer waiting calls.
type (
	// Pending gives access to the calls of a home that wait for a person. It needs no Close.
	Pending = gate.Pending
	// PendingCall is a call that waits.
	PendingCall = gate.Waiting
)

// PendingWaiting is the state of a PendingCall that nobody has answered.
const PendingWaiting = gate.StateWaiting

// OpenPending returns the waiting calls of the home that cfg belongs to, of all its processes.
func OpenPending(cfg *config.Config) Pending { return gate.OpenPending(pendingDir(cfg)) }

func pendingDir(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "pending") }
