package root

import (
	"bytes"
	"strings"

	"collie/internal/config"
	"collie/internal/face/cli/output"
)

func newProgram(stdin string) (p *Program, out, errw *bytes.Buffer) {
	out, errw = new(bytes.Buffer), new(bytes.Buffer)
	return &Program{Version: "test", In: strings.NewReader(stdin), Output: output.Output{Out: out, Err: errw, Env: config.EnvOf()}}, out, errw
}
