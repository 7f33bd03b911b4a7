package app

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"collie/internal/config"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/process"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/tool"
)

// This file writes and prunes audit records for commands that have no [App], and opens the calls that wait for a person.

// RecordExport records an export of the audit. detail describes it as JSON.
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

// auditOptions returns the options of an audit log with the settings and secrets of cfg.
func auditOptions(cfg *config.Config, o Options) audit.Options {
	specs, _ := serveradmin.Specs(cfg, o.Env)
	return auditOptionsHiding(secrets(cfg, o.Env, specs), cfg, o)
}

// auditOptionsHiding is like auditOptions where the secrets are known.
func auditOptionsHiding(secrets []string, cfg *config.Config, o Options) audit.Options {
	return audit.Options{Secrets: secrets, Content: audit.Content(cfg.Audit.Content), Version: o.Version, Logger: o.Logger, Anchor: cfg.Audit.Anchor}
}

// PruneRecords removes audit records that are older than before, in whole segments, and records that. A dry run only
// returns what it would remove.
func PruneRecords(ctx context.Context, cfg *config.Config, o Options, before time.Time, dryRun bool) (audit.PruneReport, error) {
	return audit.Prune(ctx, cfg.Audit.Dir, audit.PruneOptions{
		Before: before, Origin: tool.Direct, DryRun: dryRun, Alive: process.Alive, Log: auditOptions(cfg, o),
	})
}

// The gate's own types, for callers that answer waiting calls.
type (
	// Pending gives access to the calls of a home that wait for a person. It needs no Close.
	Pending = gate.Pending
	// PendingCall is a call that waits.
	PendingCall = gate.Waiting
)

// PendingWaiting is the state of a PendingCall that has no answer yet.
const PendingWaiting = gate.StateWaiting

// OpenPending returns the waiting calls of the home that cfg belongs to, of all its processes.
func OpenPending(cfg *config.Config) Pending { return gate.OpenPending(pendingDir(cfg)) }

func pendingDir(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "pending") }
