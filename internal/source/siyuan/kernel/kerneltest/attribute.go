package kerneltest

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// attributeFamily answers the endpoints below /api/attr.
func attributeFamily(k *Kernel) {
	k.handle("/api/attr/getBlockAttrs", getBlockAttrs)
	k.handle("/api/attr/batchGetBlockAttrs", batchGetBlockAttrs)
	k.handle("/api/attr/setBlockAttrs", setBlockAttrs)
	k.handle("/api/attr/batchSetBlockAttrs", batchSetBlockAttrs)
	k.handle("/api/attr/resetBlockAttrs", func(*Kernel, request) reply {
		return fail(-1, "[/api/attr/resetBlockAttrs] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details")
	})
}

var attributeName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func getBlockAttrs(k *Kernel, req request) reply {
	if b := k.openBlock(req.id("id")); b != nil {
		return ok(maps.Clone(b.attrs))
	}
	return ok(map[string]string{})
}

func batchGetBlockAttrs(k *Kernel, req request) reply {
	found := map[string]any{}
	for _, id := range req.strs("ids") {
		if b := k.openBlock(id); b != nil {
			found[id] = maps.Clone(b.attrs)
		}
	}
	return ok(found)
}

func setBlockAttrs(k *Kernel, req request) reply {
	id, attrs := req.id("id"), req.object("attrs")
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, "tree not found")
	}
	if msg := k.setAttrs(b, attrs.Result); msg != "" {
		return fail(-1, msg)
	}
	return done()
}

func batchSetBlockAttrs(k *Kernel, req request) reply {
	for _, entry := range req.list("blockAttrs") {
		id, attrs := entry.id("id"), entry.object("attrs")
		b := k.openBlock(id)
		if b == nil {
			return fail(-1, fmt.Sprintf("Content block with id [%s] not found", id))
		}
		if msg := k.setAttrs(b, attrs.Result); msg != "" {
			return fail(-1, msg)
		}
	}
	return done()
}

// setAttrs merges attributes into b's; "" and null remove one. It returns the kernel's complaint, after which nothing
// is written.
func (k *Kernel) setAttrs(b *block, attrs gjson.Result) (msg string) {
	changes := map[string]string{}
	attrs.ForEach(func(key, value gjson.Result) bool {
		name := strings.ToLower(key.Str)
		switch {
		case value.Type != gjson.String && value.Type != gjson.Null:
			msg = fmt.Sprintf("the value of attr [%s] must be a string", key.Str)
		case !attributeName.MatchString(name):
			msg = fmt.Sprintf("The attribute name can only contain lowercase English letters, digits, and hyphens, and must start with a lowercase English letter [%s]", b.id)
		}
		changes[name] = value.Str
		return msg == ""
	})
	if msg != "" {
		return msg
	}
	delete(changes, "id")
	for name, value := range changes {
		if value == "" {
			delete(b.attrs, name)
		} else {
			b.attrs[name] = value
		}
	}
	return ""
}
