package collie_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers is the authority on imports between our own folders. It maps each folder with Go code to the folders
// it may import, both without "internal/". "x/*" is any folder directly below x; "x/..." is x and everything
// below it. These rules are not written out: a folder may import what is below itself; x/xtest, which
// supports tests, may import x and what x may import, plus its own row; test files may import anything; and
// every folder may import everywhere.
var layers = map[string]string{
	"tool": "", "mcp": "", "event": "", "process": "", "atomicfile": "",
	"sorting": "", "lazyregexp": "", "sqliteconn": "", "jsonc": "", "units": "", "puretemplate": "", "config": "tool atomicfile jsonc units", "secret": "atomicfile",
	"secret/admin": "config secret source/upstream/signin",
	"sqlguard":     "sqliteconn",
	"store":        "sqliteconn atomicfile",
	"siyuanapi":    "",
	"backup":       "",
	"rawjson":      "", "arguments": "tool rawjson",

	"vault":           "atomicfile",
	"vault/tree":      "siyuanapi",
	"vault/markup":    "vault/tree",
	"vault/workspace": "vault/tree vault/markup sqliteconn sqlguard atomicfile",
	"vault/api":       "vault/tree vault/markup vault/workspace",
	"vault/edit":      "vault/tree vault/markup vault/workspace vault/api vault/template",
	"vault/template":  "puretemplate",
	"vault/*":         "siyuanapi vault/tree vault/markup vault/workspace vault/api vault/edit vault/template", // a family of endpoints, which never imports another

	"pipeline":                    "tool event",
	"pipeline/*":                  "tool event", // a stage, which never imports another stage
	"pipeline/limit":              "tool event units",
	"pipeline/audit":              "tool event atomicfile",
	"pipeline/analytics":          "tool event atomicfile",
	"pipeline/gate":               "tool event atomicfile units",
	"pipeline/gate/notify":        "tool event process pipeline/gate",
	"pipeline/gate/decision":      "tool",
	"pipeline/gate/grant":         "tool",
	"pipeline/gate/grant/grantdb": "pipeline/gate/grant tool store",
	"pipeline/firewall":           "tool sqlguard",
	"pipeline/guardian":           "tool llm store",

	"source":                          "tool event atomicfile source/find",
	"source/find":                     "",
	"source/siyuan":                   "tool event atomicfile",
	"source/siyuan/kernel":            "tool siyuanapi",
	"source/siyuan/kernel/kerneltest": "vault vault/workspace vault/vaulttest", // the kernel for tests
	"source/siyuan/access":            "tool atomicfile source/siyuan/kernel/...",
	"source/siyuan/action":            "tool source/siyuan/kernel/... source/siyuan/access",
	"source/siyuan/content":           "tool source/siyuan/kernel source/siyuan/access source/siyuan/action/...",
	"source/siyuan/search": "tool event atomicfile puretemplate sqlguard source/siyuan/kernel source/siyuan/access source/siyuan/action " +
		"source/siyuan/content source/siyuan/datafile",
	"source/siyuan/datafile": "tool puretemplate source/siyuan/kernel source/siyuan/access source/siyuan/action",
	"source/siyuan/*": "siyuanapi tool event atomicfile puretemplate source/siyuan/kernel source/siyuan/access source/siyuan/action " +
		"source/siyuan/content source/siyuan/datafile",
	"source/upstream":               "tool event mcp process atomicfile units",
	"source/upstream/*":             "tool event mcp process atomicfile jsonc units",
	"source/upstream/supervise":     "tool source/upstream/entry",
	"source/upstream/session":       "mcp process source/upstream/entry source/upstream/serverlog units",
	"source/upstream/inflight":      "tool mcp units",
	"source/upstream/listing":       "tool mcp source/upstream/entry source/upstream/pins source/upstream/serverlog source/upstream/toolcache units",
	"source/upstream/toolcache/...": "tool atomicfile source/upstream/toolcache",

	"llm":               "",
	"llm/keypool":       "llm",
	"llm/keypool/keydb": "llm/keypool store",
	"llm/client":        "llm/...",
	"chat":              "llm tool store atomicfile chat/page",
	"chat/page":         "",
	"chat/transcript":   "chat llm",
	"agent":             "tool arguments pipeline pipeline/promptguard pipeline/guardian chat llm process",
	"agent/acp":         "tool mcp process",
	"agent/library":     "tool atomicfile jsonc",
	"llm/wire":          "llm",
	"llm/*":             "llm llm/wire", // a codec, which never sees another
	"llm/codec":         "llm/wire llm/openai llm/responses llm/anthropic llm/gemini llm/ollama",
	"llm/models":        "llm",
	"llm/transform":     "llm llm/wire llm/models",

	"face/httpserver":        "tool",
	"face/httpserver/tokens": "tool atomicfile",
	"face/mcpserver":         "tool mcp pipeline process",
	"face/mcpserver/bridge":  "tool mcp", // a client of a gateway, never one itself
	"face/mcpserver/toolbox": "agent tool pipeline face/httpserver face/mcpserver",
	"face/web":               "tool arguments pipeline pipeline/audit pipeline/gate/grant event agent/library chat llm llm/admin source/upstream/admin source/siyuan/admin",
	"face/pages":             "tool",
	"face/pages/browsers":    "tool atomicfile",
	"face/web/webtest":       "pipeline/audit source",
	"app": "tool mcp event process atomicfile secret/... config vault/... " +
		"pipeline/... source/... agent/... chat store llm/...",
	"app/feed":   "tool event chat pipeline/gate source/upstream",
	"cmd/collie": "face/cli process",

	// Management of a part, which faces may import.
	"source/siyuan/admin":             "tool source source/siyuan source/siyuan/kernel source/siyuan/access source/siyuan/action source/siyuan/connection source/siyuan/panel source/siyuan/safety",
	"vault/admin":                     "tool atomicfile vault vault/workspace vault/folder vault/salvage",
	"source/upstream/admin":           "tool mcp process config secret/... source/upstream/...",
	"source/upstream/entry/admin":     "config source/upstream/entry",
	"llm/admin":                       "tool rawjson config secret/admin llm llm/client llm/keypool",
	"pipeline/firewall/admin":         "tool config pipeline/firewall",
	"pipeline/audit/admin":            "tool config pipeline/audit",
	"pipeline/gate/grant/admin":       "tool pipeline/audit pipeline/gate/grant",
	"source/upstream/toolcache/admin": "tool config source/upstream/toolcache",
	"source/upstream/hosts/admin":     "tool atomicfile config source/upstream/hosts source/upstream/entry",

	"face/cli":               "app config units tool pipeline process face/cli/locale",
	"face/cli/home":          "atomicfile config process tool face/cli/locale",
	"face/cli/locale":        "",
	"face/cli/output":        "config face/cli/locale",
	"face/cli/remote":        "app config tool rawjson face/cli/home face/cli/locale", // the gateway that runs, asked over its API
	"face/cli/root":          "app config units tool process arguments secret/admin source/upstream/admin face/cli/home face/cli/locale face/cli/output face/cli/remote",
	"face/cli/gateway":       "app backup config agent/library tool process vault/admin face/httpserver/... face/mcpserver/... face/pages/... face/web " + commandGround + " face/cli/audit face/cli/clients face/cli/mcp face/cli/notes source/siyuan/admin",
	"face/cli/mcp":           "app config tool process source/upstream/entry/admin source/upstream/hosts/admin face/cli/clients face/cli/learn " + commandGround,
	"face/cli/clients":       "app config tool process face/httpserver/tokens source/upstream/hosts/admin face/cli/learn " + commandGround,
	"face/cli/chat":          "app atomicfile config tool face/cli/call face/cli/conversation " + commandGround,
	"face/cli/chat/markdown": "",
	"face/cli/conversation":  "app config agent/library chat/transcript tool face/cli/call face/mcpserver/toolbox face/web " + commandGround,
	"face/cli/cache":         "app config tool process face/cli/learn " + commandGround,
	"face/cli/settings":      "app config tool process face/httpserver/tokens face/cli/call " + commandGround,
	"face/cli/notes":         "app config tool process vault/admin source/siyuan/admin face/cli/call " + commandGround,
	"face/cli/audit":         "app config tool units " + commandGround,
	"face/cli/*":             "app config tool process " + commandGround, // a group of commands

	".":        "",
	"test/...": "...", // tests of the whole program; nothing imports them
}

// commandGround is what the groups of commands stand on.
const commandGround = "pipeline/gate/grant/admin pipeline/firewall/admin pipeline/audit/admin rawjson arguments secret/admin llm/admin source/upstream/admin source/upstream/toolcache/admin face/cli/home face/cli/locale face/cli/output face/cli/remote face/cli/root"

// everywhere may be imported by all folders, like the standard library: these packages know nothing of this
// program.
const everywhere = "sorting lazyregexp"

// TestLayers finds imports that layers forbids, and imports and names that fences forbids.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, breach := range breaches(t, os.DirFS(".")) {
		t.Error(breach)
	}
}

// TestTablesNameFolders fails for a row about a folder that does not exist, because a mistake in such a row
// would never be noticed.
func TestTablesNameFolders(t *testing.T) {
	t.Parallel()
	named := []string{everywhere}
	for folder, allowed := range layers {
		named = append(named, folder, allowed)
	}
	for _, open := range fences {
		named = append(named, open)
	}
	for pattern := range strings.FieldsSeq(strings.Join(named, " ")) {
		folder := strings.TrimRight(pattern, "/*.")
		_, ours := os.Stat(path.Join("internal", folder))
		if _, err := os.Stat(path.Join(".", folder)); ours != nil && err != nil {
			t.Errorf("%s: there is no such folder; leave out its row", pattern)
		}
	}
}

// breaches returns a line for each folder of tree that is missing in the table, each forbidden import, and
// each use that a fence forbids.
func breaches(t *testing.T, tree fs.FS) (found []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(tree, file):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		folder := strings.TrimPrefix(path.Dir(file), "internal/")
		allowed, ok := allowedBy(folder)
		if line := folder + " is not in the table of layers_test.go"; !ok && !slices.Contains(found, line) {
			found = append(found, line)
		}
		if !ok || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(tree, file)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		report := func(n ast.Node, breach string) {
			found = append(found, fmt.Sprintf("%s: %s %s", fset.Position(n.Pos()), folder, breach))
		}
		for _, spec := range parsed.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "collie/")
			imported = strings.TrimPrefix(imported, "internal/")
			below := strings.HasPrefix(imported, folder+"/")
			if ours && (!below && !matchesAny(imported, allowed+" "+everywhere) || supportsTests(imported) && !supportsTests(folder)) {
				report(spec, "may not import "+imported)
			}
		}
		checkFences(parsed, folder, report)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestNobodySleeps makes tests wait through package await. forbidigo checks the same where it runs.
func TestNobodySleeps(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(".")
	err := fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(tree, file):
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go") || path.Dir(file) == "test/await":
			return nil
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf("%s sleeps: wait with package test/await", fset.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// foreign reports whether a folder is not part of this module.
func foreign(tree fs.FS, dir string) bool {
	name := path.Base(dir)
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return dir != "." && (err == nil || name == "testdata" || name == "node_modules" || strings.ContainsAny(name[:1], "._"))
}

// allowedBy returns what a folder may import: its own row of layers, a "x/*" row, or a "x/..." row.
func allowedBy(folder string) (allowed string, ok bool) {
	rows := []string{folder, path.Dir(folder) + "/*"}
	for up := folder; up != "."; up = path.Dir(up) {
		if x := path.Dir(up); path.Base(up) == path.Base(x)+"test" {
			allowed, ok = allowedBy(x)
			return allowed + " " + x + "/... " + layers[up], ok
		}
		rows = append(rows, up+"/...")
	}
	for _, row := range rows {
		if allowed, ok = layers[row]; ok {
			break
		}
	}
	return allowed, ok
}

// supportsTests reports whether a folder is test/ or x/xtest, or below one of these.
func supportsTests(folder string) bool {
	for up := folder; up != "."; up = path.Dir(up) {
		if up == "test" || path.Base(up) == path.Base(path.Dir(up))+"test" {
			return true
		}
	}
	return false
}

// matchesAny reports whether one of the patterns, separated by spaces, matches the folder.
func matchesAny(folder, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		above, deep := strings.CutSuffix(p, "...")
		return p == folder || deep && strings.HasPrefix(folder+"/", above)
	})
}
