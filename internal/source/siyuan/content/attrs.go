package content

import (
	"context"
	"maps"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// KeepAttrs sets attributes again that blocks had before a write and do not have now, and reads
// them back. Both maps are by block id, as [Attributes] and the client's BatchAttrs
// return them; a block that is not in now is gone and is passed over. The id and the times are
// the kernel's own.
func KeepAttrs(ctx context.Context, k *kernel.Client, before, now map[kernel.ID]map[string]string) error {
	for id, attrs := range before {
		have, ok := now[id]
		if !ok {
			continue
		}
		missing := missingAttrs(attrs, have)
		if len(missing) == 0 {
			continue
		}
		if err := k.SetAttrs(ctx, id, missing); err != nil {
			return err
		}
		got, err := k.Attrs(ctx, id)
		if err != nil {
			return err
		}
		if left := missingAttrs(attrs, got); len(left) > 0 {
			return &tool.Error{
				Op: "keep attributes of", Kind: tool.Mismatch, Subject: string(id),
				Message: "the block was written and some of its attributes are gone",
				Hint:    `set them again: block(action="set_attrs")`, Facts: map[string]any{"attributes": maps.Clone(left)},
			}
		}
	}
	return nil
}

func missingAttrs(want, have map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range want {
		switch name {
		case "id", "updated", "created", "type", "colgroup":
			continue
		}
		if have[name] != value {
			out[name] = value
		}
	}
	return out
}
