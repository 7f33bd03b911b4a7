package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"collie/internal/vault/folder"
)

// FuzzImport imports a file of arbitrary bytes: the import must not fail.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{"---\ntitle: x\n---\n# a ^b\n[[#a]] ![[x]]", "- TODO a\n  id:: x", "\xff\xfe", "> [!n]-\n%%\n", "[a][b]\n\n[b]: c 'd'"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := files{"logseq/config.edn": "", "other.md": "# x"}.write(t)
		if err := os.WriteFile(filepath.Join(dir, "x.md"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Import(t.Context(), newVault(t), dir, folder.ImportOptions{}); err != nil {
			t.Error(err)
		}
	})
}
