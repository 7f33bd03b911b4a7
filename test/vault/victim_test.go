package vault

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/vault"
	"collie/internal/vault/folder"
	"collie/test/await"
)

const (
	// victimFile and victimJob are environment variables that make the test binary a victim: a process that does a job on
	// the vault at a path until the test kills it.
	victimFile = "COLLIE_TEST_VAULT"
	victimJob  = "COLLIE_TEST_JOB"
)

// The jobs of a victim. It prints a line for each thing that the vault has acknowledged.
const (
	jobWrite  = "write"  // changes of all kinds
	jobBackup = "backup" // one backup after the other beside the file, and changes at the same time
	jobCheck  = "check"  // one check after the other, and changes at the same time
	jobCreate = "create" // large documents
	jobImport = "import" // the folder notes beside the file
	jobOpen   = "open"   // nothing but open the file, with the welcome notebook
)

// largeParagraphs is the number of paragraphs in a large document.
const largeParagraphs = 300

// runJob does a job until the process is killed. It returns an exit code if the job fails.
func runJob(job, file string) int {
	var o vault.Options
	if job == jobOpen {
		o.Fill = vault.Welcome("en")
	}
	v := vault.New(file, o)
	w, err := v.Workspace(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var printing sync.Mutex
	print := func(line string) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Println(line)
	}
	var errs <-chan error
	switch job {
	case jobWrite:
		errs = startWriting(v, print)
	case jobBackup:
		errs = startWriting(v, func(string) {})
		go forever(func(i int) error {
			path := filepath.Join(filepath.Dir(file), fmt.Sprintf("%d-%d.backup", os.Getpid(), i))
			err := w.Backup(context.Background(), path)
			if err == nil {
				print(path)
			}
			return err
		})
	case jobCheck:
		errs = startWriting(v, print)
		go forever(func(int) error {
			problems, err := w.Check(context.Background(), nil)
			if err == nil && len(problems) > 0 {
				err = fmt.Errorf("the check finds %v", problems)
			}
			return err
		})
	case jobCreate:
		go forever(func(i int) error { return createLarge(v, i, print) })
	case jobImport:
		if _, err := folder.Import(context.Background(), w, filepath.Join(filepath.Dir(file), "notes"), folder.ImportOptions{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		print("imported")
		await.Moment(time.Hour)
	case jobOpen:
		print("opened")
		await.Moment(time.Hour) // waiting for errs alone would be a deadlock, which ends the process
	}
	fmt.Fprintln(os.Stderr, <-errs) // the jobs do not end without an error
	return 1
}

// forever calls fn again and again, with the number of the call. An error ends the process.
func forever(fn func(i int) error) {
	for i := 0; ; i++ {
		if err := fn(i); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// createLarge makes the large document with number i, and prints its id.
func createLarge(v *vault.Vault, i int, print printLine) error {
	c := newClient(v)
	list, err := c.ask(context.Background(), "/api/notebook/lsNotebooks", map[string]any{})
	if err != nil {
		return err
	}
	doc, err := c.ask(context.Background(), "/api/filetree/createDocWithMd", map[string]any{
		"notebook": list.Get("notebooks.0.id").String(), "path": fmt.Sprintf("/large/p%dn%d", os.Getpid(), i),
		"markdown": strings.Repeat("文字 and words\n\n", largeParagraphs),
	})
	if err == nil {
		print(doc.String())
	}
	return err
}

// victim is a process that does a job until the test kills it.
type victim struct {
	cmd            *exec.Cmd
	stdout, stderr sharedBuffer
}

// sharedBuffer is a buffer that may be read while it is written.
type sharedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sharedBuffer) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *sharedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// startVictim starts a process that does a job.
func startVictim(t *testing.T, job, file string) *victim {
	t.Helper()
	v := &victim{cmd: exec.Command(os.Args[0])}
	v.cmd.Env = append(os.Environ(), victimFile+"="+file, victimJob+"="+job)
	v.cmd.Stdout, v.cmd.Stderr = &v.stdout, &v.stderr
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return v
}

// awaitFirstLine waits until the process has acknowledged something, so that the kill hits it while it works
// and not while it starts.
func (v *victim) awaitFirstLine(t *testing.T) {
	t.Helper()
	await.Until(t, "a process acknowledges something", func() bool { return v.stdout.String() != "" || v.stderr.String() != "" })
}

// kill kills the process and returns what it printed.
func (v *victim) kill(t *testing.T) string {
	t.Helper()
	_ = v.cmd.Process.Kill() // fails if the process has ended; it has then printed why
	_ = v.cmd.Wait()
	if text := strings.TrimSpace(v.stderr.String()); text != "" {
		t.Fatalf("a process failed: %s", text)
	}
	return v.stdout.String()
}

// completeLines returns the complete lines of an output.
func completeLines(printed string) []string {
	return strings.Fields(printed[:strings.LastIndex(printed, "\n")+1])
}
