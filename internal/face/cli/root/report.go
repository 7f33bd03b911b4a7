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

// This file prints errors for people and programs, and chooses the exit code.

// ErrorTextWithHint returns the message of an error, as [ErrorText] does, and its hint.
func ErrorTextWithHint(err error) string {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Hint != "" {
		return ErrorText(err) + locale.T("; ") + locale.Sentence(e.Hint)
	}
	return ErrorText(err)
}

// TextAndHint returns the whole text of an error, with operation, subject and cause, and its hint apart, both in the language
// of the terminal. The hint is empty if there is none.
func TextAndHint(err error) (text, hint string) {
	err = explainFileError(err)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return locale.Sentence(err.Error()), ""
	}
	e = inLanguage(withoutRepeatedFields(e))
	if e.Hint != "" {
		hint = WithCommandLines(locale.Sentence(e.Hint))
	}
	shown := *e
	shown.Hint = ""
	return shown.Error(), hint
}

// ErrorText returns only the message of an error, in the language of the terminal, without operation and subject.
func ErrorText(err error) string {
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
	ExitPartial     = 6 // only a part succeeded
)

// ExitError ends the program with an exit code; everything has been printed already.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Exit returns an [ExitError]. The caller has printed everything.
func Exit(code int) error { return &ExitError{code} }

// Report prints an error and returns its exit code. With --json the error goes to stdout, for programs.
func (p *Program) Report(err error) int {
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	err = explainFileError(err)
	code, kind := ExitFailed, "internal_error"
	if e, ok := errors.AsType[*tool.Error](err); ok {
		kind, code = e.Kind.Type(), exitOf(e.Kind)
		if p.JSON {
			_ = p.WriteJSON(e.Payload())
			return code
		}
		e = inLanguage(withoutRepeatedFields(e))
		fmt.Fprintf(p.Err, "%s [%s] %v\n", p.Painter(p.Err).Mark("✗"), kind, e)
		for _, f := range e.Fields {
			fmt.Fprintf(p.Err, "  %s: %s\n", f.Path, WithCommandLines(locale.Sentence(f.Message)))
		}
		if e.OutcomeUnknown {
			locale.Fprintf(p.Err, "  It may have taken effect all the same.\n")
		}
		if e.Hint != "" {
			locale.Fprintf(p.Err, "  Hint: %s\n", WithCommandLines(e.Hint))
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
			_ = p.WriteJSON(slices.Concat(json.RawMessage(`{"error":`), e.Raw, json.RawMessage(`}`)))
			return code
		}
	}
	if p.JSON {
		raw, merr := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "message": err.Error()}})
		if merr == nil {
			_ = p.WriteJSON(raw)
		}
		return code
	}
	fmt.Fprintf(p.Err, "%s [%s] %s\n", p.Painter(p.Err).Mark("✗"), kind, locale.Sentence(err.Error()))
	return code
}

// inLanguage returns an error with its texts in the language of the terminal. Most packages return English texts; the
// catalog has translations of those that people see often.
func inLanguage(e *tool.Error) *tool.Error {
	out := *e
	out.Op, out.Message, out.Hint = locale.T(e.Op), locale.Sentence(e.Message), locale.Sentence(e.Hint)
	if e.Err != nil {
		out.Err = errors.New(locale.Sentence(e.Err.Error()))
	}
	return &out
}

// diskFull is the kind of error for a full disk.
const diskFull tool.ErrorKind = "disk_full"

// explainFileError adds a hint to an error of the file system that means a full disk or a denied access. Any other error is
// returned as it is.
func explainFileError(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if _, explained := errors.AsType[*tool.Error](err); !ok || explained || IsUsage(err) || IsConfig(err) {
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

// withoutRepeatedFields returns an error without fields that only repeat its message. If it has one such field, path and
// message of the field become the message.
func withoutRepeatedFields(e *tool.Error) *tool.Error {
	differs := func(f tool.Field) bool { return f.Message != e.Message }
	if len(e.Fields) > 1 && !slices.ContainsFunc(e.Fields, differs) {
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
	out.Message, out.Fields = e.Fields[0].Path+between+WithCommandLines(e.Fields[0].Message), nil
	return &out
}

// IsUsage reports whether the error is about the command line.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}

// IsConfig reports whether the error is about the settings.
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
	case tool.Invalid, tool.NotFound, tool.Busy, tool.Upstream, tool.Crashed, tool.TooLarge, tool.Timeout,
		tool.Canceled, tool.Removed, tool.Unaudited, tool.Internal, tool.Conflicting, tool.Ambiguous,
		tool.Exists, tool.Conflict, tool.StateChanged:
	}
	return ExitFailed
}

// SecretError returns the error for secrets that cannot be accessed, with what to do.
func SecretError(op, name string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &tool.Error{
		Op: op, Kind: tool.Unavailable, Subject: name, Err: err,
		Hint: `unlock the keyring, or keep secrets in a file: collie config set secrets.store file`,
	}
}
