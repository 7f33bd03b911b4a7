package script

import (
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// kernels holds the SiYuan kernel of each script that has one.
var kernels sync.Map // *testscript.TestScript → *kerneltest.Kernel

// kernelCommand returns the command "kernel [locked]", which starts a SiYuan kernel of tests that ends with tb. A locked
// kernelCommand requires its token.
func kernelCommand(tb testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) > 1 || len(args) == 1 && args[0] != "locked" {
			ts.Fatalf("usage: kernel [locked]")
		}
		k := kerneltest.New(tb)
		k.SetToken(len(args) == 1)
		kernels.Store(ts, k)
		ts.Setenv("KERNEL_URL", k.URL())
		ts.Setenv("KERNEL_TOKEN", kerneltest.Token)
	}
}

// kernelOf returns the kernel of a script.
func kernelOf(ts *testscript.TestScript) *kerneltest.Kernel {
	found, ok := kernels.Load(ts)
	if !ok {
		ts.Fatalf("there is no kernel; kernel starts one")
	}
	k, _ := found.(*kerneltest.Kernel)
	return k
}

// notebookCommand is the command that makes a notebook and sets VARIABLE to its id.
func notebookCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: notebook VARIABLE NAME")
	}
	ts.Setenv(args[0], kernelOf(ts).Notebook(args[1]))
}

// documentCommand is the command that makes a document and sets VARIABLE to its id.
func documentCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: document VARIABLE NOTEBOOK PATH MARKDOWN")
	}
	ts.Setenv(args[0], kernelOf(ts).Doc(args[1], args[2], args[3]))
}

// workspaceCommand is the command "workspace", which writes a file into the workspace of the kernel.
func workspaceCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: workspace PATH FILE")
	}
	kernelOf(ts).File(args[0], []byte(ts.ReadFile(args[1])))
}
