package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// prompt asks the person at this terminal and returns the line they type, which is not shown if
// it is hidden. It reads no byte more than that, so that questions of both kinds can follow each
// other. The error is io.EOF at the end of the input, or ctx's.
func (p *program) prompt(ctx context.Context, question string, hidden bool) (string, error) {
	fmt.Fprint(p.err, question)
	f, ok := p.in.(*os.File)
	if !ok || !terminal(p.in) {
		return readLine(p.in)
	}
	fd := int(f.Fd()) //nolint:gosec // a descriptor is small
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	type said struct {
		text string
		err  error
	}
	answer := make(chan said, 1)
	go func() { // a read of a terminal cannot be interrupted: it ends with a line, or the process
		if !hidden {
			text, err := readLine(f)
			answer <- said{text, err}
			return
		}
		raw, err := term.ReadPassword(fd)
		answer <- said{string(raw), err}
	}()
	select {
	case s := <-answer:
		if hidden {
			fmt.Fprintln(p.err)
		}
		return s.text, s.err
	case <-ctx.Done():
		fmt.Fprintln(p.err)
		return "", errors.Join(context.Cause(ctx), term.Restore(fd, state))
	}
}

// readLine reads a line byte by byte and returns it without its end.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if line = append(line, one[:n]...); err != nil {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return string(line), nil
			}
			return "", err
		}
	}
}

// promptOr is prompt with an answer for those who type none.
func (p *program) promptOr(ctx context.Context, question, usual string) (string, error) {
	text, err := p.prompt(ctx, fmt.Sprintf("%s [%s]: ", question, oneLine(usual)), false)
	return first(strings.TrimSpace(text), usual), err
}
