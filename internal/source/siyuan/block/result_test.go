package block_test

import (
	"errors"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func ids(list gjson.Result) []kernel.ID {
	var out []kernel.ID
	for _, id := range list.Array() {
		out = append(out, kernel.ID(id.Str))
	}
	return out
}

func toolError(t *testing.T, err error) *tool.Error {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("%v is not a tool.Error", err)
	}
	return e
}
