package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goPackage is a package as go list describes it.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// method identifies a method: package and type, then its name.
type method struct{ receiver, name string }

// methodUses holds which methods of the product are used.
type methodUses struct {
	called     map[method]bool // by another package of the product
	inTests    map[method]bool // import path and name: used by a test, or by test support, that imports the package
	interfaces map[string]bool // names of methods in interfaces without an exported name
}

// unusedMethods returns the exported methods, as "package.Type.Method", that nothing outside of their package calls. A
// method counts as used if its type implements an interface that has it, since interfaces call it invisibly. The sources
// are those of the work tree at dir, for this operating system; f has the same files.
func (f files) unusedMethods(ctx context.Context, dir string) ([]string, error) {
	list, err := listPackages(ctx, dir)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range list {
		exports[p.ImportPath] = p.Export
	}
	set := token.NewFileSet()
	imp := importer.ForCompiler(set, "gc", func(at string) (io.ReadCloser, error) { return os.Open(exports[at]) })
	uses := methodUses{called: map[method]bool{}, inTests: map[method]bool{}, interfaces: map[string]bool{}}
	if err := f.addTests(&uses); err != nil {
		return nil, err
	}
	var known []*types.Package
	for _, p := range list {
		if p.Export == "" { // unsafe
			continue
		}
		pkg, err := imp.Import(p.ImportPath)
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", p.ImportPath, err)
		}
		known = append(known, pkg)
		if strings.HasPrefix(p.ImportPath, module) {
			if err := uses.check(set, imp, p); err != nil {
				return nil, err
			}
		}
	}
	candidates := uses.candidates(known)
	dropImplementers(candidates, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
	for _, pkg := range known {
		for i := range exportedTypes(pkg) {
			if iface, ok := i.Type().Underlying().(*types.Interface); ok {
				dropImplementers(candidates, iface)
			}
		}
	}
	var out []string
	for m := range candidates {
		out = append(out, strings.TrimPrefix(m.receiver, module)+"."+m.name)
	}
	slices.Sort(out)
	return out, nil
}

// errorMethods are the methods that package errors calls through interfaces without a name.
var errorMethods = []string{"As", "Is", "Unwrap"}

// module is the beginning of the import paths of this repository.
const module = "collie/"

// listPackages builds and lists the packages of the product and everything that they import.
func listPackages(ctx context.Context, dir string) (list []goPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./cmd/...", "./internal/...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for d := json.NewDecoder(out); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, cmd.Wait()
		} else if err != nil {
			return nil, errors.Join(err, cmd.Wait())
		}
		list = append(list, p)
	}
}

// check type-checks a package, and records the methods that it calls and those of its interfaces.
func (u *methodUses) check(set *token.FileSet, imp types.Importer, p goPackage) error {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok && t.Name.IsExported() {
				if _, named := t.Type.(*ast.InterfaceType); named {
					return false // unusedMethods finds the types that implement it
				}
			}
			if i, ok := n.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					for _, id := range m.Names {
						u.interfaces[id.Name] = true
					}
				}
			}
			return true
		})
	}
	if isTestSupport(strings.TrimPrefix(p.ImportPath, module)) {
		return nil
	}
	info := types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: imp}
	if _, err := conf.Check(p.ImportPath, set, parsed, &info); err != nil {
		return err
	}
	for _, s := range info.Selections {
		if fn, ok := s.Obj().(*types.Func); ok && fn.Pkg() != nil && fn.Pkg().Path() != p.ImportPath {
			u.called[methodOf(fn)] = true
		}
	}
	return nil
}

// methodOf identifies the method fn.
func methodOf(fn *types.Func) method {
	recv := fn.Signature().Recv().Type()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	name := ""
	if n, ok := recv.(*types.Named); ok {
		name = n.Obj().Name()
	}
	return method{fn.Pkg().Path() + "." + name, fn.Name()}
}

// addTests adds the names that tests and test support use, for each package that they import. It goes by names alone,
// because tests are not type-checked.
func (f files) addTests(u *methodUses) error {
	for name, text := range f {
		if isCounted(name) && !isTestSupport(path.Dir(name)) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				for _, i := range file.Imports {
					u.inTests[method{strings.Trim(i.Path.Value, `"`), s.Sel.Name}] = true
				}
			}
			return true
		})
	}
	return nil
}

// candidates returns the methods of the product that seem unused, with their receivers' types.
func (u *methodUses) candidates(known []*types.Package) map[method]*types.Named {
	found := map[method]*types.Named{}
	for _, pkg := range known {
		at := pkg.Path()
		if !strings.HasPrefix(at, module) || isTestSupport(strings.TrimPrefix(at, module)) || pkg.Name() == "main" {
			continue
		}
		for t := range exportedTypes(pkg) {
			named, ok := t.Type().(*types.Named)
			if !ok || types.IsInterface(named) {
				continue
			}
			for fn := range named.Methods() {
				if m := methodOf(fn); fn.Exported() && !slices.Contains(errorMethods, m.name) && !u.called[m] && !u.inTests[method{at, m.name}] && !u.interfaces[m.name] {
					found[m] = named
				}
			}
		}
	}
	return found
}

// exportedTypes yields the exported types of a package. The methods of its other types cannot be called by name
// elsewhere.
func exportedTypes(pkg *types.Package) func(yield func(*types.TypeName) bool) {
	return func(yield func(*types.TypeName) bool) {
		for _, name := range pkg.Scope().Names() {
			if t, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && t.Exported() && !t.IsAlias() && !yield(t) {
				return
			}
		}
	}
}

// dropImplementers removes from candidates the methods of iface whose types implement it. A generic type counts as
// implementing it.
func dropImplementers(candidates map[method]*types.Named, iface *types.Interface) {
	maps.DeleteFunc(candidates, func(m method, t *types.Named) bool {
		for fn := range iface.Methods() {
			if fn.Name() == m.name && (t.TypeParams() != nil || types.Implements(types.NewPointer(t), iface)) {
				return true
			}
		}
		return false
	})
}
