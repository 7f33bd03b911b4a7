package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// explain makes what a caller sees of an error; nil stays nil.
func (s *Store) explain(op string, err error) error {
	e := &tool.Error{Op: op, Kind: tool.Unavailable, Subject: filepath.Dir(s.leases), Err: err}
	if known, ok := errors.AsType[*tool.Error](err); ok {
		return known
	}
	switch {
	case err == nil || errors.Is(err, toolcache.ErrConflict):
		return err
	case errors.Is(err, context.Canceled):
		e.Kind = tool.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Hint = tool.Timeout, "is the network drive of the folder connected?"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "this user must be able to read and write the folder and all below it"
	case errors.Is(err, os.ErrClosed):
		e.Message, e.Err = "the shared tool cache is closed", os.ErrClosed
	}
	return e
}

func invalidEntry(server string) error {
	return &tool.Error{
		Op: "commit to shared tool cache", Kind: tool.Invalid, Subject: fmt.Sprintf("entry %q", server),
		Message: "is no JSON, expected an object",
	}
}
