package file

import (
	"testing"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// TestLocalPathsAreCheckedFirst: nobody is asked about a call that would be refused, so
// the check before the question sees local paths too.
func TestLocalPathsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := kit.Notebook("Notes")
	doc := kit.Doc(nb, "/Doc", "text")
	kit.Files = action.LocalFiles{Allowed: true, Roots: []string{t.TempDir()}}
	kit.File("/data/assets/a-20240101120000-abcdefg.png", []byte("png"))
	for name, args := range map[string]string{
		"upload_asset":     `{"localFilePath":"/etc/hostname"}`,
		"extract_doc":      `{"id":"` + doc + `","outputDir":"/tmp/elsewhere"}`,
		"export_resources": `{"paths":["/data/assets/a-20240101120000-abcdefg.png"],"outputPath":"/tmp/elsewhere.zip"}`,
	} {
		for _, a := range Tool().Actions {
			if a.Name != name {
				continue
			}
			err := kit.Request(t, a, args).Check(t.Context())
			if tool.KindOf(err) != kernel.InvalidPath {
				t.Errorf("%s: got %v, want %s", name, err, kernel.InvalidPath)
			}
		}
	}
}
