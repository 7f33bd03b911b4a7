package app

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"collie/internal/config"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	vaultadmin "collie/internal/vault/admin"
	"collie/internal/vault/workspace"
)

// makeVaultWithNote creates a vault with one document and returns the settings.
func makeVaultWithNote(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg := settingsWithVault(t)
	dir := filepath.Join(t.TempDir(), "Notes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "page.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v := OpenVaultToFill(cfg, config.EnvOf(), slog.New(slog.DiscardHandler))
	defer v.Close()
	if _, err := v.Import(t.Context(), dir, vaultadmin.FolderImport{}, nil); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// readNote returns the text of the one document in a vault that makeVaultWithNote has made.
func readNote(t *testing.T, cfg *config.Config) string {
	t.Helper()
	v := OpenVault(cfg, nil)
	defer v.Close()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := v.Export(t.Context(), out, vaultadmin.FolderExport{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "Notes", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRestore(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"sound":   func(string) error { return nil },
		"gone":    os.Remove,
		"noise":   func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("noise"), 9000), 0o600) },
		"cut":     func(path string) error { return os.Truncate(path, 20_000) },
		"a log":   func(path string) error { return os.WriteFile(path+"-wal", []byte("of another file"), 0o600) },
		"another": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		cfg := makeVaultWithNote(t, "as it was")
		backup := makeBackup(t, cfg)
		if err := damage(cfg.Vault.File); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(cfg.Vault.File)
		kept, _ := os.ReadFile(backup)
		r, err := OpenVault(cfg, nil).Restore(t.Context(), backup, nil)
		if err != nil || r.Documents != 1 || (r.Kept == "") != (name == "gone") {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		if r.Kept != "" {
			if after, err := os.ReadFile(r.Kept); err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s: what is kept is not what was there: %v", name, err)
			}
		}
		if after, err := os.ReadFile(backup); err != nil || !bytes.Equal(kept, after) {
			t.Errorf("%s: the backup was changed: %v", name, err)
		}
		if got := readNote(t, cfg); !strings.Contains(got, "as it was") {
			t.Errorf("%s: %s", name, got)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(cfg.Vault.File), ".collie-restore-*")); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

// TestVaultBehindALink restores and salvages a vault whose path is a symbolic link. SQLite keeps the log beside the file itself.
func TestVaultBehindALink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SQLite resolves no links there")
	}
	cfg := makeVaultWithNote(t, "as it was")
	backup := makeBackup(t, cfg)
	file := filepath.Join(t.TempDir(), "elsewhere.db")
	if err := os.Rename(cfg.Vault.File, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, cfg.Vault.File); err != nil {
		t.Skip("this system has no symbolic links for this user:", err)
	}
	w, err := workspace.Open(t.Context(), file, workspace.Options{}) // as long as it is open, the log is not merged
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	notes := filepath.Join(t.TempDir(), "Later")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(notes, "later.md"), []byte("only in the log"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := OpenVaultToFill(cfg, config.EnvOf(), slog.New(slog.DiscardHandler))
	defer v.Close()
	if _, err := v.Import(t.Context(), notes, vaultadmin.FolderImport{}, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := v.Info(t.Context()); err != nil || info.Size <= fileSize(t, file) || fileSize(t, file+"-wal") == 0 {
		t.Errorf("%d bytes without the log, %+v, %v", fileSize(t, file), info, err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, _, err := OpenVault(cfg, nil).Salvage(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "Later", "later.md")); err != nil || !strings.Contains(string(page), "only in the log") {
		t.Errorf("what is only in the log is not salvaged: %s, %v", page, err)
	}
	if err := errors.Join(v.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+"-wal", []byte("of another file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenVault(cfg, nil).Restore(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(cfg.Vault.File); err != nil || to != file {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if _, err := os.Stat(file + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the log of the file that was replaced is still there:", err)
	}
	if got := readNote(t, cfg); !strings.Contains(got, "as it was") {
		t.Error(got)
	}
}

func fileSize(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	cfg := makeVaultWithNote(t, "as it was")
	sound, err := os.ReadFile(cfg.Vault.File)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sound)
	for at := 4096; at < len(damaged); at += 3 * 4096 {
		clear(damaged[at : at+1000])
	}
	for name, data := range map[string][]byte{"damaged": damaged, "cut": sound[:30_000], "text": []byte("no vault"), "empty": nil} {
		backup := filepath.Join(t.TempDir(), "backup.db")
		if err := os.WriteFile(backup, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenVault(cfg, nil).Restore(t.Context(), backup, nil)
		if now, _ := os.ReadFile(cfg.Vault.File); tool.KindOf(err) != tool.Invalid || !bytes.Equal(now, sound) {
			t.Errorf("%s: %v; the vault is changed: %t", name, err, !bytes.Equal(now, sound))
		}
	}
	for _, place := range []string{cfg.Vault.File, t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := OpenVault(cfg, nil).Restore(t.Context(), place, nil); err == nil {
			t.Errorf("%s is restored", place)
		}
	}
}

// makeBackup makes a backup of a vault that is not open, and returns its path.
func makeBackup(t *testing.T, cfg *config.Config) string {
	t.Helper()
	v := OpenVault(cfg, nil)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := v.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return backup
}

// A vault that cannot be opened is reported with the real error and what to do about it.
func TestDamagedVaultSaysSo(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"noise": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("noise"), 9000), 0o600) },
		"cut":   func(path string) error { return os.Truncate(path, 1000) },
	} {
		cfg := makeVaultWithNote(t, "text")
		backup := makeBackup(t, cfg)
		if err := damage(cfg.Vault.File); err != nil {
			t.Fatal(err)
		}
		own := newVault(cfg, config.EnvOf(), nil)
		defer own.Close()
		k := vaultClient(own, nil)
		defer k.Close()
		_, reads := k.Notebooks(t.Context())
		_, writes := k.CreateDocument(t.Context(), kernel.ID("20240101000000-aaaaaaa"), "/a", "text", "")
		_, exports := OpenVault(cfg, nil).Export(t.Context(), filepath.Join(t.TempDir(), "out"), vaultadmin.FolderExport{})
		_, checks := OpenVault(cfg, nil).Check(t.Context(), nil)
		for what, err := range map[string]error{"read": reads, "write": writes, "export": exports, "check": checks} {
			if kind := tool.KindOf(err); kind != tool.Unavailable && kind != kernel.API || !strings.Contains(hintOf(err), "salvage") || !strings.Contains(hintOf(err), backup) {
				t.Errorf("%s: %s: %v; %s", name, what, err, hintOf(err))
			}
		}
	}
}

// If the vault's file is not a vault, the error comes at once: retrying would not help.
func TestVaultThatCannotBeOpenedSaysSoAtOnce(t *testing.T) {
	t.Parallel()
	cfg := settingsWithVault(t)
	if err := os.MkdirAll(cfg.Vault.File, 0o700); err != nil {
		t.Fatal(err)
	}
	v := newVault(cfg, config.EnvOf(), nil)
	defer v.Close()
	var log bytes.Buffer
	k := vaultClient(v, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer k.Close()
	_, err := k.Notebooks(t.Context())
	if tool.KindOf(err) != tool.Unavailable || !strings.Contains(err.Error(), "cannot be opened") || hintOf(err) == "" {
		t.Errorf("%v; %s", err, hintOf(err))
	}
	if strings.Contains(log.String(), "asked again") {
		t.Errorf("it is asked again:\n%s", log.String())
	}
}

func TestSalvageOfAVault(t *testing.T) {
	t.Parallel()
	cfg := makeVaultWithNote(t, "what is to be found")
	data, err := os.ReadFile(cfg.Vault.File)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[:4096])
	if err := os.WriteFile(cfg.Vault.File, data, 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := os.MkdirTemp("", "collie-salvage-") //nolint:usetesting // as left by a killed Salvage, in the place where Salvage makes its own
	if err == nil {
		err = os.WriteFile(filepath.Join(left, "lock"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	v := OpenVault(cfg, nil)
	dir := filepath.Join(t.TempDir(), "out")
	report, lost, err := v.Salvage(t.Context(), dir)
	if err != nil || report.Documents != 1 || len(lost) == 0 {
		t.Fatalf("%+v, %v, %v", report, lost, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "Notes", "page.md"))
	if err != nil || !strings.Contains(string(page), "what is to be found") {
		t.Errorf("%s, %v", page, err)
	}
	if now, err := os.ReadFile(cfg.Vault.File); err != nil || !bytes.Equal(now, data) {
		t.Errorf("the file was changed: %v", err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "not-salvaged.txt")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy of one that was killed is still there: %v", err)
	}
}

// hintOf returns the hint of an error.
func hintOf(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e.Hint
	}
	return ""
}
