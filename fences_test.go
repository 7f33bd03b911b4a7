package collie_test

import (
	"go/ast"
	"path"
	"strings"
)

// fences lists what only some folders may use: an imported package with everything below it, or one name of a
// standard package. The folders are patterns as in layers. Test files, and folders that support tests, may
// use everything.
var fences = map[string]string{
	// Tests use the official SDK as the independent other side; the product uses only its OAuth parts.
	"github.com/modelcontextprotocol/go-sdk":         "",
	"github.com/modelcontextprotocol/go-sdk/auth":    "source/upstream/... face/mcpserver",
	"github.com/modelcontextprotocol/go-sdk/oauthex": "source/upstream/... face/mcpserver",

	"os/exec":                 "process",
	"database/sql":            "", // its connection pool does not suit files that several processes write
	"modernc.org/sqlite":      "", // used below zombiezen.com/go/sqlite
	"zombiezen.com/go/sqlite": "sqliteconn sqlguard store vault/workspace",
	"github.com/88250/lute":   "vault/markup",
	"mvdan.cc/sh/v3":          "pipeline/firewall",

	"charm.land": "face/cli/chat/...",

	// Both call methods by names known only at run time; a program with such calls keeps all methods of its
	// types.
	"html/template":       "",
	"text/template":       "",
	"text/template/parse": "vault/template puretemplate",

	"os.Getenv":    "config",
	"os.LookupEnv": "config",
	"os.Environ":   "config",
	"os.ExpandEnv": "config",
	"os.Exit":      "cmd/collie",
	"time.Sleep":   "",
}

// checkFences reports every import and name in file that folder may not use.
func checkFences(file *ast.File, folder string, report func(ast.Node, string)) {
	if supportsTests(folder) {
		return
	}
	names := map[string]string{} // the name of each import in this file
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		names[path.Base(imported)] = imported
		if spec.Name != nil {
			names[spec.Name.Name] = imported
		}
		for up := imported; up != "."; up = path.Dir(up) { // the nearest fence applies
			if open, fenced := fences[up]; fenced {
				if !matchesAny(folder, open) {
					report(spec, "may not import "+imported)
				}
				break
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok {
			used := names[pkg.Name] + "." + sel.Sel.Name
			if open, fenced := fences[used]; fenced && !matchesAny(folder, open) {
				report(sel, "may not use "+used)
			}
		}
		return true
	})
}
