//go:build unix

package process_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/process"
)

// reaperArg makes the test binary run as the reaper, as [process.ReaperCommand] does for the real one.
const reaperArg = "be-the-reaper"

// TestMain makes this binary every child the tests need: ROLE says which.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == reaperArg {
		os.Exit(process.ReaperMain(os.Stdin))
	}
	if role := os.Getenv("ROLE"); role != "" {
		playRole(role)
		return
	}
	for fd := 3; fd < 1024; fd++ { // files that go test itself has open are not a leak
		syscall.CloseOnExec(fd)
	}
	goleak.VerifyTestMain(m)
}

// liveOn keeps a child alive for 2 minutes, so that a test notices if nobody ends it.
func liveOn() { <-time.After(2 * time.Minute) }

// playRole does what a test wants of a child process. TestMain calls it instead of the tests if ROLE is set.
func playRole(role string) {
	switch role {
	case "echo": // ends when its stdin ends
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "deaf": // ignores the end of its stdin
		fmt.Println("pid", os.Getpid())
		liveOn()
	case "stubborn": // ignores SIGTERM as well
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("pid", os.Getpid())
		liveOn()
	case "flood":
		line := strings.Repeat("x", 99) + "\n"
		w := bufio.NewWriterSize(os.Stderr, 1<<16)
		for range (50 << 20) / len(line) {
			_, _ = w.WriteString(line)
		}
		_, _ = w.WriteString("the last line")
		_ = w.Flush()
		fmt.Println("flooded")
	case "exit3":
		fmt.Fprintln(os.Stderr, "cannot connect to the daemon")
		os.Exit(3)
	case "farewell":
		fmt.Println("last words")
		fmt.Fprintln(os.Stderr, "dying")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "environment":
		fmt.Println(strings.Join(os.Environ(), " "))
	case "files":
		names, _ := filepath.Glob("/dev/fd/*")
		fmt.Println(strings.Join(names, " "))
	case "gateway":
		gatewayRun()
	}
}

// gatewayRun plays a gateway: it starts three children and a reaper, prints their pids and waits to be ended.
func gatewayRun() {
	reaper := process.NewReaper(os.Args[0], []string{reaperArg}, nil)
	for _, c := range []process.Command{
		{Name: os.Args[0], Env: []string{"ROLE=deaf"}},
		{Name: os.Args[0], Env: []string{"ROLE=stubborn"}},
		wrappedRole("stubborn"),
	} {
		p, err := process.Start(c, &process.Options{Reaper: reaper})
		if err != nil {
			panic(err)
		}
		line, err := bufio.NewReader(p.Stdout()).ReadString('\n')
		if err != nil {
			panic(err)
		}
		fmt.Print(line)
	}
	fmt.Println("reaper", reaper.Pid())
	liveOn()
}

// wrappedRole is a role started by a shell that waits for it.
func wrappedRole(role string) process.Command {
	return process.Command{
		Name: "sh", Args: []string{"-c", `"$0"; true`, os.Args[0]},
		Env: []string{"PATH=/usr/bin:/bin", "ROLE=" + role},
	}
}
