package mcptest

import (
	"bytes"
	"context"
	"os"

	"github.com/tidwall/gjson"
)

// faultTools crash or disturb the process.
func faultTools() map[string]builtin {
	return map[string]builtin{
		"crash": {
			about:      "Ends the process with this code, or by SIGKILL, without an answer.",
			properties: `"code":{"type":"integer"},"kill":{"type":"boolean"}`,
			blocks:     true,
			run: func(ctx context.Context, s *server, _ *call, args gjson.Result) {
				if p, err := os.FindProcess(os.Getpid()); err == nil && args.Get("kill").Bool() {
					_ = p.Kill()
				}
				s.exitAndWait(ctx, numberArgument(args, "code", exitFailed))
			},
		},
		"stderr": {
			about:      "Writes so many bytes to stderr, in lines of 100, before it answers.",
			properties: bytesProperty,
			blocks:     true,
			run: func(_ context.Context, s *server, c *call, args gjson.Result) {
				s.floodStderr(numberArgument(args, "bytes", 1<<20))
				c.answerText("flooded")
			},
		},
		"forget": {
			about: "Answers and then forgets the client's HTTP session, which is unknown from then on.",
			run: func(_ context.Context, s *server, c *call, _ gjson.Result) {
				c.answerText("forgotten")
				s.removePeer(c.peer)
			},
		},
	}
}

// exitAndWait ends the process. It returns only after that, so that the caller sends no answer.
func (s *server) exitAndWait(ctx context.Context, code int) {
	s.requestExit(code)
	<-ctx.Done()
}

// floodStderr writes n bytes to stderr, in lines of 100.
func (s *server) floodStderr(n int) {
	s.stderrMu.Lock()
	defer s.stderrMu.Unlock()
	line := append(bytes.Repeat([]byte("e"), 99), '\n')
	chunk := bytes.Repeat(line, 600)
	for ; n > 0; n -= len(chunk) {
		if n < len(chunk) {
			chunk = append(chunk[:n-1:n-1], '\n')
		}
		_, _ = s.stderr.Write(chunk)
	}
}
