package process

import (
	"strconv"
	"strings"
)

// Reason says why a start failed.
type Reason string

// The reasons of a [StartError]; the first two are the permanent ones of the retry rules.
const (
	CommandNotFound  Reason = "command_not_found" // no such program, or no interpreter for the script
	PermissionDenied Reason = "permission_denied" // found, but not executable for us
	BadDir           Reason = "bad_dir"           // the working directory is missing or no directory
	SpawnFailed      Reason = "spawn_failed"      // anything else: no memory, no file descriptors, bad format
)

// StartError says why a command could not be started. No process exists then.
type StartError struct {
	Reason Reason
	// Name is the program as the command gave it; Dir the directory for BadDir.
	Name, Dir string
	// Searched holds the directories of PATH, in order, for a name without a path.
	Searched []string
	Err      error // the cause; may be nil
}

// Error names the program, the reason and the directories searched.
func (e *StartError) Error() string {
	var b strings.Builder
	b.WriteString("start " + strconv.Quote(e.Name) + ": ")
	switch e.Reason {
	case CommandNotFound:
		b.WriteString("command not found")
	case PermissionDenied:
		b.WriteString("not executable")
	case BadDir:
		b.WriteString("working directory " + strconv.Quote(e.Dir) + " cannot be used")
	case SpawnFailed:
		b.WriteString("cannot be run")
	}
	if len(e.Searched) > 0 {
		b.WriteString(" (searched " + strings.Join(e.Searched, ", ") + ")")
	} else if e.Reason == CommandNotFound && e.Err == nil {
		b.WriteString(" (PATH is empty)")
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
