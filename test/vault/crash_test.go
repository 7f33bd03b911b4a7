package vault

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/vault"
	"collie/internal/vault/tree"
	"collie/test/await"
)

// TestKilledVaultKeepsItsPromises kills processes that write into one vault, every other time two at once. It then
// compares the vault with the writes that they acknowledged.
func TestKilledVaultKeepsItsPromises(t *testing.T) {
	t.Parallel()
	const together = 10 // rounds that use the same file, so that it grows
	for done := 0; done < *rounds; done += together {
		file := filepath.Join(t.TempDir(), "vault.db")
		p := newPromises()
		createVault(t, file)
		for round := range min(together, *rounds-done) {
			writeAndKill(t, file, 1+round%2, p)
			wantPromisesKept(t, file, p)
		}
		if p.lineCount == 0 {
			t.Fatal("nothing was ever acknowledged")
		}
		wantSound(t, file)
	}
}

// createVault makes a vault with one notebook.
func createVault(t *testing.T, file string) {
	t.Helper()
	v := vault.New(file, vault.Options{})
	defer func() { _ = v.Close() }()
	if _, err := newClient(v).ask(t.Context(), "/api/notebook/createNotebook", map[string]any{"name": "Notes"}); err != nil {
		t.Fatal(err)
	}
}

// writeAndKill lets processes write for a moment, kills them, and adds to p what they acknowledged.
func writeAndKill(t *testing.T, file string, processes int, p *promises) {
	t.Helper()
	victims := make([]*victim, processes)
	for i := range victims {
		victims[i] = startVictim(t, jobWrite, file)
	}
	victims[0].awaitFirstLine(t)
	await.Moment(rand.N(250 * time.Millisecond)) // a random moment; the second process may still be starting
	for _, v := range victims {
		if err := p.addLines(v.kill(t)); err != nil {
			t.Fatal(err)
		}
		await.Moment(rand.N(20 * time.Millisecond)) // the second process lives a moment longer
	}
}

// wantPromisesKept checks that everything that was acknowledged is in the vault.
func wantPromisesKept(t *testing.T, file string, p *promises) {
	t.Helper()
	v := vault.New(file, vault.Options{})
	defer func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows, err := newClient(v).ask(t.Context(), "/api/query/sql", map[string]any{
		"stmt": "SELECT id, content, ial, type FROM blocks WHERE type IN ('p', 'd') LIMIT 10000000",
	})
	if err != nil {
		t.Fatal(err)
	}
	found, times := map[string]gjson.Result{}, map[string]int{}
	for _, row := range rows.Array() {
		found[row.Get("id").String()] = row
		if row.Get("type").String() == "p" {
			times[strings.TrimPrefix(row.Get("content").String(), "文字 ")]++
		}
	}
	for id, word := range p.text {
		row, there := found[id]
		switch {
		case p.gone[id]:
			if there || times[word] > 0 {
				t.Errorf("block %s was deleted and is there", id)
			}
		case p.maybeGone[id] && !there && times[word] == 0:
		case row.Get("content").String() != "文字 "+word:
			t.Errorf("block %s holds %q, acknowledged was %q", id, row.Get("content"), word)
		case times[word] != 1:
			t.Errorf("block %s, %q, is there %d times", id, word, times[word])
		case p.attr[id] != "" && !isAtLeast(attribute(row, "custom-word"), p.attr[id]):
			t.Errorf("block %s has the attribute %q, acknowledged was %q", id, attribute(row, "custom-word"), p.attr[id])
		}
	}
	for id, title := range p.title {
		row, there := found[id]
		if !there || title != "" && !isAtLeast(row.Get("content").String(), title) {
			t.Errorf("document %s has the title %q, acknowledged was %q", id, row.Get("content"), title)
		}
	}
}

// attribute returns an attribute of a row of the table blocks.
func attribute(row gjson.Result, name string) string {
	return tree.ParseIAL(row.Get("ial").String())[name]
}

// wantSound fails the test if the checker finds a problem in the vault at file.
func wantSound(t *testing.T, file string) {
	t.Helper()
	v := vault.New(file, vault.Options{})
	defer func() { _ = v.Close() }()
	w, err := v.Workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problems, err := w.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}
