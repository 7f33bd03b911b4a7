package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// stdioClient is a client of a program that it started: one write per request, then reads until the line is
// complete.
type stdioClient struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	r     *bufio.Reader
	frame frame
	id    int
	out   []byte
	in    []byte // holds a line that is longer than the reader's buffer
}

// startStdio starts a program and opens a session with it.
func startStdio(ctx context.Context, program string, args ...string) (*stdioClient, error) {
	c := &stdioClient{cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Env = cleanEnv()
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.stdin, c.r = stdin, bufio.NewReaderSize(stdout, 64<<10)
	c.prepare(initializeRequest)
	if _, err := c.call(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	_, err = stdin.Write(append(initialized, '\n'))
	return c, err
}

func (c *stdioClient) prepare(r request) { c.frame = legacy.frame(r) }

func (c *stdioClient) call() ([]byte, error) {
	c.id++
	c.out = append(c.frame.append(c.out[:0], c.id), '\n')
	if _, err := c.stdin.Write(c.out); err != nil {
		return nil, err
	}
	for {
		line, err := c.readLine()
		if err != nil {
			return nil, err
		}
		if isResponseTo(line, c.id) { // otherwise it is a notification
			return resultOf(line, c.id)
		}
	}
}

func (c *stdioClient) readLine() ([]byte, error) {
	part, err := c.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	c.in = append(c.in[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = c.r.ReadSlice('\n')
		c.in = append(c.in, part...)
	}
	return c.in, err
}

// close ends the program by closing its input.
func (c *stdioClient) close() error {
	slow := time.AfterFunc(stopLimit, func() { _ = c.cmd.Process.Kill() })
	defer slow.Stop()
	_ = c.stdin.Close()
	_, _ = io.Copy(io.Discard, c.r)
	return c.cmd.Wait()
}
