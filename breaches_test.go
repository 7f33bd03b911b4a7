package collie_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestBreaches plants violations in small trees. Without it, a checker that finds nothing would pass
// [TestLayers] for ever.
func TestBreaches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, code string
		want             []string
	}{
		{"allowed", "internal/source/upstream/a.go", `import _ "collie/internal/mcp"`, nil},
		{"below itself", "internal/pipeline/a.go", `import _ "collie/internal/pipeline/audit"`, nil},
		{"contract suite", "internal/tool/tooltest/a.go", `import _ "collie/internal/tool"`, nil},
		{"below a contract suite", "internal/mcp/mcptest/fake/a.go", `import (_ "collie/internal/mcp/mcptest"; _ "os/exec")`, nil},
		{"whole program", "test/faults/a.go", `import (_ "collie/internal/app"; _ "os/exec")`, nil},
		{"test file", "internal/tool/a_test.go", `import (_ "collie/internal/app"; _ "os/exec")`, nil},
		{"another module", "tools/x/a.go", `import _ "collie/internal/app"`, nil},
		{"OAuth of the SDK", "internal/source/upstream/a.go", `import _ "github.com/modelcontextprotocol/go-sdk/oauthex"`, nil},
		{"environment in config", "internal/config/a.go", `import "os"; var _ = os.Environ()`, nil},
		{"parser of templates", "internal/puretemplate/a.go", `import _ "text/template/parse"`, nil},
		{
			"templates", "internal/vault/template/a.go", `import _ "text/template"`,
			[]string{"internal/vault/template/a.go:2:8: vault/template may not import text/template"},
		},
		{
			"upwards", "internal/tool/a.go", `import _ "collie/internal/mcp"`,
			[]string{"internal/tool/a.go:2:8: tool may not import mcp"},
		},
		{
			"sideways", "internal/pipeline/gate/a.go", `import _ "collie/internal/pipeline/audit"`,
			[]string{"internal/pipeline/gate/a.go:2:8: pipeline/gate may not import pipeline/audit"},
		},
		{
			"two tool folders", "internal/source/siyuan/block/a.go", `import _ "collie/internal/source/siyuan/fs"`,
			[]string{"internal/source/siyuan/block/a.go:2:8: source/siyuan/block may not import source/siyuan/fs"},
		},
		{
			"prefix is not a folder", "internal/source/a.go", `import _ "collie/internal/sourcery"`,
			[]string{"internal/source/a.go:2:8: source may not import sourcery"},
		},
		{
			"face sees source", "internal/face/cli/a.go", `import _ "collie/internal/source"`,
			[]string{"internal/face/cli/a.go:2:8: face/cli may not import source"},
		},
		{
			"tests imported", "internal/app/a.go", `import _ "collie/test/binary"`,
			[]string{"internal/app/a.go:2:8: app may not import test/binary"},
		},
		{
			"test support in the product", "internal/mcp/a.go", `import _ "collie/internal/mcp/mcptest"`,
			[]string{"internal/mcp/a.go:2:8: mcp may not import mcp/mcptest"},
		},
		{
			"unknown folder", "internal/util/a.go", `import _ "os/exec"`,
			[]string{"util is not in the table of layers_test.go"},
		},
		{
			"unknown folder of tests", "internal/util/a_test.go", ``,
			[]string{"util is not in the table of layers_test.go"},
		},
		{
			"SDK", "internal/mcp/a.go", `import _ "github.com/modelcontextprotocol/go-sdk/mcp"`,
			[]string{"internal/mcp/a.go:2:8: mcp may not import github.com/modelcontextprotocol/go-sdk/mcp"},
		},
		{
			"OAuth elsewhere", "internal/mcp/a.go", `import _ "github.com/modelcontextprotocol/go-sdk/auth"`,
			[]string{"internal/mcp/a.go:2:8: mcp may not import github.com/modelcontextprotocol/go-sdk/auth"},
		},
		{
			"exec", "internal/app/a.go", `import _ "os/exec"`,
			[]string{"internal/app/a.go:2:8: app may not import os/exec"},
		},
		{
			"environment", "internal/app/a.go", `import env "os"; var _ = env.Getenv("X")`,
			[]string{"internal/app/a.go:2:26: app may not use os.Getenv"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{
				"go.mod":       {},
				"tools/go.mod": {},
				tt.file:        {Data: []byte("package a\n" + tt.code)},
			}
			if diff := cmp.Diff(tt.want, breaches(t, tree)); diff != "" {
				t.Errorf("breaches differ (-want +got):\n%s", diff)
			}
		})
	}
}
