package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
	vaultadmin "collie/internal/vault/admin"
)

// This file keeps folders of Markdown equal to notebooks of the vault while a gateway runs.

// syncing keeps the folders in the settings in sync with their notebooks.
type syncing struct {
	app *app.App
	env config.Env
	log *slog.Logger

	mu     sync.Mutex
	file   string   // file of the vault
	dirs   []string // folders that are synced
	cancel context.CancelFunc
	done   chan struct{}
}

// applySettings stops syncing the folders of the old settings and starts syncing those of new ones. It does nothing if they are the
// same.
func (s *syncing) applySettings(cfg *config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cfg.Vault.File == s.file && slices.Equal(cfg.Vault.Sync, s.dirs) {
		return
	}
	s.stopLocked()
	s.file, s.dirs = cfg.Vault.File, slices.Clone(cfg.Vault.Sync)
	if len(s.dirs) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	v := app.OpenVaultToFill(cfg, s.env, s.log)
	r := &syncRecorder{app: s.app, log: s.log, vault: v, told: map[string]string{}}
	go func() {
		defer close(s.done)
		vaultadmin.Follow(ctx, v.Path(), s.dirs, vaultadmin.FollowOptions{Sync: r.sync, Logger: s.log})
		if err := v.Close(); err != nil {
			s.log.Warn("the vault was not closed", "error", err)
		}
	}()
}

// stopLocked stops syncing. A running sync stops after the current file, and end waits for it. The caller holds s.mu.
func (s *syncing) stopLocked() {
	if s.cancel != nil {
		s.cancel()
		<-s.done
		s.cancel = nil
	}
}

func (s *syncing) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

// syncRecorder syncs folders, and logs and records the outcomes.
type syncRecorder struct {
	app   *app.App
	log   *slog.Logger
	vault *vaultadmin.Vault

	mu   sync.Mutex
	told map[string]string // last logged outcome by folder
}

// sync syncs one folder with its notebook. Outcomes that need a person are logged once, until they change.
func (r *syncRecorder) sync(ctx context.Context, dir string) {
	report, err := r.vault.Sync(ctx, dir, vaultadmin.FolderSync{}, nil)
	if ctx.Err() != nil {
		return
	}
	log := r.log
	switch {
	case err != nil:
		if r.storeIfNew(dir, err.Error()) {
			log.Warn("the folder is not kept equal", "folder", dir, "error", err)
		}
	case report.Held.Count() > 0:
		if r.storeIfNew(dir, heldText(report.Held)) {
			log.Warn("deletions wait for a person: collie vault sync shows them", "folder", dir, "files", len(report.Held.Files), "documents", len(report.Held.Documents))
		}
	default:
		r.storeIfNew(dir, "") // so that the next problem is logged, even the same one
	}
	if report.Idle || report.Documents+report.Files+vaultadmin.CountRemoved(&report) == 0 {
		return
	}
	detail, err := json.Marshal(vaultadmin.SyncDetail(r.vault.Path(), dir, &report))
	if err == nil {
		err = r.app.Audit.Change(ctx, tool.Record{Name: "vault sync", Origin: tool.Direct, Principal: "serve", Client: "collie", Detail: detail})
	}
	if err != nil {
		log.Warn("the change is not on record", "error", err)
	}
	log.Info("folder and notebook are equal", "folder", dir, "documents", report.Documents, "files", report.Files)
}

// heldText returns deletions that wait for a person as a text, to compare them with those of the last sync.
func heldText(d vaultadmin.FolderDeletions) string {
	data, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// storeIfNew stores a text as the last one for a folder, and reports whether it differs from the one before.
func (r *syncRecorder) storeIfNew(dir, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.told[dir]
	r.told[dir] = text
	return text != before
}
