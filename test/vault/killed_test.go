package vault

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/vault"
	"collie/internal/vault/folder"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// TestKilledBackupIsWholeOrAbsent kills processes that write and make backups at the same time. Each backup must be
// complete or absent.
func TestKilledBackupIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vault.db")
	createVault(t, file)
	for range max(*rounds/10, 4) {
		v := startVictim(t, jobBackup, file)
		v.awaitFirstLine(t)
		await.Moment(rand.N(250 * time.Millisecond)) // a random moment
		done := completeLines(v.kill(t))
		found, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.backup"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range done {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("an acknowledged backup: %v", err)
			}
		}
		for _, path := range found {
			wantSound(t, path)
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
		wantSound(t, file)
	}
}

// TestKilledWhileItChecks kills processes that write and run the checker at the same time.
func TestKilledWhileItChecks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vault.db")
	p := newPromises()
	createVault(t, file)
	for range max(*rounds/10, 4) {
		v := startVictim(t, jobCheck, file)
		v.awaitFirstLine(t)
		await.Moment(rand.N(250 * time.Millisecond)) // a random moment
		if err := p.addLines(v.kill(t)); err != nil {
			t.Fatal(err)
		}
		wantPromisesKept(t, file, p)
	}
	wantSound(t, file)
}

// TestKilledWhileItCreates kills processes that make large documents. Each document must be there completely or not
// at all.
func TestKilledWhileItCreates(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vault.db")
	createVault(t, file)
	for range max(*rounds/10, 4) {
		v := startVictim(t, jobCreate, file)
		v.awaitFirstLine(t)
		await.Moment(rand.N(400 * time.Millisecond)) // a random moment
		done := completeLines(v.kill(t))
		blocks := largeDocuments(t, file)
		for _, id := range done {
			if blocks[id] != largeParagraphs {
				t.Errorf("document %s was acknowledged and has %d blocks, want %d", id, blocks[id], largeParagraphs)
			}
		}
		for id, n := range blocks {
			if n != largeParagraphs {
				t.Errorf("document %s has %d blocks, want %d", id, n, largeParagraphs)
			}
		}
	}
	wantSound(t, file)
}

// largeDocuments returns the number of paragraphs of each large document, by id.
func largeDocuments(t *testing.T, file string) map[string]int {
	t.Helper()
	v := vault.New(file, vault.Options{})
	defer func() { _ = v.Close() }()
	rows, err := newClient(v).ask(t.Context(), "/api/query/sql", map[string]any{
		"stmt": "SELECT root_id, sum(type = 'p') AS n FROM blocks WHERE hpath LIKE '/large/%' GROUP BY root_id LIMIT 1000000",
	})
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]int{}
	for _, row := range rows.Array() {
		blocks[row.Get("root_id").String()] = int(row.Get("n").Int())
	}
	return blocks
}

// TestKilledAtTheFirstOpening kills processes, sometimes two at once, that make a new file. The next process must be
// able to open it.
func TestKilledAtTheFirstOpening(t *testing.T) {
	t.Parallel()
	opened := 0
	for round := range *rounds {
		file := filepath.Join(t.TempDir(), "vault.db")
		victims := []*victim{startVictim(t, jobOpen, file)}
		if round%2 == 1 {
			victims = append(victims, startVictim(t, jobOpen, file))
		}
		await.Moment(rand.N(120 * time.Millisecond)) // a random moment
		for _, v := range victims {
			opened += len(completeLines(v.kill(t)))
		}
		wantSound(t, file)
		v := vault.New(file, vault.Options{})
		list, err := newClient(v).ask(t.Context(), "/api/notebook/lsNotebooks", map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list.Get("notebooks").Array()); n > 1 {
			t.Errorf("%d notebooks in a new vault: %s", n, list.Raw)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of %d had opened it before", opened, *rounds+*rounds/2)
}

// TestSurvivorGoesOn kills one of two processes that write into one vault, again and again. The other must go on
// without an error.
func TestSurvivorGoesOn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vault.db")
	p := newPromises()
	createVault(t, file)
	survivor := startVictim(t, jobWrite, file)
	for range max(*rounds/5, 4) {
		v := startVictim(t, jobWrite, file)
		v.awaitFirstLine(t)
		await.Moment(rand.N(200 * time.Millisecond)) // a random moment
		if err := p.addLines(v.kill(t)); err != nil {
			t.Fatal(err)
		}
		before := strings.Count(survivor.stdout.String(), "\n")
		await.Until(t, "the survivor goes on", func() bool { return strings.Count(survivor.stdout.String(), "\n") >= before+20 })
	}
	if err := p.addLines(survivor.kill(t)); err != nil {
		t.Fatal(err)
	}
	wantPromisesKept(t, file, p)
	wantSound(t, file)
}

// TestKilledImportGoesOn kills processes that import a folder. A further import must leave each document in the vault
// exactly once.
func TestKilledImportGoesOn(t *testing.T) {
	t.Parallel()
	const pages = 400
	for range max(*rounds/10, min(*rounds, 6)) {
		dir := t.TempDir()
		file, notes := filepath.Join(dir, "vault.db"), filepath.Join(dir, "notes")
		for i := range pages {
			at := filepath.Join(notes, fmt.Sprintf("%d/page %d.md", i%20, i))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("# Page %d\n\nSee [[page %d]] ![p](../p%d.png)\n\n%s", i, (i+7)%pages, i%9, strings.Repeat("文字 and words\n\n", 5))
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(notes, fmt.Sprintf("p%d.png", i%9)), []byte(fmt.Sprint("PNG", i%9)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			v := startVictim(t, jobImport, file)
			await.Moment(20*time.Millisecond + rand.N(500*time.Millisecond)) // a random moment
			v.kill(t)
		}
		w, err := workspace.Open(t.Context(), file, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Import(t.Context(), w, notes, folder.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		info, err := w.Info(t.Context())
		if err != nil || info.Documents != pages+20 || info.Notebooks != 1 || info.Files-9 > 2 {
			t.Errorf("%+v, %v; want %d documents", info, err, pages+20)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		wantSound(t, file)
	}
}
