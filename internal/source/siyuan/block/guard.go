package block

import (
	"errors"
	"fmt"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file refuses targets that an action cannot work on, and has the errors for that.

// isDocument reports whether a target is a document.
func isDocument(t action.Target) bool { return t.ID == t.Root }

// refuseNotebookPage returns an error if a target is the page that each notebook has under its own id. It is not listed anywhere, so people would not
// find what is written there.
func refuseNotebookPage(r *action.Request, param string, t action.Target) error {
	if t.ID != t.Notebook {
		return nil
	}
	e := r.Invalid(param, fmt.Sprintf("%s is a notebook, expected a block or document", t.ID))
	e.Hint = fmt.Sprintf(`document(action="create", notebook="%s", …) makes a document, notebook(action="get_child_docs", notebook="%[1]s") lists them`, t.ID)
	return e
}

// refuseDocument returns an error if a target is a document, for actions on blocks inside documents only.
func refuseDocument(r *action.Request, param string, t action.Target, hint string) error {
	if err := refuseNotebookPage(r, param, t); err != nil {
		return err
	}
	if !isDocument(t) {
		return nil
	}
	e := r.Invalid(param, fmt.Sprintf("%s is a document, expected a block in one", t.ID))
	e.Hint = hint
	return e
}

// explainLeafParent returns, in place of the kernel's error that a parent cannot have children, one that says what to do instead.
// Any other error it returns as it is.
func explainLeafParent(r *action.Request, parent kernel.ID, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != kernel.API || !strings.Contains(e.Message, "leaf block") {
		return err
	}
	return notAContainerError(r, parent)
}

// notAContainerError returns the error for a parent that cannot have children.
func notAContainerError(r *action.Request, id kernel.ID) error {
	e := r.Invalid("parentID", fmt.Sprintf("%s is a block that cannot hold others", id))
	e.Hint = fmt.Sprintf(`block(action="%s", previousID="%s", …) puts it behind`, siblingAction(r), id)
	return e
}

// siblingAction returns the corresponding action that inserts after a block instead of into it.
func siblingAction(r *action.Request) string {
	if r.Action.Name == "move" {
		return "move"
	}
	return "insert"
}

// mismatchError returns the error for a write that the kernel accepted but that had no effect.
func mismatchError(r *action.Request, id kernel.ID, message string) *tool.Error {
	return &tool.Error{
		Op: "call", Kind: kernel.Mismatch, Subject: r.Action.Tool + "." + r.Action.Name, Message: message,
		Hint: fmt.Sprintf(`block(action="get_kramdown", id="%s") shows what is there now`, id),
	}
}
