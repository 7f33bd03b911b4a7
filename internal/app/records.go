package app

import (
	"context"
	"errors"
	"iter"
	"path/filepath"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// The audit's own types, for those who read it through [Records].
type (
	// AuditEntry is one record.
	AuditEntry = audit.Entry
	// AuditFilter says which records [Records.Query] yields.
	AuditFilter = audit.Filter
	// AuditReport is what a check of the records found.
	AuditReport = audit.Report
)

// Records is the handle on the audit of a home: on the records of all processes that ever
// used it. It is safe for concurrent use and needs no Close.
type Records struct{ dir string }

// OpenRecords returns the records of the home that cfg belongs to.
func OpenRecords(cfg *config.Config) Records { return Records{cfg.Audit.Dir} }

// Dir is the folder of the records. It need not exist.
func (r Records) Dir() string { return r.dir }

// Tail yields the newest n records, oldest first, and with follow those that come, until
// ctx ends. An error ends the sequence.
func (r Records) Tail(ctx context.Context, n int, follow bool) iter.Seq2[AuditEntry, error] {
	return audit.Tail(ctx, r.dir, n, follow)
}

// Query yields the records that f wants, oldest first. An error ends the sequence.
func (r Records) Query(ctx context.Context, f AuditFilter) iter.Seq2[AuditEntry, error] {
	return audit.Query(ctx, r.dir, f)
}

// Verify looks for anything that was changed. What it finds is in the report, in which
// chains stand by age; the error is about reading.
func (r Records) Verify(ctx context.Context) (AuditReport, error) { return audit.Verify(ctx, r.dir) }

// RecordChange puts a change that a person made on record, for commands that need no [App],
// and returns when it is on disk.
func RecordChange(ctx context.Context, cfg *config.Config, o Options, rec tool.Record) error {
	specs, _ := serveradmin.Specs(cfg, o.Env)
	log, err := audit.Open(cfg.Audit.Dir, &audit.Options{
		Secrets: secrets(specs), Content: audit.Content(cfg.Audit.Content), Version: o.Version, Logger: o.Logger,
	})
	if err != nil {
		return err
	}
	return errors.Join(log.Change(ctx, rec), log.Close())
}

// The gate's own types, for those who answer what waits.
type (
	// Pending is the handle on the calls of a home that wait for a person. It needs no Close.
	Pending = gate.Pending
	// PendingCall is one of them.
	PendingCall = gate.Waiting
)

// PendingWaiting is the state of a PendingCall that nobody has answered.
const PendingWaiting = gate.StateWaiting

// OpenPending returns the calls that wait in the home that cfg belongs to, whichever process
// they were made in.
func OpenPending(cfg *config.Config) Pending { return gate.OpenPending(pendingDir(cfg)) }

func pendingDir(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "pending") }
