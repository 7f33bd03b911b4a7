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

// This file checks that the texts of packages other than the commands, which people read too, are in the Chinese catalog.

// allTextPackages are packages all of whose texts must be in the catalog, since people read them at the terminal: findings,
// problems, steps and errors. Of the others, only messages and hints of errors must be.
var allTextPackages = []string{
	"agent/library", "app", "arguments", "config", "pipeline/audit", "process", "secret", "secret/admin", "source/siyuan/access", "source/siyuan/admin",
	"source/siyuan/connection", "source/upstream", "source/upstream/admin", "source/upstream/entry", "source/upstream/entry/admin",
	"source/upstream/hosts", "source/upstream/hosts/admin", "source/upstream/session", "source/upstream/signin",
	"source/upstream/toolcache/admin", "units", "vault/admin", "vault/folder",
}

// noticePackages are packages whose notices must be in the catalog too: the second arguments of methods called Notice.
var noticePackages = regexp.MustCompile(`^(agent|chat|llm|store)(/|$)`)

// skippedPackages are packages whose texts this file does not check: the faces (locale_internal_test.go checks the commands), those
// whose texts go to programs, and packages of tests.
var skippedPackages = regexp.MustCompile(`^(face|mcp|.*test)(/|$)`)

// untranslated matches texts of allTextPackages that are not translated: names of operations, values that are
// also in JSON, signed text, and text for browsers, models and servers.
var untranslated = regexp.MustCompile(`(?s)^(?:Collie joins|collie audit |…\[|(?:application|text)/|(?:Basic|Bearer) %s$|SELECT |\{"code"|; it said: $|PRIVATE KEY$|API key$|Library/|Not signed in|Signed in|This is not the` +
	`|(?:chain|head|anchor) (?:missing|forged)$|newer format$|tool config$|command line$|[A-Z_]{4,} [A-Z_]{4,}|Claude (?:Code|Desktop)$|Gemini CLI$|(?:Kilo|Roo) Code$|Spring AI$|Visual Studio Code$|Application Support$` +
	`|(?:deno|docker|nerdctl|podman|uv|pipx|npm|pnpm|yarn)(?: container| tool)? (?:run|exec|dlx)$|conflicts %s$|daily note/|date (?:created|modified)$|last modified$|front matter$|json_extract|\{:|\{\{` +
	`|[a-z-]+ acp$|GitHub Copilot$|Qwen Code$|An agent of %s$|yaml: %v$|(?:permission|disallowedTools): %s$` +
	`|mcp [a-z]+$|read anchor|(?:export|prune) audit log: %w$|verify export: %w$|cache [a-z]+$|kill container$|login %s$|not here$` +
	`|(?:use|look at|read|open|find|check|back up|export|import into|export for|restore|salvage|sign) (?:the )?(?:in|tool cache|server|vault|SiYuan)$|%s in %s$)`)

// unseenCalls matches functions whose arguments are not shown to people.
var unseenCalls = regexp.MustCompile(`(?i)\blog(ger)?\.(Debug|Info|Warn|Error)$|^(panic|lazyregexp\.New|slog\..*)$`)

// textsBelowCommands returns the texts of packages other than the commands that must be in the catalog, with their places. It finds them
// in the syntax trees of the sources.
func textsBelowCommands(t *testing.T) map[string]string {
	t.Helper()
	top := filepath.Join("..", "..")
	set, files := parseSources(t, top)
	constants := constantsOf(files)
	takes := map[string][]int{} // positions of the parameters message and hint, by the package's folder and the function's name
	for path, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				for _, name := range []string{"message", "hint"} {
					if at := stringParameterIndex(fn.Type, name); at >= 0 {
						takes[filepath.Base(filepath.Dir(path))+"."+fn.Name.Name] = append(takes[filepath.Base(filepath.Dir(path))+"."+fn.Name.Name], at)
					}
				}
			}
		}
	}
	out := map[string]string{}
	for path, f := range files {
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, top+string(filepath.Separator))))
		if skippedPackages.MatchString(dir) {
			continue
		}
		known := constants[filepath.Dir(path)]
		says := func(e ast.Expr) {
			if c, ok := e.(*ast.CallExpr); ok && calledName(c) == "fmt.Sprintf" {
				e = c.Args[0]
			}
			if text, ok := foldConstants(e, known); ok && prose.MatchString(text) && !untranslated.MatchString(text) {
				out[text] = set.Position(e.Pos()).String()
			}
		}
		all, notices := slices.Contains(allTextPackages, dir), noticePackages.MatchString(dir)
		visitQuestionTexts(f, says)
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
			case *ast.AssignStmt:
				for i, l := range x.Lhs {
					if s, ok := l.(*ast.SelectorExpr); ok && x.Tok != token.ADD_ASSIGN && slices.Contains([]string{"Message", "Hint"}, s.Sel.Name) && len(x.Lhs) == len(x.Rhs) {
						says(x.Rhs[i])
					}
				}
			case *ast.CallExpr:
				if unseenCalls.MatchString(calledName(x)) {
					return false
				}
				if notices && strings.HasSuffix(calledName(x), ".Notice") && len(x.Args) == 2 {
					says(x.Args[1])
				}
				name := qualifiedName(calledName(x), dir)
				if method, ok := strings.CutPrefix(calledName(x), "r."); ok && strings.HasPrefix(dir, "source/siyuan/") {
					name = "action." + method // the request of an action
				}
				for _, at := range takes[name] {
					if at < len(x.Args) {
						says(x.Args[at])
					}
				}
			case *ast.BinaryExpr:
				if all && x.Op == token.ADD {
					says(x)
					_, ok := foldConstants(x, known)
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

// visitQuestionTexts calls says for the texts of ours that a person reads in a question: the effects of dangerous actions, and the
// reasons of rules.
func visitQuestionTexts(f *ast.File, says func(ast.Expr)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := x.Key.(*ast.Ident); ok && key.Name == "Effect" {
				ast.Inspect(x.Value, func(n ast.Node) bool { return n == nil || !visitText(n, says) })
			}
		case *ast.CallExpr:
			if name := calledName(x); len(x.Args) > 2 && (strings.HasSuffix(name, ".report") || strings.HasSuffix(name, ".reportRisk")) {
				says(x.Args[2])
			}
		case *ast.FuncDecl:
			if x.Name.Name == "harmOf" {
				ast.Inspect(x.Body, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok {
						says(r.Results[0])
					}
					return true
				})
			}
		}
		return true
	})
}

// visitText calls says for n if n is a text or a sum. It returns true for a sum, whose parts are then not visited.
func visitText(n ast.Node, says func(ast.Expr)) bool {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		says(x)
		return true
	case *ast.BasicLit:
		says(x)
	}
	return false
}

// opsElsewhere matches packages whose errors are not shown at a terminal: those for browsers and those of tests.
var opsElsewhere = regexp.MustCompile(`^(face/web|.*test)(/|$)`)

// operations returns the texts that errors give as the operation, with their places: literals and constants that are the Op of a
// tool.Error or the argument for a parameter called op, of a function of the same package or one called by its package's name.
func operations(t *testing.T) map[string]string {
	t.Helper()
	top := filepath.Join("..", "..")
	set, files := parseSources(t, top)
	constants := constantsOf(files)
	takes := map[string]int{} // position of the parameter op, by the package's folder and the function's name
	for path, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if at := stringParameterIndex(fn.Type, "op"); at >= 0 {
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
			if text, ok := foldConstants(e, constants[dir]); ok && text != "" {
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
				name := calledName(x)
				if _, known := takes[name]; !known {
					name = qualifiedName(name, dir)
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

// qualifiedName returns the name of a called function with the last element of dir, the folder of the calling package, in place of
// what it is written with. So methods count as functions of the calling package, and functions of other packages are not found.
func qualifiedName(name, dir string) string {
	if pkg, _, ok := strings.Cut(name, "."); ok && pkg == filepath.Base(dir) {
		return name
	}
	return filepath.Base(dir) + "." + name[strings.LastIndex(name, ".")+1:]
}

// stringParameterIndex returns the position of a function's string parameter of that name; -1 if there is none.
func stringParameterIndex(f *ast.FuncType, called string) int {
	at := 0
	for _, p := range f.Params.List {
		for _, name := range p.Names {
			if last, ok := p.Type.(*ast.Ident); ok && name.Name == called && last.Name == "string" {
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
	onceWithoutRace(t)
	t.Parallel()
	have := readCatalog(t)
	texts := textsBelowCommands(t)
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
