package notebook_test

import (
	"errors"
	"strings"

	"collie/internal/tool"
)

// text is the payload of an error with the subject taken out.
func text(err error, subject string) string {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return err.Error()
	}
	return strings.ReplaceAll(string(e.Payload()), subject, "ID")
}

func quoted(id string) string { return `"` + id + `"` }

// on is the arguments for an action on a notebook, with more members after it.
func on(more string) func(string) string {
	if more != "" {
		more = "," + more
	}
	return func(id string) string { return `{"notebook":` + quoted(id) + more + `}` }
}
