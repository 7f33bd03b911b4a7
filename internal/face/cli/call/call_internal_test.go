package call

import (
	"errors"
	"strings"
	"testing"

	"collie/internal/face/cli/root"
)

// Only one argument can be read from stdin.
func TestStdinTwice(t *testing.T) {
	t.Parallel()
	p := commands{&root.Program{In: strings.NewReader("x")}}
	read := p.stdinOnce()
	if got, err := read(); string(got) != "x" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := read(); !errors.Is(err, errStdinTwice) {
		t.Errorf("error is %v, want %v", err, errStdinTwice)
	}
}
