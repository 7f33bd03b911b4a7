package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"collie/internal/process"
	"collie/internal/source/upstream/entry"
)

// maxHeaders bounds what a headersCommand prints.
const maxHeaders = 64 << 10

// commandHeaders runs the entry's headersCommand and adds what it prints, a JSON object of
// names and values, to head. What it prints is never logged.
func (s *Server) commandHeaders(ctx context.Context, e *entry.Entry, head http.Header) error {
	c := e.HeadersCommand
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("no answer within %v", c.Timeout))
	defer cancel()
	out, err := process.Output(ctx, process.Command{
		Label: s.name + " headersCommand", Name: c.Command.Reveal(), Args: reveal(c.Args), Dir: e.Dir,
		Env: entry.Environment(*e, s.set.opts.Environ, entry.EnvironmentOptions{Deny: s.set.opts.Deny}),
	}, maxHeaders, &process.Options{Guard: s.set.opts.Guard, Logger: s.log})
	if err != nil {
		return fmt.Errorf("headersCommand: %w", err)
	}
	var pairs map[string]string
	if json.Unmarshal(out, &pairs) != nil {
		return fmt.Errorf("headersCommand: it printed %d bytes that are no JSON object of texts, such as {\"Authorization\": \"Bearer …\"}", len(out))
	}
	for name, value := range pairs {
		if name == "" || strings.ContainsAny(name, " :\r\n\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("headersCommand: the header %q or its value has characters that no header may have", name)
		}
		head.Set(name, value)
	}
	return nil
}
