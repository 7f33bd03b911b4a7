package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestNamesExist checks that every `tool.Name` in docs/architecture.md is declared in package tool.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	files, err := filepath.Glob(root + "internal/tool/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						declared[spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							declared[name.Name] = true
						}
					}
				}
			}
		}
	}
	text, err := os.ReadFile(root + "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`tool\\.([A-Z][A-Za-z]*)").FindAllSubmatch(text, -1)
	if len(names) == 0 {
		t.Error("the architecture names nothing of package tool")
	}
	for _, m := range names {
		if !declared[string(m[1])] {
			t.Errorf("docs/architecture.md names tool.%s, which package tool does not have", m[1])
		}
	}
}
