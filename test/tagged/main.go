// Tagged lists the tests that a build tag adds, as arguments of `go test`: a pattern of their names, and the packages that have them.
// With -other it lists the packages where the tag puts files in the place of others, whose tests are all different ones then.
//
//	go test -tags stories $(go run ./test/tagged stories)
//	go test -tags stories $(go run ./test/tagged -other stories)
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
	"regexp"
	"slices"
	"strings"
)

func main() {
	other := flag.Bool("other", false, "list the packages whose tests are other ones with the tag")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "tagged: expected one build tag")
		os.Exit(2)
	}
	if err := run(os.Stdout, ".", flag.Arg(0), *other); err != nil {
		fmt.Fprintln(os.Stderr, "tagged:", err)
		os.Exit(1)
	}
}

// run lists the packages of the module in dir that tag changes.
func run(w io.Writer, dir, tag string, other bool) error {
	without, err := list(dir, "")
	if err != nil {
		return err
	}
	with, err := list(dir, tag)
	if err != nil {
		return err
	}
	var names, packages []string
	for path, p := range with {
		before := without[path].files()
		added := slices.DeleteFunc(p.files(), func(name string) bool { return slices.Contains(before, name) })
		replaced := slices.ContainsFunc(before, func(name string) bool { return !slices.Contains(p.files(), name) })
		if len(added) == 0 || replaced != other {
			continue
		}
		tests, err := testsIn(p.Dir, added)
		if err != nil {
			return err
		}
		if other || len(tests) > 0 {
			names, packages = append(names, tests...), append(packages, path)
		}
	}
	slices.Sort(packages)
	slices.Sort(names)
	if !other {
		fmt.Fprintf(w, "-run ^(%s)$\n", strings.Join(slices.Compact(names), "|"))
	}
	for _, path := range packages {
		fmt.Fprintln(w, path)
	}
	return nil
}

// listed is a package in the output of `go list`.
type listed struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

func (p listed) files() []string { return slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) }

// list returns the packages of the module in dir as they are with a build tag, by path.
func list(dir, tag string) (map[string]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-tags", tag, "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	packages := map[string]listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages[p.ImportPath] = p
	}
}

// testName is how `go test` knows a test.
var testName = regexp.MustCompile(`^Test([^a-z]|$)`)

// testsIn returns the names of the tests in files of a folder.
func testsIn(dir string, files []string) (names []string, err error) {
	for _, name := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "TestMain" && strings.HasSuffix(name, "_test.go") && testName.MatchString(f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}
