package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"collie/internal/config"
	"collie/internal/tool"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitDenied      = 4
	exitUnconfirmed = 5
	exitPartial     = 6 // some of several
)

// exitError ends the program with a code, after everything has been said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exit ends the program with a code. Whoever returns it has said everything.
func exit(code int) error { return &exitError{code} }

// report shows an error and returns its exit code. With --json it goes to stdout, for the
// program that reads it.
func (p *program) report(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	err = ofSystem(err)
	code, kind := exitFailed, "internal_error"
	if e, ok := errors.AsType[*tool.Error](err); ok {
		kind, code = string(e.Kind), exitOf(e.Kind)
		if p.json {
			fmt.Fprintln(p.out, string(e.Payload()))
			return code
		}
		e = inOneLine(e)
		fmt.Fprintf(p.err, "%s [%s] %v\n", p.painter(p.err).mark("✗"), kind, e)
		for _, f := range e.Fields {
			fmt.Fprintf(p.err, "  %s: %s\n", f.Path, inCommands(f.Message))
		}
		if e.OutcomeUnknown {
			fmt.Fprintln(p.err, "  It may have taken effect all the same.")
		}
		if e.Hint != "" {
			fmt.Fprintf(p.err, "  Hint: %s\n", inCommands(e.Hint))
		}
		return code
	}
	switch {
	case isUsage(err):
		kind, code = "usage", exitUsage
	case isConfig(err):
		kind, code = "config_invalid", exitUsage
	case errors.Is(err, context.Canceled):
		kind = "cancelled"
	}
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		kind = "server_error"
		if p.json {
			fmt.Fprintf(p.out, "{\"error\":%s}\n", e.Raw)
			return code
		}
	}
	if p.json {
		raw, merr := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "message": err.Error()}})
		if merr == nil {
			fmt.Fprintln(p.out, string(raw))
		}
		return code
	}
	fmt.Fprintf(p.err, "%s [%s] %v\n", p.painter(p.err).mark("✗"), kind, err)
	return code
}

// diskFull is the kind of an error of a disk without room.
const diskFull tool.ErrorKind = "disk_full"

// ofSystem makes an error for people of one that says no more than that the system lets nobody write or read somewhere.
func ofSystem(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if _, told := errors.AsType[*tool.Error](err); !ok || told || isUsage(err) || isConfig(err) {
		return err
	}
	out := &tool.Error{Op: e.Op, Kind: tool.Denied, Subject: e.Path, Err: e.Err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		out.Kind, out.Hint = diskFull, "make room on that disk"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		out.Hint = "give yourself the right to use it; --home DIR keeps everything of Collie in another folder"
	default:
		return err
	}
	return out
}

// inOneLine is an error whose message says what its fields say, as one that says it once.
func inOneLine(e *tool.Error) *tool.Error {
	other := func(f tool.Field) bool { return f.Message != e.Message }
	if len(e.Fields) > 1 && !slices.ContainsFunc(e.Fields, other) {
		out := *e
		out.Fields = nil
		return &out
	}
	if len(e.Fields) != 1 || !strings.Contains(e.Message, e.Fields[0].Message) {
		return e
	}
	out := *e
	between := ": "
	if strings.HasPrefix(e.Fields[0].Message, "is ") {
		between = " "
	}
	out.Message, out.Fields = e.Fields[0].Path+between+inCommands(e.Fields[0].Message), nil
	return &out
}

func isUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}

func isConfig(err error) bool {
	_, ok := errors.AsType[*config.Error](err)
	return ok
}

// exitOf maps kinds of error to exit codes.
func exitOf(kind tool.ErrorKind) int {
	switch kind {
	case tool.Unavailable:
		return exitUnreachable
	case tool.Denied, tool.Disabled, tool.NeedsAuth, tool.Unauthorized, tool.LevelsUnknown:
		return exitDenied
	case tool.Unconfirmed, tool.Declined:
		return exitUnconfirmed
	case tool.Invalid, tool.Unknown, tool.Busy, tool.Upstream, tool.Crashed, tool.TooLarge, tool.Timeout,
		tool.Canceled, tool.Removed, tool.Unaudited, tool.Internal, tool.Conflicting, tool.InvalidPath, tool.Ambiguous,
		tool.Exists, tool.API, tool.NotInKernel, tool.OutcomeUnknown, tool.StateChanged, tool.Mismatch, tool.WriteSafety,
		tool.ComplexBlocks, tool.StructuredAssets:
	}
	return exitFailed
}
