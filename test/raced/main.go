// Raced lists the packages of this module whose tests involve a goroutine: one that is started by the package, by its
// tests, or by a package of this module that either imports, directly or indirectly. With -not it lists the other
// packages, and also those of the former whose tests do less under the race detector (see test/await), so that they
// run once without it.
//
//	go test -race $(go run ./test/raced)
//	go test $(go run ./test/raced -not)
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	not := flag.Bool("not", false, "list the packages without goroutines")
	flag.Parse()
	if err := run(os.Stdout, ".", *not); err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
}

// run lists the packages of the module in dir.
func run(w io.Writer, dir string, not bool) error {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	g := graph{packages: map[string]*listed{}, below: map[string]bool{}}
	var order []string
	for d := json.NewDecoder(out); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		g.packages[p.ImportPath] = &p
		order = append(order, p.ImportPath)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for _, name := range order {
		raced, err := g.testsStart(g.packages[name])
		if err != nil {
			return err
		}
		if raced && not {
			if raced, err = sameUnderRace(g.packages[name]); err != nil {
				return err
			}
		}
		if raced != not {
			fmt.Fprintln(w, name)
		}
	}
	return nil
}

// listed is a package in the output of `go list`.
type listed struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
}

// graph holds the packages of the module, and what is known of their goroutines.
type graph struct {
	packages map[string]*listed
	below    map[string]bool // whether a package, or one that it imports, starts a goroutine
}

// testsStart reports whether a package, its tests, or anything that they import starts a goroutine.
func (g *graph) testsStart(p *listed) (bool, error) {
	imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	for _, name := range append(imports, p.ImportPath) {
		if found, err := g.packageStarts(name); found || err != nil {
			return found, err
		}
	}
	return filesStart(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
}

// packageStarts reports whether a package without its tests, or anything it imports, starts a goroutine. Packages of
// other modules do not count.
func (g *graph) packageStarts(name string) (bool, error) {
	p, ours := g.packages[name]
	if known, ok := g.below[name]; ok || !ours {
		return known, nil
	}
	found, err := filesStart(p.Dir, p.GoFiles)
	for _, imported := range p.Imports {
		if found || err != nil {
			break
		}
		found, err = g.packageStarts(imported)
	}
	g.below[name] = found
	return found, err
}

// sameUnderRace reports whether no test of a package depends on whether the race detector is on.
func sameUnderRace(p *listed) (bool, error) {
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		src, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return false, err
		}
		if bytes.Contains(src, []byte("await.Race")) || bytes.Contains(src, []byte("await.Fewer(")) {
			return false, nil
		}
	}
	return true, nil
}

// starters are the names of functions and methods of the standard library that start a goroutine. Other functions
// with these names count too.
var starters = []string{"Go", "AfterFunc", "Serve", "ListenAndServe", "NewServer", "NewTLSServer", "NewUnstartedServer"}

// filesStart reports whether one of the files starts a goroutine: by a go statement or by one of the starters.
func filesStart(dir string, files []string) (found bool, err error) {
	for _, name := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(starters, sel.Sel.Name) {
					found = true
				}
			}
			return !found
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}
