package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
)

// This file reads lines from the terminal, hidden ones too.

// Prompt asks the person at this terminal and returns the typed line. If hidden is set, the line is not
// shown. Prompt reads no byte beyond the line, so that visible and hidden questions can be mixed. The
// error is io.EOF at the end of the input, or that of ctx.
func (p *Program) Prompt(ctx context.Context, question string, hidden bool) (string, error) {
	read := ReadLine
	if f, ok := p.In.(*os.File); ok && hidden && output.IsTerminal(p.In) {
		fd := int(f.Fd())
		state, err := term.MakeRaw(fd) // before the question, in case somebody types fast
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
	go func() { // a read from a terminal cannot be interrupted: this ends with a line or the process
		text, err := read(p.In)
		answer <- said{text, err}
	}()
	select {
	case s := <-answer:
		if errors.Is(s.err, io.EOF) && !hidden && output.IsTerminal(p.In) {
			fmt.Fprintln(p.Err) // Ctrl-D does not end the line on the screen
		}
		return s.text, s.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// readHidden reads a line from a raw terminal without showing it. It supports Backspace, which takes
// away a character, and Ctrl-U; Ctrl-C returns [context.Canceled], Ctrl-D io.EOF.
func readHidden(r io.Reader) (string, error) {
	var line []byte
	buf := make([]byte, 1)
	for {
		if n, err := r.Read(buf); err != nil || n == 0 {
			return "", errors.Join(io.EOF, err)
		}
		switch c := buf[0]; c {
		case '\r', '\n':
			return string(line), nil
		case 0x03:
			return "", context.Canceled
		case 0x04:
			return "", io.EOF
		case 0x08, 0x7f:
			_, size := utf8.DecodeLastRune(line) // 0 if there is nothing to take away
			line = line[:len(line)-size]
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
	buf := make([]byte, 1)
	for {
		n, err := r.Read(buf)
		if n == 1 && buf[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if line = append(line, buf[:n]...); err != nil {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return string(line), nil
			}
			return "", err
		}
	}
}

// PromptOr is like Prompt with a default answer for an empty line.
func (p *Program) PromptOr(ctx context.Context, question, usual string) (string, error) {
	text, err := p.Prompt(ctx, fmt.Sprintf("%s [%s]: ", locale.T(question), output.OneLine(usual)), false)
	return output.FirstNonEmpty(strings.TrimSpace(text), usual), err
}
