package live

import (
	"os"
	"path/filepath"
	"strings"
)

// tryAsset is the step of the tour that uploads, renames and deletes an asset.
func (s *smoke) tryAsset() {
	file := filepath.Join(s.home, s.word+" & co.txt")
	if err := os.WriteFile(file, []byte("an asset of "+s.word), 0o600); err != nil {
		s.t.Fatal(err)
	}
	path := s.mustCall("file.upload_asset", args{"localFilePath": file}).Get("path").String()
	s.mustContain("the path", path, "assets/"+s.word)
	s.mustCall("block.append", args{"dataType": "markdown", "data": "[file](<" + path + ">)", "parentID": s.id("Moved")})
	s.mustContain("assets", s.mustCall("file.get_doc_assets", args{"id": s.id("Moved")}).Raw, s.word)
	renamed := s.mustCall("file.rename_asset", args{"oldPath": path, "newName": s.word + " 附件"}).Get("newPath").String()
	s.mustContain("assets", s.mustCall("file.get_doc_assets", args{"id": s.id("Moved")}).Raw, "附件")
	s.mustCall("file.list_unused_assets", args{})
	s.mustCall("file.delete_asset", args{"path": renamed, "force": true})
	s.mustRefuse("file.delete_asset", args{"path": renamed, "force": true}, "not_found")
	s.mustRefuse("file.upload_asset", args{"localFilePath": "/etc/hostname"}, "permission_denied", "invalid_path", "validation_error", "not_found")
}

// tryExport is the step that exports a document as Markdown and renders a template.
func (s *smoke) tryExport() {
	plan := s.id("Plan")
	s.mustContain("Markdown", s.mustCall("file.export_md", args{"id": plan}).Raw, s.word)
	s.mustCall("file.extract_doc", args{"id": plan, "outputDir": filepath.Join(s.home, "out")})
	found := false
	err := filepath.WalkDir(filepath.Join(s.home, "out"), func(path string, _ os.DirEntry, err error) error {
		found = found || strings.HasSuffix(path, ".md")
		return err
	})
	if err != nil || !found {
		s.t.Fatalf("no Markdown was written: %v", err)
	}
	s.mustCall("file.list_templates", args{})
	// Rendering is refused unless every notebook of the workspace may be read, so a refusal is not a failure.
	if got, code := s.callAction("file.render", args{"engine": "sprig", "template": "{{add 40 2}}"}); code == 0 {
		s.mustContain("a template", got.Raw, "42")
	}
}
