package main

import "go/ast"

// api holds the top-level declarations of a package, and what each of them uses.
type api struct {
	exported map[string]bool
	parts    map[string][]string // by name: the names of the same package in its declaration, as visible from outside
	values   map[string][]string // by type: its exported constants
}

func newAPI() *api {
	return &api{map[string]bool{}, map[string][]string{}, map[string][]string{}}
}

// reach returns the names that other packages depend on if they use the names for which said is true: these names;
// the types of their parameters, results and exported fields, transitively; and all constants of such types, because
// a set of values is used as a whole.
func (a *api) reach(said func(name string) bool) map[string]bool {
	got := map[string]bool{}
	var visit func(names []string)
	visit = func(names []string) {
		for _, name := range names {
			if !got[name] {
				got[name] = true
				visit(a.parts[name])
				visit(a.values[name])
			}
		}
	}
	for name := range a.exported {
		if said(name) {
			visit([]string{name})
		}
	}
	return got
}

// add adds the declarations of a file.
func (a *api) add(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				a.declare(d.Name)
				a.noteUsedNames(d.Name.Name, d.Type)
			} else if d.Name.IsExported() {
				a.noteUsedNames(receiver(d.Recv.List[0].Type), d.Type)
			}
		case *ast.GenDecl:
			a.addGroup(d)
		}
	}
}

// addGroup adds the types, constants and variables of a declaration.
func (a *api) addGroup(d *ast.GenDecl) {
	var typ ast.Expr // also the type of the constants below that repeat it
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			a.declare(s.Name)
			a.noteUsedNames(s.Name.Name, s.Type)
		case *ast.ValueSpec:
			if s.Type != nil || s.Values != nil {
				typ = s.Type
			}
			for _, id := range s.Names {
				a.declare(id)
				a.noteUsedNames(id.Name, typ)
				if t, ok := typ.(*ast.Ident); ok && id.IsExported() {
					a.values[t.Name] = append(a.values[t.Name], id.Name)
				}
			}
		}
	}
}

// declare adds a name if it is exported.
func (a *api) declare(id *ast.Ident) {
	if id.IsExported() {
		a.exported[id.Name] = true
	}
}

// noteUsedNames records which names a declaration uses, without unexported fields and names of other packages.
func (a *api) noteUsedNames(name string, typ ast.Expr) {
	if typ == nil {
		return
	}
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false
		case *ast.Field:
			for _, id := range n.Names {
				if id.IsExported() || !inStruct(typ) {
					a.noteUsedNames(name, n.Type)
					break
				}
			}
			if len(n.Names) == 0 {
				a.noteUsedNames(name, n.Type)
			}
			return false
		case *ast.Ident:
			a.parts[name] = append(a.parts[name], n.Name)
		}
		return true
	})
}

// inStruct reports whether a type is a struct, so that its fields are not parameters.
func inStruct(typ ast.Expr) bool {
	_, ok := typ.(*ast.StructType)
	return ok
}

// receiver returns the name of a method's receiver type.
func receiver(typ ast.Expr) string {
	switch t := typ.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
