package gateway

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"collie/internal/face/cli/locale"
	"collie/internal/tool"
)

// This file defines what a service is, for the service managers of all systems.

// serviceSpec says what a service should run.
type serviceSpec struct {
	system  bool
	program string
	args    []string
	log     string // log file of the gateway
	path    string // PATH of the installing user: servers are started by names such as npx
	account string // account for a system service; empty means root
	folder  string // home folder of the installing user
	config  string // XDG_CONFIG_HOME of the installing user
	uid     int
}

// unit is a service in the form of a service manager: a file and commands.
type unit struct {
	manager string
	file    string
	text    string
	utf16   bool       // encoding of the file
	clear   [][]string // commands that end a running service, and fail if there is none
	install [][]string
	stop    [][]string // commands to run before the file is removed
	forget  [][]string // commands to run after the file was removed
	status  []string
	advice  string // added to the message after the installation

	// state parses the output of the command status.
	state func(out string, err error) (state, detail string)
	// missing returns why the service manager cannot be used, empty if it can. command says whether its command exists,
	// runtimeDir is XDG_RUNTIME_DIR.
	missing func(command, system bool, runtimeDir string, exists func(string) bool) string
}

// stateActive is the state of a running service.
const stateActive = "active"

// unitFor returns the unit of a service for an operating system.
func unitFor(goos string, s *serviceSpec) (*unit, error) {
	switch goos {
	case "linux":
		return systemdUnit(s), nil
	case "darwin":
		return launchdUnit(s), nil
	case "windows":
		return taskUnit(s), nil
	}
	return nil, &tool.Error{
		Op: "service", Kind: tool.Unavailable, Subject: goos, Message: "no service manager is known for this system",
		Hint: "run \"collie serve\" under the one that you have",
	}
}

// written reports whether the service is installed.
func (u *unit) written() bool { return exists(u.file) }

// bytes returns the content of the file in its encoding.
func (u *unit) bytes() []byte {
	if !u.utf16 {
		return []byte(u.text)
	}
	var b bytes.Buffer
	for _, c := range append([]uint16{0xfeff}, utf16.Encode([]rune(u.text))...) {
		_ = binary.Write(&b, binary.LittleEndian, c) // writing to a buffer cannot fail
	}
	return b.Bytes()
}

// withoutCommand says that the service manager's command is missing.
func withoutCommand(manager, command string) string {
	return locale.Sprintf("there is no %s on this machine: %s does not run here, as in most containers", command, manager)
}

// unitText joins the lines of a file.
func unitText(text ...string) string { return strings.Join(text, "\n") + "\n" }
