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
	"testing"
)

// mostOptional is the maximum number of optional interfaces that values of package tool's interfaces may
// have. Each one is a question to keep in mind wherever such a value is used.
const mostOptional = 3

// TestOptionalInterfaces counts the interfaces, of any package, to which the product asserts a value of an
// interface of package tool.
func TestOptionalInterfaces(t *testing.T) {
	t.Parallel()
	c := &asserted{fset: token.NewFileSet(), packages: map[string]*types.Package{}, at: map[string][]string{}}
	err := filepath.WalkDir("internal", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_, err = c.Import(path.Join("collie", filepath.ToSlash(file)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
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

// asserted finds type assertions on interfaces of package tool. It type-checks our own packages only; what it
// does not know of others does not matter here.
type asserted struct {
	fset     *token.FileSet
	packages map[string]*types.Package
	at       map[string][]string // places by name of the interface
}

// Import implements [types.Importer].
func (c *asserted) Import(name string) (*types.Package, error) {
	if p := c.packages[name]; p != nil {
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
			f, err := parser.ParseFile(c.fset, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: c, Error: func(error) {}} // ignore errors about other packages
	p, _ := conf.Check(name, c.fset, files, info)
	p.MarkComplete()
	c.packages[name] = p
	for _, f := range files {
		c.look(f, info)
	}
	return p, nil
}

// look records the assertions in a file.
func (c *asserted) look(f *ast.File, info *types.Info) {
	var value ast.Expr // the value of the current type switch
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeAssertExpr:
			if n.Type == nil {
				value = n.X
				return true
			}
			c.note(info, n.X, n.Type)
		case *ast.CaseClause:
			for _, e := range n.List {
				if tv := info.Types[e]; value != nil && tv.IsType() {
					c.note(info, value, e)
				}
			}
		}
		return true
	})
}

func (c *asserted) note(info *types.Info, value, to ast.Expr) {
	from, ok := types.Unalias(info.TypeOf(value)).(*types.Named)
	if !ok || from.Obj().Pkg() == nil || from.Obj().Pkg().Path() != "collie/internal/tool" || !types.IsInterface(from) {
		return
	}
	typ := info.TypeOf(to)
	if typ != types.Typ[types.Invalid] && !types.IsInterface(typ) {
		return
	}
	name, place := types.TypeString(typ, nil), c.fset.Position(to.Pos()).String()
	if !slices.Contains(c.at[name], place) {
		c.at[name] = append(c.at[name], place)
	}
}
