package upstream

import (
	"net"
	"strings"
	"syscall"
	"testing"

	"collie/internal/mcp"
)

// A broken pipe to a program does not suggest a wrong URL; one to a network server does.
func TestReasonOfABrokenPipe(t *testing.T) {
	t.Parallel()
	if _, hint := reasonOf(&mcp.LinkError{Err: syscall.EPIPE}); strings.Contains(hint, "url") || !strings.Contains(hint, "stdio") {
		t.Errorf("a program that closed its input: %s", hint)
	}
	if _, hint := reasonOf(&mcp.LinkError{Err: &net.OpError{Op: "write", Err: syscall.EPIPE}}); !strings.Contains(hint, "url") {
		t.Errorf("a connection that broke: %s", hint)
	}
}
