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

// The audit's own types, for callers of [Records].
type (
	// AuditEntry is one record.
	AuditEntry = audit.Entry
	// AuditFilter selects records for [Records.Query].
	AuditFilter = audit.Filter
	// AuditReport is the result of [Records.Verify].
	AuditReport = audit.Report
)

// Records gives access to the audit of a home, with the records of all processes that ever used it. It is
// safe for concurrent use and needs no Close.
type Records struct{ dir string }

// OpenRecords returns the records of the home that cfg belongs to.
func OpenRecords(cfg *config.Config) Records { return Records{cfg.Audit.Dir} }

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
func (r Records) Verify(ctx context.Context) (AuditReport, error) { return audit.Verify(ctx, r.dir) }

// RecordChange records a change that a person made, for commands that have no [App]. It returns when the
// record is on disk.
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
