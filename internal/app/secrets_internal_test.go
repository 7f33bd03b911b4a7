package app

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestLogHidesSecrets(t *testing.T) {
	t.Parallel()
	h := newHidden(nil)
	var out bytes.Buffer
	log := slog.New(redactingHandler{slog.NewTextHandler(&out, nil), h.logs}).With("fixed", "quodlibet-1188", "count", 3).WithGroup("g")
	h.logs.Hide([]string{"quodlibet-1188"})
	log.Info("key quodlibet-1188", "a", "is quodlibet-1188", "err", errors.New("no quodlibet-1188"), slog.Group("in", "b", "quodlibet-1188"), "list", []string{"quodlibet-1188"})
	log = log.With("later", "quodlibet-1188")
	log.Info("well", "n", 7)
	got := out.String()
	if strings.Contains(strings.ReplaceAll(got, "fixed=quodlibet-1188", ""), "quodlibet") || strings.Count(got, "***") != 6 || !strings.Contains(got, "g.n=7") || !strings.Contains(got, "count=3") {
		t.Error(got)
	}
}
