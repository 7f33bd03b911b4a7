package access

import (
	"context"
	"errors"
	"fmt"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file writes the level of a notebook.

// ErrHeld is in the error chain of [Levels.Set] if the new level is in our file, but a lower one in the plugin's file
// takes precedence.
var ErrHeld = errors.New("the file of the SiYuan plugin holds it lower")

// Set writes the level of one notebook to our file: it reads the file again, changes one member, writes it and reads
// it back. Calls run one at a time. It returns the effective level from before, with the plugin's file and the
// default taken into account.
//
// An error that matches [ErrHeld] means that the level was written but is not in effect yet. An error of kind
// OutcomeUnknown means that it may have been written: the answer to the write was lost, or the files cannot be read
// back. Another error of kind Mismatch means that another program has overwritten it. With any other error nothing was
// written: one of kind LevelsUnknown means that the files could not be read before the write.
func (l *Levels) Set(ctx context.Context, notebook kernel.ID, level Level) (old Level, err error) {
	if err := checkSettable(notebook, level); err != nil {
		return None, err
	}
	select {
	case <-l.writeToken:
	case <-ctx.Done():
		return None, &tool.Error{Op: "set level", Kind: tool.Canceled, Subject: string(notebook), Err: context.Cause(ctx)}
	}
	defer func() { l.writeToken <- struct{}{} }()

	before, err := l.readFiles(ctx)
	if err != nil {
		return None, err
	}
	old = before.of(notebook, l.opts.Default)
	defer l.Forget() // whether the write succeeds or not
	failed := l.kernel.WriteFile(ctx, ownFolder+levelsFile, withLevel(before.text, notebook, level))
	if failed != nil && tool.KindOf(failed) != kernel.OutcomeUnknown {
		return old, failed
	}
	after, err := l.readFiles(ctx)
	switch got, listed := after.own[notebook]; {
	case failed != nil && (err != nil || !listed || got != level):
		return old, failed
	case err != nil:
		return old, readBackError(ownFolder+levelsFile, err)
	case !listed || got != level:
		return old, levelNotStoredError(notebook, level)
	}
	if counts := after.of(notebook, l.opts.Default); counts < level {
		return old, overriddenLevel(notebook, level, counts)
	}
	return old, nil
}

// of returns the effective level of a notebook.
func (f listings) of(notebook kernel.ID, fallback Level) Level {
	if l, ok := mergeLower(f.plugin, f.own)[notebook]; ok {
		return l
	}
	return fallback
}

func checkSettable(notebook kernel.ID, level Level) error {
	switch {
	case !notebook.Valid():
		return &tool.Error{
			Op: "set level", Kind: tool.Invalid, Subject: string(notebook),
			Message: fmt.Sprintf("%q is not a notebook id, expected one such as 20210808180117-czj9bvb", notebook),
			Hint:    `notebook(action="list") shows the notebooks`,
			Fields:  []tool.Field{{Path: "/notebook", Message: "expected the id of a notebook"}},
		}
	case level > Delete:
		return &tool.Error{
			Op: "set level", Kind: tool.Invalid, Subject: string(notebook),
			Message: "there is no such level, expected none, r, rw or rwd",
			Fields:  []tool.Field{{Path: "/permission", Message: "expected none, r, rw or rwd"}},
		}
	}
	return nil
}

// levelNotStoredError returns the error for a level that cannot be read back after it was written, since another program
// writes the file.
func levelNotStoredError(notebook kernel.ID, level Level) error {
	return &tool.Error{
		Op: "set level", Kind: kernel.Mismatch, Subject: string(notebook),
		Message: fmt.Sprintf("%s was written, but %s%s now has something else", level, ownFolder, levelsFile),
		Hint:    "another program writes that file; try again",
	}
}

func overriddenLevel(notebook kernel.ID, level, counts Level) error {
	return &tool.Error{
		Op: "set level", Kind: kernel.Mismatch, Code: "held_lower", Subject: string(notebook), Err: ErrHeld,
		Message: fmt.Sprintf("our file now has %s, but %s still applies", level, counts),
		Hint:    "raise it in the settings of the SiYuan plugin too; of two files the lower level counts",
		Facts: map[string]any{
			"notebook": notebook, "current_permission": counts.String(), "file": pluginFolder + levelsFile,
		},
	}
}
