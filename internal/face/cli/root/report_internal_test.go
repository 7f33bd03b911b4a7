package root

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"collie/internal/face/cli/output"
	"collie/internal/tool"
)

// An error is printed once, with the flag that the person typed.
func TestReportSaysItOnce(t *testing.T) {
	t.Parallel()
	const missing = `required argument "path" (string) is missing; none are given`
	for name, tt := range map[string]struct {
		message string
		fields  []tool.Field
		want    string
	}{
		"one argument": {missing, []tool.Field{{Path: "--path", Message: missing}}, "✗ [validation_error] call: --path: " + missing + "\n"},
		"a part of the message": {
			`dataType is required: markdown or dom`,
			[]tool.Field{{Path: "--data-type", Message: "is required: markdown or dom"}},
			"✗ [validation_error] call: --data-type is required: markdown or dom\n",
		},
		"one of several": {
			"give a or b",
			[]tool.Field{{Path: "--a", Message: "give a or b"}, {Path: "--b", Message: "give a or b"}},
			"✗ [validation_error] call: give a or b\n",
		},
		"several": {
			"no (and 1 more)",
			[]tool.Field{{Path: "--a", Message: "no"}, {Path: "--b", Message: "nor this"}},
			"✗ [validation_error] call: no (and 1 more)\n  --a: no\n  --b: nor this\n",
		},
		"another message": {"no", []tool.Field{{Path: "--a", Message: "too long"}}, "✗ [validation_error] call: no\n  --a: too long\n"},
	} {
		var out bytes.Buffer
		p := &Program{Output: output.Output{Err: &out}}
		p.Report(&tool.Error{Op: "call", Kind: tool.Invalid, Message: tt.message, Fields: tt.fields})
		if out.String() != tt.want {
			t.Errorf("%s: got\n%swant\n%s", name, &out, tt.want)
		}
	}
}

// A folder without write permission is not an internal error: the message names it and what to do.
func TestReportOfTheSystem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		exit int
		want string
	}{
		"permission": {&fs.PathError{Op: "mkdir", Path: "/h/.local", Err: syscall.EACCES}, ExitDenied, "✗ [permission_denied] mkdir /h/.local: permission denied\n  Hint: give yourself"},
		"read-only":  {fmt.Errorf("lock: %w", &fs.PathError{Op: "open", Path: "/h/x", Err: syscall.EROFS}), ExitDenied, "✗ [permission_denied] open /h/x: read-only file system\n  Hint: give"},
		"full":       {&fs.PathError{Op: "write", Path: "/h/x", Err: syscall.ENOSPC}, ExitFailed, "✗ [disk_full] write /h/x: no space left on device\n  Hint: make room"},
		"not there":  {&fs.PathError{Op: "open", Path: "/h/x", Err: syscall.ENOENT}, ExitFailed, "✗ [internal_error] open /h/x: no such file or directory\n"},
		"usage":      {Usage("no"), ExitUsage, "✗ [usage] no\n"},
		"ours":       {errors.New("no"), ExitFailed, "✗ [internal_error] no\n"},
	} {
		var out bytes.Buffer
		p := &Program{Output: output.Output{Err: &out}}
		if exit := p.Report(tt.err); exit != tt.exit || !strings.HasPrefix(out.String(), tt.want) {
			t.Errorf("%s: exit %d\n%s", name, exit, &out)
		}
	}
}
