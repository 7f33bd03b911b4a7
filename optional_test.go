package collie_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// mostOptional is the maximum number of optional interfaces that values of package tool's interfaces may
// have. Each one is a question to keep in mind wherever such a value is used.
const mostOptional = 3

// TestOptionalInterfaces counts the interfaces, of any package, to which the product asserts a value of an
// interface of package tool.
func TestOptionalInterfaces(t *testing.T) {
	t.Parallel()
	c := &asserted{map[string][]string{}}
	for _, f := range ownFiles(t) {
		c.look(f)
	}
	if len(c.at) == 0 || c.at["collie/internal/tool.Binder"] == nil {
		t.Errorf("found %v: this test does not see what it counts", c.at)
	}
	if len(c.at) > mostOptional {
		t.Errorf("%d optional interfaces of what package tool declares, at most %d:", len(c.at), mostOptional)
		for name, places := range c.at {
			t.Errorf("%s at %s", name, strings.Join(places, " "))
		}
	}
}

// ownFile is a type-checked file below internal that is not a test. info knows nothing of packages outside this module.
type ownFile struct {
	fset   *token.FileSet
	syntax *ast.File
	in     *types.Package
	info   *types.Info
}

// ownFiles returns all such files, type-checked.
func ownFiles(t *testing.T) []ownFile {
	t.Helper()
	files, err := checkedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var checkedOnce = sync.OnceValues(func() ([]ownFile, error) {
	o := &ownImporter{token.NewFileSet(), map[string]*types.Package{}, nil}
	err := filepath.WalkDir("internal", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_, err = o.Import(path.Join("collie", filepath.ToSlash(file)))
		}
		return err
	})
	return o.files, err
})

// ownImporter type-checks the packages of this module. It takes all others for empty packages.
type ownImporter struct {
	fset     *token.FileSet
	packages map[string]*types.Package
	files    []ownFile
}

// Import implements [types.Importer].
func (o *ownImporter) Import(name string) (*types.Package, error) {
	if p := o.packages[name]; p != nil {
		return p, nil
	}
	dir, ours := strings.CutPrefix(name, "collie/")
	var files []*ast.File
	if ours {
		names, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			if match, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file)); err != nil || !match || strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(o.fset, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: o, Error: func(error) {}} // ignore errors about other packages
	p, _ := conf.Check(name, o.fset, files, info)
	p.MarkComplete()
	o.packages[name] = p
	for _, f := range files {
		o.files = append(o.files, ownFile{o.fset, f, p, info})
	}
	return p, nil
}

// asserted finds type assertions on interfaces of package tool.
type asserted struct {
	at map[string][]string // places by name of the interface
}

// look records the assertions in a file.
func (c *asserted) look(f ownFile) {
	var value ast.Expr // the value of the current type switch
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if n.Type == nil {
				value = n.X
				return true
			}
			c.note(f, n.X, n.Type)
		case *ast.CaseClause:
			for _, e := range n.List {
				if tv := f.info.Types[e]; value != nil && tv.IsType() {
					c.note(f, value, e)
				}
			}
		}
		return true
	})
}

// note records the assertion of value to the type to, if value has an interface type of package tool and to is an
// interface.
func (c *asserted) note(f ownFile, value, to ast.Expr) {
	from, ok := types.Unalias(f.info.TypeOf(value)).(*types.Named)
	if !ok || from.Obj().Pkg() == nil || from.Obj().Pkg().Path() != "collie/internal/tool" || !types.IsInterface(from) {
		return
	}
	typ := f.info.TypeOf(to)
	if typ != types.Typ[types.Invalid] && !types.IsInterface(typ) {
		return
	}
	name, place := types.TypeString(typ, nil), f.fset.Position(to.Pos()).String()
	if !slices.Contains(c.at[name], place) {
		c.at[name] = append(c.at[name], place)
	}
}
