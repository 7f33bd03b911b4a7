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
	// otherProcessFile is the environment variable with the path of a vault. A process of this test that has it adds a notebook
	// to the vault instead of running tests.
	otherProcessFile = "COLLIE_TEST_VAULT"
	// fullDisk is the environment variable that makes such a process run fillDisk instead.
	fullDisk = "COLLIE_TEST_FULL"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(otherProcessFile); file != "" {
		do := openAndWrite
		if os.Getenv(fullDisk) != "" {
			do = checkFullDisk
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

// startOtherProcess starts a process that opens the vault at file, writes to it and closes it. env is added to its environment.
// wait waits for its end and returns what went wrong in it.
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
