package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// Prompt asks the person at this terminal and returns the line they type, which is not shown if
// it is hidden. It reads no byte more than that, so that questions of both kinds can follow each
// other. The error is io.EOF at the end of the input, or ctx's.
func (p *Program) Prompt(ctx context.Context, question string, hidden bool) (string, error) {
	read := ReadLine
	if f, ok := p.In.(*os.File); ok && hidden && output.IsTerminal(p.In) {
		fd := int(f.Fd())
		state, err := term.MakeRaw(fd) // before the question, for those who type fast
		if err != nil {
			return "", err
		}
		defer func() {
			_ = term.Restore(fd, state)
			fmt.Fprintln(p.Err)
		}()
		read = readHidden
	}
	fmt.Fprint(p.Err, locale.T(question))
	type said struct {
		text string
		err  error
	}
	answer := make(chan said, 1)
	go func() { // a read of a terminal cannot be interrupted: it ends with a line, or the process
		text, err := read(p.In)
		answer <- said{text, err}
	}()
	select {
	case s := <-answer:
		if errors.Is(s.err, io.EOF) && !hidden && output.IsTerminal(p.In) {
			fmt.Fprintln(p.Err) // Ctrl-D ends no line
		}
		return s.text, s.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// readHidden reads a line of a raw terminal, which shows nothing. Backspace and Ctrl-U work;
// Ctrl-C is [context.Canceled] and Ctrl-D io.EOF.
func readHidden(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		if n, err := r.Read(one); err != nil || n == 0 {
			return "", errors.Join(io.EOF, err)
		}
		switch c := one[0]; c {
		case '\r', '\n':
			return string(line), nil
		case 0x03:
			return "", context.Canceled
		case 0x04:
			return "", io.EOF
		case 0x08, 0x7f:
			line = line[:max(0, len(line)-1)]
		case 0x15:
			line = line[:0]
		default:
			line = append(line, c)
		}
	}
}

// ReadLine reads a line byte by byte and returns it without its end.
func ReadLine(r io.Reader) (string, error) {
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

// PromptOr is prompt with an answer for those who type none.
func (p *Program) PromptOr(ctx context.Context, question, usual string) (string, error) {
	text, err := p.Prompt(ctx, fmt.Sprintf("%s [%s]: ", locale.T(question), output.OneLine(usual)), false)
	return output.First(strings.TrimSpace(text), usual), err
}
