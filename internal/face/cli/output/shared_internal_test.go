package output

import (
	"bytes"

	"collie/internal/config"
)

func newProgram(stdin string) (p *Output, out, errw *bytes.Buffer) {
	out, errw = new(bytes.Buffer), new(bytes.Buffer)
	return &Output{Out: out, Err: errw, Env: config.EnvOf()}, out, errw
}
