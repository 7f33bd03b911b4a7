package block_test

import (
	"errors"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// idsIn returns the ids in a list of a result.
func idsIn(list gjson.Result) []kernel.ID {
	var out []kernel.ID
	for _, id := range list.Array() {
		out = append(out, kernel.ID(id.Str))
	}
	return out
}

// asToolError returns err as a *tool.Error, and fails the test if it is none.
func asToolError(t *testing.T, err error) *tool.Error {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("%v is not a tool.Error", err)
	}
	return e
}
