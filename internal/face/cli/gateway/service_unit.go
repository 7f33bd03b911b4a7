package gateway

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"collie/internal/face/cli/locale"
	"collie/internal/tool"
)

// serviceSpec is what a service is to run.
type serviceSpec struct {
	system  bool
	program string
	args    []string
	log     string // of the gateway; its folder exists
	path    string // the PATH of who installs: servers are started by names such as npx
	account string // to run as, for a service of the system; empty is root
	folder  string // home folder of who installs
	config  string // XDG_CONFIG_HOME of who installs
	uid     int
}

// unit is a service as a manager wants it: a file, and commands.
type unit struct {
	manager string
	file    string
	text    string
	utf16   bool       // how the file is written
	clear   [][]string // end what runs, and fail where nothing does
	install [][]string
	stop    [][]string // before the file is removed
	forget  [][]string // after it
	status  []string
	advice  string // to add to what is said after the installation
	state   func(out string, err error) (state, detail string)
	missing func(command, system bool, runtimeDir string, exists func(string) bool) string
}

// stateActive is the state of a service that runs.
const stateActive = "active"

// unitFor returns the unit of a service on an operating system.
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

func (u *unit) bytes() []byte {
	if !u.utf16 {
		return []byte(u.text)
	}
	var b bytes.Buffer
	for _, c := range append([]uint16{0xfeff}, utf16.Encode([]rune(u.text))...) {
		_ = binary.Write(&b, binary.LittleEndian, c) // a buffer takes everything
	}
	return b.Bytes()
}

// withoutCommand is what is missing where the manager's command is.
func withoutCommand(manager, command string) string {
	return locale.Sprintf("there is no %s on this machine: %s does not run here, as in most containers", command, manager)
}

// unitText joins the lines of a file.
func unitText(text ...string) string { return strings.Join(text, "\n") + "\n" }
