package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/backup"
	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	auditadmin "collie/internal/pipeline/audit/admin"
	"collie/internal/tool"
	vaultadmin "collie/internal/vault/admin"
)

// This file has the commands `collie backup` and `collie restore`.

// Names of the parts of a backup. Another home may have its settings or notes elsewhere, so the vault and the audit
// records are separate parts.
const (
	partConfig = "config"
	partData   = "data"
	partState  = "state"
	partAudit  = "audit"
	partVault  = "vault"
)

// BackupCommand returns the command `collie backup`.
func BackupCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	withSecrets := false
	c := &cobra.Command{
		Use: "backup DIR", Short: "Copy everything that is yours into a folder, even while it is in use", Args: root.NamedArgs("folder"),
		Long: "Copies the notes of the vault, conversations, records, settings, agents and what people have decided\n" +
			"into DIR, a new or empty folder, with a list of all files and their checksums, even while a gateway\n" +
			"runs. Named tokens are in it as hashes. Secrets, sign-ins and the first token are left out unless\n" +
			"you give --with-secrets; secrets that stand in the settings as text are named. Use collie restore\n" +
			"to go back.",
		Example: "  collie backup ~/Backups/collie-monday\n  collie backup /mnt/usb/collie --with-secrets",
		RunE:    func(c *cobra.Command, args []string) error { return p.backup(c.Context(), args[0], withSecrets) },
	}
	c.Flags().BoolVar(&withSecrets, "with-secrets", false, "also copy secrets, sign-ins and the first token")
	return c
}

// RestoreCommand returns the command `collie restore`.
func RestoreCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	var yes, overwrite bool
	c := &cobra.Command{
		Use: "restore DIR", Short: "Put back what collie backup has copied", Args: root.NamedArgs("folder"),
		Long: "Puts the files of DIR, a folder written by collie backup, into this home, after all of them were\n" +
			"checked. A home that holds something is refused, unless you give --overwrite: what was there is kept\n" +
			"in a folder beside it. Stop the gateway first.",
		Example: "  collie restore ~/Backups/collie-monday\n  collie restore ~/Backups/collie-monday --overwrite",
		RunE:    func(c *cobra.Command, args []string) error { return p.restore(c.Context(), args[0], yes, overwrite) },
	}
	c.Flags().BoolVar(&yes, "yes", false, "overwrite without being asked")
	c.Flags().BoolVar(&overwrite, "overwrite", false, "put aside what is in this home")
	return c
}

// secretFiles are the files in the state folder that contain secrets.
var secretFiles = []string{"secrets.age", "secrets.key", "secrets.json", "token", "browsers.json"}

// isPassing reports whether a file only serves the process that made it, or is created again when needed.
func isPassing(at string) bool {
	name := path.Base(at)
	for _, suffix := range []string{".lock", "-wal", "-shm", ".part", ".tmp", ".bak"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	top, _, _ := strings.Cut(at, "/")
	return slices.Contains([]string{"gateway.json", "run", "logs", "pending", "cache.key"}, top)
}

// backupParts returns the parts to back up, without the files of hidden.
func backupParts(cfg *config.Config, v *vaultadmin.Vault, withSecrets bool, hidden *hiddenFiles) []backup.Part {
	folders := []string{cfg.Paths.Data, cfg.Paths.State, cfg.Paths.Cache, cfg.Audit.Dir, cfg.Vault.File, cfg.Cache.File}
	own := func(dir string) func(at string, isDir bool) bool { // skips folders that belong to another part
		return func(at string, _ bool) bool {
			file := filepath.Join(dir, filepath.FromSlash(at))
			return isPassing(at) || slices.Contains(folders, file) || strings.HasPrefix(path.Base(at), ".collie-") || hidden.has(file)
		}
	}
	storeFile, hasStore := app.StoreFile(cfg)
	data := backup.Part{Name: partData, Dir: cfg.Paths.Data, Skip: own(cfg.Paths.Data), Copies: map[string]func(context.Context, string) error{}}
	if rel, err := filepath.Rel(cfg.Paths.Data, storeFile); err == nil && hasStore {
		data.Copies[filepath.ToSlash(rel)] = func(ctx context.Context, to string) error { return app.BackupStore(ctx, cfg, to) }
	}
	inState := own(cfg.Paths.State)
	parts := []backup.Part{
		{Name: partConfig, Dir: cfg.Paths.Config, Skip: own(cfg.Paths.Config)},
		data,
		{Name: partState, Dir: cfg.Paths.State, Skip: func(at string, isDir bool) bool {
			return inState(at, isDir) || !withSecrets && slices.Contains(secretFiles, at)
		}},
		{Name: partAudit, Dir: cfg.Audit.Dir, Skip: func(at string, _ bool) bool { return isPassing(at) }, Append: func(at string) bool { return path.Ext(at) == ".jsonl" }},
	}
	if v.Exists() {
		base := filepath.Base(v.Path())
		parts = append(parts, backup.Part{
			Name: partVault, Dir: filepath.Dir(v.Path()),
			Skip:   func(at string, _ bool) bool { return at != base },
			Copies: map[string]func(context.Context, string) error{base: v.Backup},
		})
	}
	return parts
}

// backup writes a backup into dir and prints what it leaves out.
func (p commands) backup(ctx context.Context, dir string, withSecrets bool) error {
	const op = "backup"
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	for _, own := range []string{cfg.Paths.Config, cfg.Paths.Data, cfg.Paths.State} {
		if rel, err := filepath.Rel(own, dir); err == nil && !strings.HasPrefix(rel, "..") {
			return &tool.Error{Op: op, Kind: tool.Invalid, Subject: dir, Message: "it lies in what is copied: " + own, Hint: "name a folder elsewhere, best on another disk"}
		}
	}
	v := app.OpenVault(cfg, slog.New(slog.DiscardHandler))
	defer v.Close()
	plain, hidden := []string{}, &hiddenFiles{met: []string{}}
	if !withSecrets {
		plain = append(plain, plainSecrets(cfg)...)
		hidden.add(secretFilesInSettings(cfg, p.Env))
	}
	m, err := backup.Write(ctx, dir, backupParts(cfg, v, withSecrets, hidden), backup.Manifest{Made: time.Now().UTC(), Collie: p.Version, Secrets: withSecrets})
	if err != nil {
		return backupError(op, dir, err)
	}
	for _, file := range cfg.Files {
		if rel, err := filepath.Rel(cfg.Paths.Config, file); err != nil || strings.HasPrefix(rel, "..") {
			p.Warn("these settings lie elsewhere and are not in the backup: %s", file)
		}
	}
	if len(m.Unfollowed) > 0 {
		p.Warn("these links lead to folders behind too many other links, and what is there is not in the backup: %s", strings.Join(m.Unfollowed, ", "))
	}
	p.OnRecord(ctx, cfg, op, map[string]any{"backup": dir, "files": len(m.Files), "secrets": withSecrets})
	if p.JSON {
		return p.PrintJSON(map[string]any{"backup": dir, "files": len(m.Files), "size": m.Size(), "secrets": withSecrets, "plain": plain, "leftOut": hidden.met, "unfollowed": append([]string{}, m.Unfollowed...)})
	}
	if len(plain) > 0 {
		p.Warn("these settings hold secrets as text, and the backup has them: %s. Move them with collie secret set, or keep the backup as you keep secrets", strings.Join(plain, ", "))
	}
	if len(hidden.met) > 0 {
		p.Note("these files hold secrets of the settings and are not in it: %s", strings.Join(hidden.met, ", "))
	}
	if !withSecrets {
		p.Note("secrets, sign-ins and the first token are not in it; --with-secrets copies them too")
	}
	_, err = fmt.Fprintf(p.Out, "✓ %s: %s, %s\n", dir, locale.Count(len(m.Files), "file"), output.BinarySize(m.Size()))
	return err
}

// backupError returns an error of package backup, or of the file system, with a hint for people.
func backupError(op, dir string, err error) error {
	e := &tool.Error{Op: op, Kind: tool.Invalid, Subject: dir, Err: err}
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		e.Kind, e.Hint = tool.Exists, "name a new folder; a backup never overwrites one"
	case errors.Is(err, backup.ErrNone):
		e.Kind, e.Hint = tool.NotFound, "name a folder that collie backup has written"
	case errors.Is(err, backup.ErrDamaged):
		e.Hint = "nothing was changed; try an older one"
	case errors.Is(err, backup.ErrNewer):
		e.Hint = "update Collie"
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Hint = tool.Unavailable, "name a place that you may write"
	}
	return e
}

// existingParts returns the paths of the parts of a home that exist already.
func existingParts(cfg *config.Config) (list []string) {
	store, _ := app.StoreFile(cfg)
	for _, at := range []string{cfg.Paths.ConfigFile, cfg.Vault.File, store, cfg.Audit.Dir, filepath.Join(cfg.Paths.State, "tokens.json")} {
		if _, err := os.Lstat(at); err == nil {
			list = append(list, at)
		}
	}
	return list
}

// restore checks the backup in dir, puts aside what this home has, and restores the files.
func (p commands) restore(ctx context.Context, dir string, yes, overwrite bool) error {
	const op = "restore"
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	switch g, err := home.FindGateway(cfg.Paths); {
	case err == nil:
		return &tool.Error{Op: op, Kind: tool.Conflicting, Subject: cfg.Paths.Config, Message: fmt.Sprintf("a gateway is running (pid %d): nothing was changed", g.PID), Hint: "stop it, restore, and start it again"}
	case !errors.Is(err, home.ErrNoGateway):
		return err
	}
	bar := p.NewBar("checking")
	b, err := backup.Open(ctx, dir, bar.Show)
	bar.Close()
	if err != nil {
		return backupError(op, dir, err)
	}
	there := existingParts(cfg)
	if len(there) > 0 && !overwrite {
		return &tool.Error{Op: op, Kind: tool.Exists, Subject: there[0], Message: "this home holds something already: nothing was changed", Hint: "--overwrite puts it aside; --home DIR names another home"}
	}
	if len(there) > 0 && !yes {
		if _, err := p.RequireYes(ctx, locale.Sprintf("put %s in place of what is in this home, which is kept beside it?", dir)); err != nil {
			return err
		}
	}
	kept, err := putAside(cfg, there)
	if err != nil {
		return err
	}
	report, err := p.putBack(ctx, cfg, b)
	if err != nil {
		if kept != "" {
			p.Note("what was there is %s", kept)
		}
		return err
	}
	report.Kept = kept
	return p.showRestored(ctx, dir, b, report)
}

// putAside moves the existing parts of a home into a folder beside it, and returns that folder. If a part cannot be moved, those
// before it are put back.
func putAside(cfg *config.Config, there []string) (kept string, err error) {
	if len(there) == 0 {
		return "", nil
	}
	kept = filepath.Clean(cfg.Paths.Config) + "-before-" + time.Now().Format("20060102-150405")
	for i := 2; ; i++ {
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = fmt.Sprintf("%s-%d", strings.TrimRight(kept, "-0123456789"), i)
	}
	folders := []struct{ name, dir string }{
		{partVault, cfg.Vault.File}, {partAudit, cfg.Audit.Dir}, {partData, cfg.Paths.Data}, {partState, cfg.Paths.State}, {partConfig, cfg.Paths.Config},
	}
	if err := os.MkdirAll(kept, 0o700); err != nil {
		return "", notAsideError(kept, err)
	}
	var moved moves
	for _, f := range folders {
		if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if f.name == partVault {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := moved.rename(f.dir+suffix, filepath.Join(kept, filepath.Base(f.dir)+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return "", moved.undo(kept, f.dir, err)
				}
			}
			continue
		}
		if err := moved.rename(f.dir, filepath.Join(kept, f.name)); err != nil {
			return "", moved.undo(kept, f.dir, err)
		}
	}
	return kept, nil
}

// moves are renamed files and folders, old and new path, in order.
type moves [][2]string

func (m *moves) rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	*m = append(*m, [2]string{from, to})
	return nil
}

// undo puts everything back from the folder kept, after part could not be moved into it because of err, and returns the error for
// the person. It names the folder if something stays there.
func (m *moves) undo(kept, part string, err error) error {
	var failed error
	for _, pair := range slices.Backward(*m) {
		failed = errors.Join(failed, os.Rename(pair[1], pair[0]))
	}
	if failed != nil {
		return &tool.Error{
			Op: "restore", Kind: tool.Unavailable, Subject: part, Err: errors.Join(err, failed),
			Message: "it cannot be put aside, and what was put aside before it cannot be put back",
			Hint:    "the notes and the rest are in " + kept + ": move them back by hand",
		}
	}
	_ = os.Remove(kept) // it is empty
	return notAsideError(part, err)
}

// notAsideError returns the error for a part of the home that cannot be put aside, after which the home is as it was.
func notAsideError(part string, err error) error {
	return &tool.Error{
		Op: "restore", Kind: tool.Unavailable, Subject: part, Err: err, Message: "it cannot be put aside: nothing was changed",
		Hint: "move it away yourself, or restore into another home with --home DIR",
	}
}

// restored is the result of a restore.
type restored struct {
	Files int
	// Records is the number of audit records, Problems the number of failed checks among them.
	Records, Problems int
	Kept              string // folder with what was there before
}

// putBack restores the files of a backup and checks the audit records.
func (p commands) putBack(ctx context.Context, cfg *config.Config, b *backup.Backup) (r restored, err error) {
	put := func(part, dir string) {
		if err == nil {
			n, failed := b.Restore(ctx, part, dir, nil)
			if r.Files += n; failed != nil {
				err = backupError("restore", dir, failed)
			}
		}
	}
	put(partConfig, cfg.Paths.Config)
	put(partData, cfg.Paths.Data)
	put(partState, cfg.Paths.State)
	if err != nil {
		return r, err
	}
	now, _, err := p.Settings() // the restored settings say where the vault and the records are
	if err != nil {
		return r, err
	}
	put(partAudit, now.Audit.Dir)
	if err != nil {
		return r, err
	}
	for _, f := range b.Files {
		if !strings.HasPrefix(f.Path, partVault+"/") {
			continue
		}
		v := app.OpenVault(now, slog.New(slog.DiscardHandler))
		_, failed := v.Restore(ctx, b.File(f.Path), nil)
		if failed = errors.Join(failed, v.Close()); failed != nil {
			return r, failed
		}
		r.Files++
	}
	report, err := auditadmin.Open(now).Verify(ctx)
	if err != nil {
		return r, err
	}
	for _, c := range report.Chains {
		r.Records += c.Records
		r.Problems += len(c.Problems)
	}
	return r, nil
}

func (p commands) showRestored(ctx context.Context, dir string, b *backup.Backup, r restored) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, "restore", map[string]any{"backup": dir, "files": r.Files, "kept": r.Kept})
	if p.JSON {
		err = p.PrintJSON(map[string]any{"backup": dir, "made": b.Made, "files": r.Files, "secrets": b.Secrets, "records": r.Records, "problems": r.Problems, "kept": r.Kept})
	} else {
		if r.Kept != "" {
			p.Note("what was there is %s", r.Kept)
		}
		if !b.Secrets {
			p.Note("secrets and sign-ins are not in this backup: set them again with collie secret set and collie mcp auth")
		}
		_, err = locale.Fprintf(p.Out, "✓ this home is as it was on %s: %s, %s, which verify\n", b.Made.Local().Format("2006-01-02 15:04"), locale.Count(r.Files, "file"), locale.Count(r.Records, "record"))
		if r.Problems > 0 {
			p.Warn("%s in the records; collie audit verify shows them", locale.Count(r.Problems, "problem"))
		}
	}
	if err == nil && r.Problems > 0 {
		err = root.Exit(root.ExitPartial)
	}
	return err
}
