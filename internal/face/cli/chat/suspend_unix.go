//go:build unix

package chat

import (
	"os"
	"os/signal"
	"syscall"
)

// stopProcess stops the process group, which returns the terminal to the shell. It returns when the shell
// continues the group.
func stopProcess() {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if syscall.Kill(0, syscall.SIGTSTP) == nil {
		<-goesOn
	}
}
