package gateway

import (
	"bytes"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// newProgram returns the commands with this stdin and an empty environment, and buffers for stdout and stderr.
func newProgram(stdin string) (p commands, out, errw *bytes.Buffer) {
	out, errw = new(bytes.Buffer), new(bytes.Buffer)
	return commands{&root.Program{Version: "test", In: strings.NewReader(stdin), Output: output.Output{Out: out, Err: errw, Env: config.EnvOf()}}}, out, errw
}
