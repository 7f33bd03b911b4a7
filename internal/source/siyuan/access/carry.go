package access

import (
	"context"

	"collie/internal/source/siyuan/kernel"
)

// Listed reports whether a file lists a notebook, so that its level is somebody's decision.
func (s *Snapshot) Listed(notebook kernel.ID) bool {
	_, ok := s.listed[notebook]
	return ok
}

// Raw reads the tool config anew and returns it in canonical form, for [Switches.Edit] of another
// workspace; nil where no file holds one. The error is as that of Edit.
func (s *Switches) Raw(ctx context.Context) (map[string]any, error) {
	f, err := s.load(ctx)
	if err != nil || f.raw == nil {
		return nil, err
	}
	return s.opts.Known.canonical(f.raw), nil
}
