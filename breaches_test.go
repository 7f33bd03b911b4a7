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
		{name: "allowed", file: "internal/source/upstream/a.go", code: `import _ "collie/internal/mcp"`},
		{name: "below itself", file: "internal/pipeline/a.go", code: `import _ "collie/internal/pipeline/audit"`},
		{name: "contract suite", file: "internal/tool/tooltest/a.go", code: `import _ "collie/internal/tool"`},
		{name: "below a contract suite", file: "internal/mcp/mcptest/fake/a.go", code: `import (_ "collie/internal/mcp/mcptest"; _ "os/exec")`},
		{name: "whole program", file: "test/faults/a.go", code: `import (_ "collie/internal/app"; _ "os/exec")`},
		{name: "test file", file: "internal/tool/a_test.go", code: `import (_ "collie/internal/app"; _ "os/exec")`},
		{name: "another module", file: "tools/x/a.go", code: `import _ "collie/internal/app"`},
		{name: "OAuth of the SDK", file: "internal/source/upstream/a.go", code: `import _ "github.com/modelcontextprotocol/go-sdk/oauthex"`},
		{name: "environment in config", file: "internal/config/a.go", code: `import "os"; var _ = os.Environ()`},
		{name: "parser of templates", file: "internal/puretemplate/a.go", code: `import _ "text/template/parse"`},
		{
			name: "templates", file: "internal/vault/template/a.go", code: `import _ "text/template"`,
			want: []string{"internal/vault/template/a.go:2:8: vault/template may not import text/template"},
		},
		{
			name: "upwards", file: "internal/tool/a.go", code: `import _ "collie/internal/mcp"`,
			want: []string{"internal/tool/a.go:2:8: tool may not import mcp"},
		},
		{
			name: "sideways", file: "internal/pipeline/gate/a.go", code: `import _ "collie/internal/pipeline/audit"`,
			want: []string{"internal/pipeline/gate/a.go:2:8: pipeline/gate may not import pipeline/audit"},
		},
		{
			name: "two tool folders", file: "internal/source/siyuan/block/a.go", code: `import _ "collie/internal/source/siyuan/fs"`,
			want: []string{"internal/source/siyuan/block/a.go:2:8: source/siyuan/block may not import source/siyuan/fs"},
		},
		{
			name: "prefix is not a folder", file: "internal/source/a.go", code: `import _ "collie/internal/sourcery"`,
			want: []string{"internal/source/a.go:2:8: source may not import sourcery"},
		},
		{
			name: "face sees source", file: "internal/face/cli/a.go", code: `import _ "collie/internal/source"`,
			want: []string{"internal/face/cli/a.go:2:8: face/cli may not import source"},
		},
		{
			name: "tests imported", file: "internal/app/a.go", code: `import _ "collie/test/binary"`,
			want: []string{"internal/app/a.go:2:8: app may not import test/binary"},
		},
		{
			name: "test support in the product", file: "internal/mcp/a.go", code: `import _ "collie/internal/mcp/mcptest"`,
			want: []string{"internal/mcp/a.go:2:8: mcp may not import mcp/mcptest"},
		},
		{
			name: "unknown folder", file: "internal/util/a.go", code: `import _ "os/exec"`,
			want: []string{"util is not in the table of layers_test.go"},
		},
		{
			name: "unknown folder of tests", file: "internal/util/a_test.go", code: ``,
			want: []string{"util is not in the table of layers_test.go"},
		},
		{
			name: "SDK", file: "internal/mcp/a.go", code: `import _ "github.com/modelcontextprotocol/go-sdk/mcp"`,
			want: []string{"internal/mcp/a.go:2:8: mcp may not import github.com/modelcontextprotocol/go-sdk/mcp"},
		},
		{
			name: "OAuth elsewhere", file: "internal/mcp/a.go", code: `import _ "github.com/modelcontextprotocol/go-sdk/auth"`,
			want: []string{"internal/mcp/a.go:2:8: mcp may not import github.com/modelcontextprotocol/go-sdk/auth"},
		},
		{
			name: "exec", file: "internal/app/a.go", code: `import _ "os/exec"`,
			want: []string{"internal/app/a.go:2:8: app may not import os/exec"},
		},
		{
			name: "environment", file: "internal/app/a.go", code: `import env "os"; var _ = env.Getenv("X")`,
			want: []string{"internal/app/a.go:2:26: app may not use os.Getenv"},
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
