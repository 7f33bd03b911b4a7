package live

import (
	"os"
	"path/filepath"
	"strings"
)

// asset is the step of the tour that uploads, renames and deletes an asset.
func (s *smoke) asset() {
	file := filepath.Join(s.home, s.word+" & co.txt")
	if err := os.WriteFile(file, []byte("an asset of "+s.word), 0o600); err != nil {
		s.t.Fatal(err)
	}
	path := s.do("file.upload_asset", args{"localFilePath": file}).Get("path").String()
	s.want("the path", path, "assets/"+s.word)
	s.do("block.append", args{"dataType": "markdown", "data": "[file](<" + path + ">)", "parentID": s.id("Moved")})
	s.want("assets", s.do("file.get_doc_assets", args{"id": s.id("Moved")}).Raw, s.word)
	renamed := s.do("file.rename_asset", args{"oldPath": path, "newName": s.word + " 附件"}).Get("newPath").String()
	s.want("assets", s.do("file.get_doc_assets", args{"id": s.id("Moved")}).Raw, "附件")
	s.do("file.list_unused_assets", args{})
	s.do("file.delete_asset", args{"path": renamed, "force": true})
	s.refused("file.delete_asset", args{"path": renamed, "force": true}, "not_found")
	s.refused("file.upload_asset", args{"localFilePath": "/etc/hostname"}, "permission_denied", "invalid_path", "validation_error", "not_found")
}

// export is the step that exports a document as Markdown and renders a template.
func (s *smoke) export() {
	plan := s.id("Plan")
	s.want("Markdown", s.do("file.export_md", args{"id": plan}).Raw, s.word)
	s.do("file.extract_doc", args{"id": plan, "outputDir": filepath.Join(s.home, "out")})
	found := false
	err := filepath.WalkDir(filepath.Join(s.home, "out"), func(path string, _ os.DirEntry, err error) error {
		found = found || strings.HasSuffix(path, ".md")
		return err
	})
	if err != nil || !found {
		s.t.Fatalf("no Markdown was written: %v", err)
	}
	s.do("file.list_templates", args{})
	// Rendering is refused unless every notebook of the workspace may be read, so a refusal is not a failure.
	if got, code := s.try("file.render", args{"engine": "sprig", "template": "{{add 40 2}}"}); code == 0 {
		s.want("a template", got.Raw, "42")
	}
}
