package workspace_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"collie/internal/vault/workspace"
	"collie/test/await"
)

const (
	// otherProcessFile names, in the environment of a process of this test, the vault it opens, adds a notebook to and
	// closes.
	otherProcessFile = "COLLIE_TEST_VAULT"
	// fullDisk has such a process write until no more can be written instead, and then see whether all is well.
	fullDisk = "COLLIE_TEST_FULL"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(otherProcessFile); file != "" {
		do := openAndWrite
		if os.Getenv(fullDisk) != "" {
			do = fillDisk
		}
		if err := do(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(await.Fewer(100))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func openAndWrite(file string) error {
	w, err := workspace.Open(context.Background(), file, workspace.Options{})
	if err != nil {
		return err
	}
	err = w.Update(context.Background(), func(tx *workspace.Tx) error { tx.CreateNotebook("Other process"); return nil })
	if err != nil {
		return err
	}
	return w.Close()
}

// startOtherProcess has another process open the vault at file, write and close it. env is added to its environment. wait returns what went wrong in it.
func startOtherProcess(t *testing.T, file string, env ...string) (wait func() error) {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), env...), otherProcessFile+"="+file)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() error {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("the other process: %w: %s", err, said.String())
		}
		return nil
	}
}
