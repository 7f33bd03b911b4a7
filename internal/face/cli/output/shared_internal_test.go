package output

import (
	"bytes"

	"collie/internal/config"
)

// newOutput returns an Output with an empty environment, and buffers for stdout and stderr.
func newOutput() (p *Output, out, errw *bytes.Buffer) {
	out, errw = new(bytes.Buffer), new(bytes.Buffer)
	return &Output{Out: out, Err: errw, Env: config.EnvOf()}, out, errw
}
