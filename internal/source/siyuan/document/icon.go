package document

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

const iconHint = `an icon is an emoji or its code points in hex: document(action="set_attr", attrs={"icon":"1f4d4"})`

// icon is an icon as the kernel stores it.
func icon(r *action.Request, param, text string) (string, error) {
	code, err := kernel.Icon(text)
	if err != nil {
		return "", r.Invalid(param, err.Error())
	}
	return code, nil
}

// giveIcon sets the icon of a new document. That it did not work is a warning: the document is
// there.
func giveIcon(ctx context.Context, r *action.Request, id kernel.ID, code string) (warning string) {
	if err := r.Kernel.SetAttrs(ctx, id, map[string]string{"icon": code}); err != nil {
		return fmt.Sprintf("the icon was not set: %v", err)
	}
	r.RefreshIcons()
	return ""
}
