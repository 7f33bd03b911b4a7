package audit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"collie/internal/pipeline/audit"
)

// A logger with LogHandler hides all known secrets, except in attributes that With added before the secret was known.
func TestLogHidesSecrets(t *testing.T) {
	t.Parallel()
	redact := audit.NewRedactor(nil, audit.ContentFull)
	var out bytes.Buffer
	log := slog.New(redact.LogHandler(slog.NewTextHandler(&out, nil))).With("fixed", "quodlibet-1188", "count", 3).WithGroup("g")
	redact.Hide([]string{"quodlibet-1188"})
	log.Info("key quodlibet-1188", "a", "is quodlibet-1188", "err", errors.New("no quodlibet-1188"), slog.Group("in", "b", "quodlibet-1188"), "list", []string{"quodlibet-1188"})
	log = log.With("later", "quodlibet-1188")
	log.Info("well", "n", 7)
	got := out.String()
	if strings.Contains(strings.ReplaceAll(got, "fixed=quodlibet-1188", ""), "quodlibet") || strings.Count(got, "***") != 6 || !strings.Contains(got, "g.n=7") || !strings.Contains(got, "count=3") {
		t.Error(got)
	}
}
