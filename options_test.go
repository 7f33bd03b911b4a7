package collie_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// setByTests are the options that only tests set, with the reason. Every other option must be set somewhere in the product,
// because an option that nobody sets should be a constant.
var setByTests = map[string]string{
	"internal/config.WatchOptions.PollOnly":              "a system without notices of changes",
	"internal/face/mcpserver/bridge.Options.Stall":       "a wait that a test cannot take",
	"internal/mcp.ClientOptions.ProbeWait":               "a wait that a test cannot take",
	"internal/mcp.StreamOptions.Drain":                   "a wait that a test cannot take",
	"internal/mcp.StreamOptions.Stall":                   "a wait that a test cannot take",
	"internal/llm/wire.Options.Header":                   "a wait that a test cannot take",
	"internal/llm/wire.Options.Idle":                     "a wait that a test cannot take",
	"internal/source/upstream/serverlog.Options.Collect": "a wait that a test cannot take",
	"internal/pipeline/analytics.Options.MaxFile":        "a size that a test cannot write",
	"internal/pipeline/analytics.Options.MaxFiles":       "a size that a test cannot write",
	"internal/llm/client.Options.Transport":              "providers without a network",
	"internal/llm/keypool.Options.Jitter":                "chance",
	"internal/llm/keypool.Options.Now":                   "the time",
	"internal/llm/transform.Options.Extra":               "fields of a request that no setting has yet",
	"internal/vault/folder.ImportOptions.OnChange":       "test/roundtrip compares what was announced with what changed",
	"internal/vault/workspace.Options.Readers":           "one connection, so that a lost one shows",
}

// TestOptionsAreSet finds the fields of exported structs named …Options that the product sets nowhere, and checks
// setByTests.
func TestOptionsAreSet(t *testing.T) {
	t.Parallel()
	set, fields := map[types.Object]bool{}, map[types.Object]string{}
	for _, f := range ownFiles(t) {
		addSetFields(f.syntax, f.info, set)
		if supportsTests(strings.TrimPrefix(f.in.Path(), "collie/internal/")) {
			continue
		}
		p := f.in
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			s, isStruct := o.Type().Underlying().(*types.Struct)
			if _, isType := o.(*types.TypeName); !isType || !isStruct || !o.Exported() || !strings.HasSuffix(name, "Options") {
				continue
			}
			for i := range s.NumFields() {
				if s.Field(i).Exported() && s.Tag(i) == "" { // with a tag, JSON sets it
					fields[s.Field(i)] = strings.TrimPrefix(p.Path(), "collie/") + "." + name + "." + s.Field(i).Name()
				}
			}
		}
	}
	if len(fields) < 200 {
		t.Errorf("only %d options found", len(fields))
	}
	tests := testSources(t)
	for field, name := range fields {
		why := setByTests[name]
		switch {
		case set[field] && why != "":
			t.Errorf("%s is set: take it out of setByTests", name)
		case set[field]:
		case why == "":
			t.Errorf("%s is set nowhere: make it a constant, or say in setByTests which tests need it", name)
		case !regexp.MustCompile(`\b` + field.Name() + `(:| = )`).MatchString(tests):
			t.Errorf("%s is set by no test either: make it a constant", name)
		}
		delete(setByTests, name)
	}
	for name := range setByTests {
		t.Errorf("%s does not exist: take it out of setByTests", name)
	}
}

// addSetFields adds to set the fields that a file sets: by name or place in a literal, by assignment, or through their address.
func addSetFields(f *ast.File, info *types.Info, set map[types.Object]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				set[info.Uses[key]] = true
			}
		case *ast.CompositeLit:
			if typ := info.TypeOf(n); typ != nil && len(n.Elts) > 0 {
				s, isStruct := typ.Underlying().(*types.Struct)
				if _, named := n.Elts[0].(*ast.KeyValueExpr); isStruct && !named {
					for field := range s.Fields() {
						set[field] = true
					}
				}
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if sel, ok := to.(*ast.SelectorExpr); ok {
					set[info.Uses[sel.Sel]] = true
				}
			}
		case *ast.UnaryExpr:
			if sel, ok := n.X.(*ast.SelectorExpr); ok && n.Op == token.AND {
				set[info.Uses[sel.Sel]] = true
			}
		}
		return true
	})
}

// testSources returns the texts of all tests and of what supports them.
func testSources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, top := range []string{"internal", "test"} {
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || top == "internal" && !strings.HasSuffix(file, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(file)
			all.Write(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
