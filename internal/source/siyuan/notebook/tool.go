// Package notebook is the tool of notebooks: listing, making, opening and removing them, their settings, and the
// levels that say what may be done in each. A notebook of level none appears in no result, and no action finds it.
//
// An unknown notebook is refused before the kernel is asked, because some of the kernel's endpoints create a ghost
// notebook for an unknown id. The entry point is [Tool].
package notebook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Tool returns the tool.
func Tool() action.Tool {
	return action.Tool{
		Name:  "notebook",
		About: "Notebooks. list gives their ids and what may be done in each: permission r, rw or rwd.",
		Actions: []*action.Action{
			list(), create(), setOpenState(), remove(), rename(), getConf(), setConf(), setIcon(),
			getPermissions(), setPermission(), getChildDocs(),
		},
	}
}

// now returns a notebook as the kernel lists it at this moment, nil if it is gone.
func now(ctx context.Context, r *action.Request, id kernel.ID) (*kernel.Notebook, error) {
	all, err := r.Kernel.Notebooks(ctx)
	if err != nil {
		return nil, err
	}
	return kernel.FindNotebook(all, id), nil
}

// notebookBefore returns a notebook as it was when the call began.
func notebookBefore(ctx context.Context, r *action.Request, id kernel.ID) (kernel.Notebook, error) {
	all, err := r.Levels.All(ctx)
	if err != nil {
		return kernel.Notebook{}, err
	}
	if n := kernel.FindNotebook(all, id); n != nil {
		return *n, nil
	}
	return kernel.Notebook{ID: id}, nil
}

// mismatchError returns the error for a write that the kernel accepted but that had no effect.
func mismatchError(id kernel.ID, message string) error {
	return &tool.Error{
		Op: "write notebook", Kind: kernel.Mismatch, Subject: string(id), Message: message,
		Hint: `notebook(action="list") shows the notebooks as they are now`,
	}
}

// unknownOutcome returns err for a notebook that was opened, closed or removed, marked if the
// outcome of the write is unknown.
func unknownOutcome(id kernel.ID, err error) error {
	switch tool.KindOf(err) {
	case tool.Unavailable, kernel.OutcomeUnknown:
		return &tool.Error{
			Op: "write notebook", Kind: kernel.OutcomeUnknown, Subject: string(id), OutcomeUnknown: true, Err: err,
			Message: "SiYuan stopped answering, which closing or removing a notebook can cause; no file is lost",
			Hint:    `see that SiYuan runs, then notebook(action="list") shows what became of the notebook`,
		}
	}
	return err
}

// longestName is the maximum length of a notebook's name, in characters.
const longestName = 512

// name returns a name that a caller gave, without spaces around it. What the kernel would refuse, or make "Untitled",
// is an error.
func name(r *action.Request, param, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case !strings.ContainsFunc(text, func(c rune) bool { return c != '/' && unicode.IsGraphic(c) && !unicode.IsSpace(c) }):
		return "", r.Invalid(param, "must not be empty")
	case utf8.RuneCountInString(text) > longestName:
		return "", r.Invalid(param, fmt.Sprintf("must not be longer than %d characters", longestName))
	}
	return text, nil
}

// withoutSecrets returns the configuration of the notebook at a path, without the secrets that unlock an encrypted
// notebook and without the ids of hidden notebooks and paths in them.
func withoutSecrets(r *action.Request, raw json.RawMessage, at string) json.RawMessage {
	drop := []string{at + "boxCrypt"}
	for _, place := range [...]string{at + "refCreateSave", at + "docCreateSave"} {
		if id := gjson.GetBytes(raw, place+"Box").String(); id != "" && !r.Readable(kernel.ID(id)) {
			drop = append(drop, place+"Box", place+"Path")
		}
	}
	for _, path := range drop {
		if out, err := sjson.DeleteBytes(raw, path); err == nil {
			raw = out
		}
	}
	return raw
}

const iconHint = `an icon is an emoji or its code points in hex: notebook(action="set_icon", icon="1f4d4")`
