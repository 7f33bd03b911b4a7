package process

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Output runs a command to its end and returns what it wrote to stdout, of which there may be
// at most limit bytes. When ctx ends, the command and what it started are ended too. The error
// is a [*StartError], says how the command ended and what it wrote to stderr last, or is the
// cause of ctx.
func Output(ctx context.Context, c Command, limit int, opts *Options) ([]byte, error) {
	p, err := Start(c, opts)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = p.Stop(ctx) })()
	_ = p.Stdin().Close() // it reads nothing from us
	out, err := io.ReadAll(io.LimitReader(p.Stdout(), int64(limit)+1))
	if len(out) > limit {
		_ = p.Stop(ctx) // what it would still write is not wanted
		return nil, fmt.Errorf("%s wrote more than %d bytes", c.Name, limit)
	}
	<-p.Done()
	switch exit := p.Exit(); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
	case exit.Code != 0:
		return nil, fmt.Errorf("%s: %v: %s", c.Name, exit, strings.Join(p.Tail(5), " | "))
	case err != nil:
		return nil, fmt.Errorf("read from %s: %w", c.Name, err)
	}
	return out, p.Stop(ctx)
}
