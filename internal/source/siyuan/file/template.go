package file

import (
	"errors"
	"html"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// templateErrors makes an error of a template readable: the kernel escapes it for HTML. A template that the kernel does
// not come to an end with may be the reason for its silence.
func templateErrors(err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case !ok:
	case e.Kind == tool.API:
		e.Message = html.UnescapeString(e.Message)
	case e.Code == kernel.CodeUnreachable:
		e.Hint = "if SiYuan is there, the template is more work than it can do in time: make its loops and queries smaller"
	}
	return err
}
