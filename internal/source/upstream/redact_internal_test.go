package upstream

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"collie/test/await"
)

// No part of a secret gets into the log of a server, neither where a long line is cut nor where a secret has several lines.
func TestNoPartOfASecretIsLogged(t *testing.T) {
	t.Parallel()
	const secret = "canary-first-line-91\ncanary-second-line-82"
	lines := strings.Split(secret, "\n")
	set := NewSet([]Spec{newSpec(t, "m", fmt.Sprintf(
		`{"command":"/bin/sh","args":["-c","printf '%%0390d%%s\\n' 0 \"$SHORT_TOKEN\"; echo \"$API_KEY\" >&2; sleep 1"],"env":{"SHORT_TOKEN":"canary-short-73-canary-short","API_KEY":%q}}`, secret))}, Options{})
	defer set.Close(context.Background())
	s := set.servers[0]
	if err := s.Start(t.Context()); err == nil {
		t.Fatal("a shell was taken for a server")
	}
	var text strings.Builder
	await.Until(t, "what it wrote is in its log", func() bool {
		text.Reset()
		for _, e := range s.dialer.ServerLog.Entries() {
			text.WriteString(e.Text + "\n")
		}
		return strings.Count(text.String(), "***") >= 2
	})
	for _, part := range append(lines, "canary-sh") {
		if strings.Contains(text.String(), part) {
			t.Errorf("%q is in the log: %s", part, text.String())
		}
	}
}
