package collie_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// maxFiles is the maximum number of files of a package, without its tests. A part of a larger package has to become a
	// package below it.
	maxFiles = 40
	// maxAppLines is the maximum number of lines of package app, without blank lines and comments. The package should only
	// join parts and reload settings; what people manage belongs into an admin package beside what it manages.
	maxAppLines = 2000
	// maxServerFields is the maximum number of fields of upstream.Server, in which an embedded struct counts as one. What has
	// a lock or a life of its own should be a type of its own.
	maxServerFields = 20
)

// TestPackagesAreSmall finds packages with more than maxFiles files.
func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()
	files := map[string]int{}
	err := fs.WalkDir(os.DirFS("internal"), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			files[path.Dir(file)]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Errorf("only %d packages found", len(files))
	}
	for dir, n := range files {
		if n > maxFiles {
			t.Errorf("internal/%s has %d files, at most %d: make a part of it a package below it, or merge what is small and has one caller", dir, n, maxFiles)
		}
	}
}

// TestAppOnlyJoins fails if package app has more than maxAppLines lines of code.
func TestAppOnlyJoins(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("internal/app/*.go")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			total += codeLines(t, file)
		}
	}
	if total > maxAppLines || total == 0 {
		t.Errorf("internal/app has %d lines, at most %d: it joins and reloads, and what people manage is an admin package", total, maxAppLines)
	}
}

// codeLines counts the lines of a file with code: those that are neither blank nor only a comment.
func codeLines(t *testing.T, file string) int {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	fset := token.NewFileSet()
	f := fset.AddFile(file, -1, len(src))
	s.Init(f, src, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		first := f.Line(pos)
		for n := range 1 + bytes.Count([]byte(text), []byte("\n")) {
			lines[first+n] = true
		}
	}
}

// TestServerIsSmall fails if upstream.Server has more than maxServerFields fields.
func TestServerIsSmall(t *testing.T) {
	t.Parallel()
	parsed, err := parser.ParseFile(token.NewFileSet(), "internal/source/upstream/server.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		if typ, ok := n.(*ast.TypeSpec); ok && typ.Name.Name == "Server" {
			for _, f := range typ.Type.(*ast.StructType).Fields.List {
				fields += max(1, len(f.Names))
			}
		}
		return true
	})
	if fields == 0 || fields > maxServerFields {
		t.Errorf("upstream.Server has %d fields, at most %d: what belongs together is a type of its own", fields, maxServerFields)
	}
}
