package cli

import (
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// spoken are packages below the commands whose texts people read at the terminal, however these are passed
// on: findings, problems, steps and errors. Of the other packages, only messages and hints of errors must be
// in the catalog.
var spoken = []string{
	"app", "arguments", "config", "pipeline/audit", "process", "secret", "secret/admin", "source/siyuan/access", "source/siyuan/admin",
	"source/siyuan/connection", "source/upstream", "source/upstream/admin", "source/upstream/entry", "source/upstream/entry/admin",
	"source/upstream/hosts", "source/upstream/hosts/admin", "source/upstream/session", "source/upstream/signin",
	"source/upstream/toolcache/admin", "units", "vault/admin", "vault/folder",
}

// unspoken are packages whose texts go to programs, and packages of tests.
var unspoken = regexp.MustCompile(`^(face|mcp|.*test)(/|$)`)

// wordless matches texts of spoken packages that are not translated: names of operations, values that are
// also in JSON, signed text, and text for browsers, models and servers.
var wordless = regexp.MustCompile(`(?s)^(?:Collie joins|collie audit |…\[|(?:application|text)/|(?:Basic|Bearer) %s$|SELECT |\{"code"|; it said: $|PRIVATE KEY$|API key$|Library/|Not signed in|Signed in|This is not the` +
	`|(?:chain|head) (?:missing|forged)$|newer format$|tool config$|command line$|[A-Z_]{4,} [A-Z_]{4,}|Claude (?:Code|Desktop)$|Gemini CLI$|(?:Kilo|Roo) Code$|Spring AI$|Visual Studio Code$|Application Support$` +
	`|(?:deno|docker|nerdctl|podman|uv|pipx|npm|pnpm|yarn)(?: container| tool)? (?:run|exec|dlx)$|conflicts %s$|daily note/|date (?:created|modified)$|last modified$|front matter$|json_extract|\{:|\{\{` +
	`|mcp [a-z]+$|cache [a-z]+$|kill container$|login %s$|not here$` +
	`|(?:use|look at|read|open|find|check|back up|export|import into|export for|restore|salvage|sign) (?:the )?(?:in|tool cache|server|vault|SiYuan)$|%s in %s$)`)

// unseen matches functions whose arguments are not shown to people.
var unseen = regexp.MustCompile(`(?i)\blog(ger)?\.(Debug|Info|Warn|Error)$|^(panic|lazyregexp\.New|slog\..*)$`)

// below returns the texts of the packages below that must be in the catalog, with their places.
func below(t *testing.T) map[string]string {
	t.Helper()
	top := filepath.Join("..", "..")
	set, files := sources(t, top)
	constants := constantsOf(files)
	out := map[string]string{}
	for path, f := range files {
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, top+string(filepath.Separator))))
		if unspoken.MatchString(dir) {
			continue
		}
		known := constants[filepath.Dir(path)]
		says := func(e ast.Expr) {
			if c, ok := e.(*ast.CallExpr); ok && called(c) == "fmt.Sprintf" {
				e = c.Args[0]
			}
			if text, ok := folded(e, known); ok && prose.MatchString(text) && !wordless.MatchString(text) {
				out[text] = set.Position(e.Pos()).String()
			}
		}
		all := slices.Contains(spoken, dir)
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.CompositeLit:
				if name, ok := x.Type.(*ast.SelectorExpr); !ok || name.Sel.Name != "Error" {
					break
				}
				for _, e := range x.Elts {
					if kv := e.(*ast.KeyValueExpr); slices.Contains([]string{"Message", "Hint"}, kv.Key.(*ast.Ident).Name) {
						says(kv.Value)
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := x.Key.(*ast.Ident); ok && key.Name == "Op" {
					return false // operations checks these
				}
			case *ast.CallExpr:
				return !unseen.MatchString(called(x))
			case *ast.BinaryExpr:
				if all && x.Op == token.ADD {
					says(x)
					_, ok := folded(x, known)
					return !ok
				}
			case *ast.BasicLit:
				if all && x.Kind == token.STRING {
					says(x)
				}
			}
			return true
		})
	}
	return out
}

// opsElsewhere matches packages whose errors no terminal shows: those for browsers and those of tests.
var opsElsewhere = regexp.MustCompile(`^(face/web|.*test)(/|$)`)

// operations returns the texts that errors anywhere give as the operation, with their places: literals and
// constants that are the Op of a tool.Error or the argument for a parameter called op.
func operations(t *testing.T) map[string]string {
	t.Helper()
	top := filepath.Join("..", "..")
	set, files := sources(t, top)
	constants := constantsOf(files)
	takes := map[string]int{} // position of the parameter op, by the package's folder and the function's name
	for path, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if at := opParameter(fn.Type); at >= 0 {
					takes[filepath.Base(filepath.Dir(path))+"."+fn.Name.Name] = at
				}
			}
		}
	}
	out := map[string]string{}
	for path, f := range files {
		dir := filepath.Dir(path)
		if opsElsewhere.MatchString(filepath.ToSlash(strings.TrimPrefix(dir, top+string(filepath.Separator)))) {
			continue
		}
		says := func(e ast.Expr) {
			if _, isSum := e.(*ast.BinaryExpr); isSum && !allConstant(e, constants[dir]) {
				return
			}
			if text, ok := folded(e, constants[dir]); ok && text != "" {
				out[text] = set.Position(e.Pos()).String()
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CompositeLit:
				if name, ok := x.Type.(*ast.SelectorExpr); !ok || name.Sel.Name != "Error" {
					break
				}
				for _, e := range x.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Op" {
						says(kv.Value)
					}
				}
			case *ast.ValueSpec:
				for i, name := range x.Names {
					if name.Name == "op" && i < len(x.Values) {
						says(x.Values[i])
					}
				}
			case *ast.CallExpr:
				name := called(x)
				if pkg, _, ok := strings.Cut(name, "."); !ok || takes[name] == 0 && pkg != filepath.Base(dir) {
					name = filepath.Base(dir) + "." + name[strings.LastIndex(name, ".")+1:]
				}
				if at, ok := takes[name]; ok && at < len(x.Args) {
					says(x.Args[at])
				}
			}
			return true
		})
	}
	return out
}

// opParameter returns the position of a function's string parameter called op; -1 if there is none.
func opParameter(f *ast.FuncType) int {
	at := 0
	for _, p := range f.Params.List {
		for _, name := range p.Names {
			if last, ok := p.Type.(*ast.Ident); ok && name.Name == "op" && last.Name == "string" {
				return at
			}
			at++
		}
		if len(p.Names) == 0 {
			at++
		}
	}
	return -1
}

// The texts that packages below say to people are in the catalog, and so is the operation of every error.
func TestTextsFromBelowAreInTheCatalog(t *testing.T) {
	t.Parallel()
	have := catalog(t)
	texts := below(t)
	p, _, _ := newProgram("")
	root := p.tree()
	for op, place := range operations(t) {
		if !strings.Contains(op, " ") || !isTyped(root, op) { // names of commands are not translated, since people type them
			texts[op] = place
		}
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if _, ok := have[text]; !ok {
			t.Errorf("%s: locale/zh.po lacks it; add, with the Chinese text:\nmsgid %q\nmsgstr \"\"", texts[text], text)
		}
	}
}
