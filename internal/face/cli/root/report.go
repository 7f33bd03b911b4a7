package root

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
	"collie/internal/face/cli/locale"
	"collie/internal/tool"
)

// WhatHelps is whatWas with what to do about it.
func WhatHelps(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Hint != "" {
		return WhatWas(err) + locale.T("; ") + locale.Sentence(e.Hint)
	}
	return WhatWas(err)
}

// WhatWas is what was wrong, without what was being done.
func WhatWas(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Message != "" {
		return locale.Sentence(e.Message)
	}
	return locale.Sentence(err.Error())
}

// Exit codes.
const (
	ExitFailed      = 1
	ExitUsage       = 2
	ExitUnreachable = 3
	ExitDenied      = 4
	ExitUnconfirmed = 5
	ExitPartial     = 6 // some of several
)

// ExitError ends the program with a code, after everything has been said.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Exit ends the program with a code. Whoever returns it has said everything.
func Exit(code int) error { return &ExitError{code} }

// Report shows an error and returns its exit code. With --json it goes to stdout, for the
// program that reads it.
func (p *Program) Report(err error) int {
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	err = ofSystem(err)
	code, kind := ExitFailed, "internal_error"
	if e, ok := errors.AsType[*tool.Error](err); ok {
		kind, code = e.Kind.Type(), exitOf(e.Kind)
		if p.JSON {
			fmt.Fprintln(p.Out, string(e.Payload()))
			return code
		}
		e = inLanguage(inOneLine(e))
		fmt.Fprintf(p.Err, "%s [%s] %v\n", p.Painter(p.Err).Mark("✗"), kind, e)
		for _, f := range e.Fields {
			fmt.Fprintf(p.Err, "  %s: %s\n", f.Path, InCommands(locale.Sentence(f.Message)))
		}
		if e.OutcomeUnknown {
			locale.Fprintf(p.Err, "  It may have taken effect all the same.\n")
		}
		if e.Hint != "" {
			locale.Fprintf(p.Err, "  Hint: %s\n", InCommands(e.Hint))
		}
		return code
	}
	switch {
	case IsUsage(err):
		kind, code = "usage", ExitUsage
	case IsConfig(err):
		kind, code = "config_invalid", ExitUsage
	case errors.Is(err, context.Canceled):
		kind = "cancelled"
	}
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		kind = "server_error"
		if p.JSON {
			locale.Fprintf(p.Out, "{\"error\":%s}\n", e.Raw)
			return code
		}
	}
	if p.JSON {
		raw, merr := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "message": err.Error()}})
		if merr == nil {
			fmt.Fprintln(p.Out, string(raw))
		}
		return code
	}
	fmt.Fprintf(p.Err, "%s [%s] %s\n", p.Painter(p.Err).Mark("✗"), kind, locale.Sentence(err.Error()))
	return code
}

// inLanguage is an error with its texts in the language of the terminal. Those of packages that know of no language are
// in the catalog too, where people meet them often.
func inLanguage(e *tool.Error) *tool.Error {
	out := *e
	out.Op, out.Message, out.Hint = locale.T(e.Op), locale.Sentence(e.Message), locale.Sentence(e.Hint)
	if e.Err != nil {
		out.Err = errors.New(locale.Sentence(e.Err.Error()))
	}
	return &out
}

// diskFull is the kind of an error of a disk without room.
const diskFull tool.ErrorKind = "disk_full"

// ofSystem makes an error for people of one that says no more than that the system lets nobody write or read somewhere.
func ofSystem(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if _, told := errors.AsType[*tool.Error](err); !ok || told || IsUsage(err) || IsConfig(err) {
		return err
	}
	out := &tool.Error{Op: e.Op, Kind: tool.Denied, Subject: e.Path, Err: e.Err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		out.Kind, out.Hint = diskFull, locale.T("make room on that disk")
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
	out.Message, out.Fields = e.Fields[0].Path+between+InCommands(e.Fields[0].Message), nil
	return &out
}

// IsUsage reports whether the command line is wrong.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*UsageError](err)
	return ok
}

// IsConfig reports whether the settings are wrong.
func IsConfig(err error) bool {
	_, ok := errors.AsType[*config.Error](err)
	return ok
}

// exitOf maps kinds of error to exit codes.
func exitOf(kind tool.ErrorKind) int {
	switch kind.Class() {
	case tool.Unavailable:
		return ExitUnreachable
	case tool.Denied, tool.Disabled, tool.NeedsAuth, tool.Unauthorized, tool.LevelsUnknown:
		return ExitDenied
	case tool.Unconfirmed, tool.Declined:
		return ExitUnconfirmed
	case tool.Invalid, tool.Unknown, tool.Busy, tool.Upstream, tool.Crashed, tool.TooLarge, tool.Timeout,
		tool.Canceled, tool.Removed, tool.Unaudited, tool.Internal, tool.Conflicting, tool.Ambiguous,
		tool.Exists, tool.Conflict, tool.StateChanged:
	}
	return ExitFailed
}

// SecretError says what to do about secrets that cannot be reached.
func SecretError(op, name string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &tool.Error{
		Op: op, Kind: tool.Unavailable, Subject: name, Err: err,
		Hint: `unlock the keyring, or keep secrets in a file: collie config set secrets.store file`,
	}
}
