package main

import (
	"slices"
	"strings"
	"testing"
)

// forTests are the exported names that only tests of other packages use, with the reason why the tests need them.
var forTests = map[string]string{
	// Lists of everything of a kind, for tests that check each entry: that it has a class, is documented, or was recorded.
	"internal/face/cli.Class":                         "each command has a class, which test/pipeline holds",
	"internal/face/cli.ClassCall":                     "a value of Class",
	"internal/face/cli.ClassManage":                   "a value of Class",
	"internal/face/cli.ClassRead":                     "a value of Class",
	"internal/face/cli.Command":                       "what Commands lists",
	"internal/face/cli.Commands":                      "test/pipeline looks at all commands",
	"internal/face/cli/gateway.Routes":                "test/pipeline looks at all routes",
	"internal/face/mcpserver.Methods":                 "test/pipeline looks at all methods",
	"internal/face/web.Route":                         "what Routes lists",
	"internal/face/web.Routes":                        "test/pipeline looks at all routes",
	"internal/puretemplate.Function":                  "what Functions lists",
	"internal/puretemplate.Functions":                 "the vault has each of them",
	"internal/vault.Endpoints":                        "each endpoint has a recording",
	"internal/source/siyuan/content.ComplexBlocks":    "each tool refuses the same blocks",
	"internal/source/siyuan/content.StructuredAssets": "each tool refuses the same assets",

	// What a test of another package has to create or to recognize.
	"internal/config.EnvOf":                     "an environment of a test's own",
	"internal/config.FileName":                  "where a test puts settings",
	"internal/config.FindPaths":                 "the paths of a home of a test's own",
	"internal/face/cli/locale.Parse":            "the catalog is read as it is written",
	"internal/face/cli/output.IsControl":        "no command lets control characters through",
	"internal/face/cli/root.ExitDenied":         "an exit code is what scripts see",
	"internal/face/cli/root.ExitError":          "an exit code is what scripts see",
	"internal/face/cli/root.IsUsage":            "a mistake of the command line is told from others",
	"internal/mcp.TakenBack":                    "who took a request back shows in the context alone",
	"internal/pipeline/analytics.Entry":         "what the log of calls holds, read back",
	"internal/pipeline/analytics.Failure":       "a value of Entry",
	"internal/face/cli.Tree":                    "manual pages are made of the commands",
	"internal/pipeline/analytics.HTTP":          "a value of Entry",
	"internal/pipeline/analytics.Status":        "a value of Entry",
	"internal/pipeline/analytics.Success":       "a value of Entry",
	"internal/pipeline/audit.SessionDigest":     "sessions stand in records as digests",
	"internal/pipeline/limit.DefaultPerSession": "the bridge lets through as many calls as may run",
	"internal/source/siyuan/access.NewSnapshot": "levels of a test's own",
	"internal/tool.Runner":                      "what a stage of a test stands around",
	"internal/vault.Create":                     "a vault without a key for snapshots, as a kernel begins",
}

// TestNoNameIsExportedForNobody: a name is only exported if another package uses it. A name that only tests use needs
// a reason.
func TestNoNameIsExportedForNobody(t *testing.T) {
	t.Parallel()
	tree, err := readDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	unused, err := tree.unused()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range unused {
		if plain, tests := strings.CutSuffix(name, " (tests only)"); !tests || forTests[plain] == "" {
			t.Errorf("%s is exported, and no other package uses it: begin it with a small letter, delete it, or say in forTests why tests need it", name)
		}
	}
	for name := range forTests {
		if !slices.Contains(unused, name+" (tests only)") {
			t.Errorf("%s stands in forTests and is not exported for tests alone", name)
		}
	}
}

// TestNoMethodIsExportedForNobody: a method is only exported if another package, an interface, or a test of another
// package uses it.
func TestNoMethodIsExportedForNobody(t *testing.T) {
	t.Parallel()
	tree, err := readDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	unused, err := tree.unusedMethods(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range unused {
		t.Errorf("%s is exported, and nothing outside of its package calls it: begin it with a small letter, or delete it", name)
	}
}
