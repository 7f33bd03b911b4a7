package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"
)

// size is the size of a package.
type size struct {
	Lines int `json:"lines"` // neither blank nor comment
	Files int `json:"files"`
}

func (s *size) add(o size) {
	s.Lines += o.Lines
	s.Files += o.Files
}

// isTestSupport reports whether a package only serves tests: a part of its path ends in "test".
func isTestSupport(pkg string) bool {
	for name := range strings.SplitSeq(pkg, "/") {
		if strings.HasSuffix(name, "test") {
			return true
		}
	}
	return false
}

// isCounted reports whether a file belongs to the product or to test support, and is not a test.
func isCounted(name string) bool {
	return !strings.HasPrefix(name, "test/") && !strings.HasSuffix(name, "_test.go")
}

// count returns the size of each package, without tests.
func (f files) count() (map[string]size, error) {
	sizes := map[string]size{}
	for name, text := range f {
		if !isCounted(name) {
			continue
		}
		n, err := lines(name, text)
		if err != nil {
			return nil, err
		}
		s := sizes[path.Dir(name)]
		s.add(size{n, 1})
		sizes[path.Dir(name)] = s
	}
	return sizes, nil
}

// lines counts the lines of a source that hold code. In a string over several lines, blank lines do not
// count.
func lines(name string, text []byte) (int, error) {
	set := token.NewFileSet()
	file := set.AddFile(name, -1, len(text))
	var s scanner.Scanner
	var failed error
	s.Init(file, text, func(at token.Position, msg string) { failed = fmt.Errorf("%s: %s", at, msg) }, 0)
	n, last := 0, 0 // last is the line counted last
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return n, failed
		}
		if tok == token.SEMICOLON && lit == "\n" { // an automatic semicolon
			continue
		}
		at := file.Line(pos)
		for i, part := range strings.Split(lit, "\n") {
			if l := at + i; l > last && (i == 0 || strings.TrimSpace(part) != "") {
				n, last = n+1, l
			}
		}
	}
}

// unused returns the exported top-level names, as "package.Name", that no other package uses directly or
// through a declaration it uses (see api). Names that only tests use are marked. Fields are not checked,
// because encoders use them invisibly, and methods are left to unusedMethods.
func (f files) unused() ([]string, error) {
	declared := map[string]*api{} // by package
	product, tests := map[string]bool{}, map[string]bool{}
	for name, text := range f {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		pkg := path.Dir(name)
		if isCounted(name) && !isTestSupport(pkg) && file.Name.Name != "main" {
			if declared[pkg] == nil {
				declared[pkg] = newAPI()
			}
			declared[pkg].add(file)
		}
		imports := map[string]string{}
		for _, i := range file.Imports {
			p := strings.Trim(i.Path.Value, `"`)
			local := path.Base(p)
			if i.Name != nil {
				local = i.Name.Name
			}
			if after, ok := strings.CutPrefix(p, module); ok && after != pkg {
				imports[local] = after
			}
		}
		used := product
		if !isCounted(name) || isTestSupport(pkg) {
			used = tests
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] != "" {
					used[imports[x.Name]+"."+sel.Sel.Name] = true
				}
			}
			return true
		})
	}
	var out []string
	for pkg, a := range declared {
		said := func(used map[string]bool) map[string]bool {
			return a.reach(func(name string) bool { return used[pkg+"."+name] })
		}
		needed, tested := said(product), said(tests)
		for name := range a.exported {
			switch {
			case needed[name]:
			case tested[name]:
				out = append(out, pkg+"."+name+" (tests only)")
			default:
				out = append(out, pkg+"."+name)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
