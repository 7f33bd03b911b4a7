package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
)

// This file checks that the texts of commands are in the Chinese catalog, and that the catalog fits them.

// verbs matches the verbs of a format and the argument numbers in them.
var verbs = regexp.MustCompile(`%[-+#.0-9]*(?:\[([0-9]+)\])?[-+#.0-9]*([a-zA-Z%])`)

// prose matches a text with two adjacent words, or a word next to a verb.
var prose = regexp.MustCompile(`[A-Za-z]{2,}[:;,.]? +(?:[A-Za-z]{2,}|%)|% [a-z]{2,}`)

// untold matches texts that look like prose but are not translated, such as names and what is written into
// other programs' files.
var untold = regexp.MustCompile(`^(?:\s*(?:<|</?[a-z?!]|Description=)|Bearer |\{"|event: error$|cli: |collie: %s$|catalog, line` +
	`| ?--[a-z-]+(?: %s)? ?$| -- npx |%s-json %s$|(?:collie )?%s \(%s, %s/%s\)\n?$|exit code %d$|Task Scheduler$|siyuan carry$|collie %s(?: %s| help)?$|loginctl |chmod 700 )`)

// isTyped reports whether a text is a command line, or the name of a command, which is not translated.
func isTyped(root *cobra.Command, text string) bool {
	words := strings.Fields(strings.TrimPrefix(text, "sudo "))
	if len(words) > 0 && words[0] == "collie" {
		words = words[1:]
	}
	c, rest, err := root.Find(words)
	setting := c != nil && c.CommandPath() == "collie config set"
	return err == nil && (c != root || len(words) == 0) && (setting && len(rest) <= 2 || !slices.ContainsFunc(rest, regexp.MustCompile(`^[a-z]+$`).MatchString))
}

// logged matches methods of loggers: logs are in English.
var logged = regexp.MustCompile(`(?i)\blog(ger)?\.(Debug|Info|Warn|Error)$`)

// sourceText is a text in the source of a command.
type sourceText struct {
	text  string
	place string
	must  bool // must be in the catalog even if it is one word
}

// parseSources parses the Go files below dir, without tests.
func parseSources(t *testing.T, dir string) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	set, out := token.NewFileSet(), map[string]*ast.File{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		out[path], err = parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, out
}

// foldConstants returns a text with %s in place of what is not constant; ok is false if no part is constant.
func foldConstants(e ast.Expr, constants map[string]string) (text string, ok bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			text, err := strconv.Unquote(x.Value)
			return text, err == nil
		}
	case *ast.ParenExpr:
		return foldConstants(x.X, constants)
	case *ast.Ident:
		text, ok = constants[x.Name]
		return text, ok
	case *ast.BinaryExpr:
		if x.Op != token.ADD {
			return "", false
		}
		a, ok1 := foldConstants(x.X, constants)
		b, ok2 := foldConstants(x.Y, constants)
		if !ok1 {
			a = "%s"
		}
		if !ok2 {
			b = "%s"
		}
		return a + b, ok1 || ok2
	}
	return "", false
}

// allConstant reports whether all parts of a sum of texts are constants. Otherwise it cannot be in a catalog.
func allConstant(e ast.Expr, constants map[string]string) bool {
	if b, ok := e.(*ast.BinaryExpr); ok {
		return allConstant(b.X, constants) && allConstant(b.Y, constants)
	}
	_, ok := foldConstants(e, constants)
	return ok
}

// constantsOf returns the constant texts of each folder's package.
func constantsOf(files map[string]*ast.File) map[string]map[string]string {
	out := map[string]map[string]string{}
	for path, f := range files {
		dir := filepath.Dir(path)
		if out[dir] == nil {
			out[dir] = map[string]string{}
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						if text, ok := foldConstants(v.Values[i], nil); ok {
							out[dir][name.Name] = text
						}
					}
				}
			}
		}
	}
	return out
}

// commandTexts returns the texts in the source of all commands. It calls wrong for each text that reaches people
// untranslated.
func commandTexts(t *testing.T, wrong func(place, text string)) []sourceText {
	t.Helper()
	set, files := parseSources(t, ".")
	constants := constantsOf(files)
	var out []sourceText
	for path, f := range files {
		if strings.HasPrefix(path, "locale"+string(filepath.Separator)) {
			continue
		}
		known := constants[filepath.Dir(path)]
		skip, must := map[ast.Node]bool{}, map[ast.Node]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || skip[n] {
				return n == nil
			}
			place := func(n ast.Node) string { return set.Position(n.Pos()).String() }
			switch x := n.(type) {
			case *ast.ImportSpec, *ast.CaseClause:
				if c, ok := x.(*ast.CaseClause); ok {
					for _, e := range c.List {
						skip[e] = true
					}
					return true
				}
				return false
			case *ast.Field:
				if x.Tag != nil {
					skip[x.Tag] = true
				}
			case *ast.KeyValueExpr:
				key, _ := x.Key.(*ast.Ident)
				switch {
				case key != nil && slices.Contains([]string{"Use", "Example", "Op", "Name"}, key.Name):
					return false
				case key != nil && slices.Contains([]string{"Short", "Long", "Message", "Hint"}, key.Name):
					must[x.Value] = true
				case key == nil:
					skip[x.Key] = true
				}
			case *ast.AssignStmt:
				for i, l := range x.Lhs {
					if s, ok := l.(*ast.SelectorExpr); ok && s.Sel.Name == "Example" {
						skip[x.Rhs[i]] = true
					}
				}
			case *ast.CompositeLit:
				markTranslatedCells(x, must)
			case *ast.CallExpr:
				switch name := calledName(x); {
				case name == "locale.Count":
					if text, ok := foldConstants(x.Args[1], known); ok {
						out = append(out, sourceText{"%d " + text, place(x), true})
						skip[x.Args[1]] = true
					}
				case strings.HasPrefix(name, "fmt.Fprint"):
					for _, a := range x.Args[1:] {
						if text, ok := foldConstants(a, known); ok && regexp.MustCompile(`[A-Za-z]{2,}`).MatchString(verbs.ReplaceAllString(text, "")) && !untold.MatchString(text) && !strings.HasPrefix(text, "{") && text != "collie: %s" {
							wrong(place(x), text)
						}
					}
				case slices.Contains([]string{"lazyregexp.New", "regexp.MustCompile", "Getenv"}, name), logged.MatchString(name):
					return false
				case name == "add" && len(x.Args) == 2 && !strings.Contains(path, "launchd"):
					must[x.Args[0]] = true
				case name == "locale.T", name == "locale.Sprintf":
					must[x.Args[0]] = true
				case name == "locale.Fprintf":
					must[x.Args[1]] = true
				case strings.HasSuffix(name, ".Note"), strings.HasSuffix(name, ".Warn"), strings.HasSuffix(name, "Usage"),
					strings.HasSuffix(name, ".RequireYes"), strings.HasSuffix(name, ".Prompt"), strings.HasSuffix(name, ".PromptOr"), strings.HasSuffix(name, ".AskYesNo"):
					for _, a := range x.Args {
						if text, ok := foldConstants(a, known); ok {
							if _, isSum := a.(*ast.BinaryExpr); isSum && strings.Contains(text, "%s") && !allConstant(a, known) {
								wrong(place(x), text)
							}
							must[a] = true
							break
						}
					}
				case regexp.MustCompile(`^(flags|c\.Flags\(\)|\.)\.?[A-Z][a-zA-Z0-9]*Var$|Var(P)?$`).MatchString(name) && len(x.Args) >= 3:
					must[x.Args[len(x.Args)-1]] = true
					for _, a := range x.Args[:len(x.Args)-1] {
						skip[a] = true
					}
				}
			case *ast.BinaryExpr, *ast.BasicLit:
				text, ok := foldConstants(x.(ast.Expr), known)
				if b, isSum := x.(*ast.BinaryExpr); isSum && (b.Op != token.ADD || !ok) {
					return true
				}
				if ok {
					out = append(out, sourceText{text, place(n), must[n]})
				}
				return false
			}
			return true
		})
	}
	return out
}

// calledName returns the name of a called function as it is written.
func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		if x, ok := f.X.(*ast.SelectorExpr); ok {
			return x.Sel.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

// markTranslatedCells marks the column titles of a table, and the first cells of rows in a table without titles.
func markTranslatedCells(x *ast.CompositeLit, must map[ast.Node]bool) {
	title := regexp.MustCompile(`^[A-Z][A-Z ]+$`)
	titles, texts := 0, 0
	for _, e := range x.Elts {
		if text, ok := foldConstants(e, nil); ok {
			texts++
			if title.MatchString(text) {
				titles++
			}
		}
	}
	a, ok := x.Type.(*ast.ArrayType)
	row := x.Type == nil || ok && fmt.Sprint(a.Elt) == "string"
	switch {
	case len(x.Elts) == 0 || !row:
	case titles > 0 && texts == len(x.Elts):
		for _, e := range x.Elts {
			if text, _ := foldConstants(e, nil); title.MatchString(text) {
				must[e] = true
			}
		}
	case len(x.Elts) == 2 && texts == 1 && !strings.Contains(fmt.Sprint(x.Elts[0]), "--"):
		if text, ok := foldConstants(x.Elts[0], nil); ok && regexp.MustCompile(`^[a-z][a-z ]+$`).MatchString(text) {
			must[x.Elts[0]] = true
		}
	}
}

// readCatalog returns the Chinese catalog as written.
func readCatalog(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("locale", "zh.po"))
	if err != nil {
		t.Fatal(err)
	}
	return locale.Parse(string(raw)).Texts()
}

// Every text of a command is in the catalog and is translated before people see it.
func TestTextsAreInTheCatalog(t *testing.T) {
	onceWithoutRace(t)
	t.Parallel()
	have := readCatalog(t)
	missing := map[string]string{}
	p, _, _ := newProgram("")
	root := p.tree()
	for _, s := range commandTexts(t, func(place, text string) {
		t.Errorf("%s: %q passes the catalog by; say it with locale.Sprintf", place, text)
	}) {
		letters := regexp.MustCompile(`[A-Za-z]{2,}`).MatchString(verbs.ReplaceAllString(s.text, ""))
		if _, ok := have[s.text]; ok || untold.MatchString(s.text) || isTyped(root, s.text) || !letters || !s.must && !prose.MatchString(s.text) {
			continue
		}
		missing[s.text] = s.place
	}
	for _, text := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s: locale/zh.po lacks it; add, with the Chinese text:\nmsgid %q\nmsgstr \"\"", missing[text], text)
	}
}

// Every text in the catalog is used by a command, or by a package whose errors people see.
func TestCatalogHasNothingElse(t *testing.T) {
	onceWithoutRace(t)
	t.Parallel()
	used := map[string]bool{}
	for _, s := range commandTexts(t, func(string, string) {}) {
		used[s.text] = true
	}
	_, files := parseSources(t, filepath.Join("..", ".."))
	constants := constantsOf(files)
	for path, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := foldConstants(e, constants[filepath.Dir(path)]); ok {
					used[text] = true
				}
			}
			return true
		})
	}
	for text := range readCatalog(t) {
		if !used[text] && !slices.Contains(ofOthers, text) {
			t.Errorf("nothing says %q", text)
		}
	}
}

// ofOthers are texts in the catalog that cobra, pflag or the operating system print.
var ofOthers = []string{
	"no such file or directory", "permission denied", "connection refused", "no space left on device", "read-only file system",
	"is a directory", "file exists", "context deadline exceeded", "i/o timeout",

	"Usage:", "Aliases:", "Examples:", "Available Commands:", "Flags:", "Global Flags:", "help for %s", "version for %s",
	`Use "%s [command] --help" for more information about a command.`, "Help about any command",
	"Generate the autocompletion script for the specified shell", "Generate the autocompletion script for %s",
	"disable completion descriptions", "unknown flag: %s", "unknown shorthand flag: %s in %s", "flag needs an argument: %s",
	"invalid argument %q for %q flag: %s", "unknown command %q for %q", "accepts %d arg(s), received %d",
	"accepts at most %d arg(s), received %d", "requires at least %d arg(s), only received %d",
	"if any flags in the group [%s] are set none of the others can be; [%s] were all set",
}

// A translation uses the same arguments as the English text, and the same name for a flag's value.
func TestTranslationsTakeTheSameArguments(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile("`[^`]*`")
	for english, translation := range readCatalog(t) {
		if want, got := verbsByArgument(english), verbsByArgument(translation); !maps.Equal(want, got) {
			t.Errorf("%q takes %v, its translation %q takes %v", english, want, translation, got)
		}
		if want, got := quoted.FindString(english), quoted.FindString(translation); want != got {
			t.Errorf("%q names its value %s, its translation %s", english, want, got)
		}
		if strings.HasSuffix(english, "\n") != strings.HasSuffix(translation, "\n") {
			t.Errorf("%q and %q do not end alike", english, translation)
		}
	}
}

// verbsByArgument returns the verbs of a format by the number of the argument that each shows.
func verbsByArgument(format string) map[int]string {
	out := map[int]string{}
	next := 1
	for _, m := range verbs.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		out[next] = m[2]
		next++
	}
	return out
}
