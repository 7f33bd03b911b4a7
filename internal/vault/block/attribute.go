package block

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"collie/internal/lazyregexp"
	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints for attributes of blocks.

// attributeName matches the valid names of attributes.
var attributeName = lazyregexp.New(`^[a-z][a-z0-9-]*$`)

// getBlockAttrs returns the attributes of a block, none if there is no such block.
func getBlockAttrs(tx *workspace.Tx, req api.Request) api.Reply {
	if b := tx.Block(req.ID("id")); b != nil {
		return api.OK(shownAttributes(tx, b, databaseNames{}))
	}
	return api.OK(map[string]string{})
}

// batchGetBlockAttrs returns the attributes of many blocks. Blocks that do not exist are left out.
func batchGetBlockAttrs(tx *workspace.Tx, req api.Request) api.Reply {
	attrs, names := map[string]map[string]string{}, databaseNames{}
	for _, id := range req.Strs("ids") {
		if b := tx.Block(id); b != nil {
			attrs[id] = shownAttributes(tx, b, names)
		}
	}
	return api.OK(attrs)
}

func setBlockAttrs(tx *workspace.Tx, req api.Request) api.Reply {
	id, attrs := req.ID("id"), req.Object("attrs")
	b := tx.Block(id)
	if b == nil {
		return api.Fail(-1, "tree not found")
	}
	if complaint := setAttributes(tx, b, attrs.Result); complaint != "" {
		return api.Fail(-1, complaint)
	}
	return api.Done()
}

func batchSetBlockAttrs(tx *workspace.Tx, req api.Request) api.Reply {
	for _, entry := range req.List("blockAttrs") {
		id, attrs := entry.ID("id"), entry.Object("attrs")
		b := tx.Block(id)
		if b == nil {
			return unknownBlock(id)
		}
		if complaint := setAttributes(tx, b, attrs.Result); complaint != "" {
			return api.Fail(-1, complaint)
		}
	}
	return api.Done()
}

// setAttributes merges attributes into those of b; "" and null remove one. If one of them is invalid, it changes
// nothing and returns the text for the user.
func setAttributes(tx *workspace.Tx, b *tree.Block, attrs gjson.Result) (complaint string) {
	changes, complaint := readAttributes(b, attrs)
	if complaint != "" {
		return complaint
	}
	title, retitled := changes["title"]
	if retitled && b.Kind == tree.Doc {
		delete(changes, "title")
		if utf8.RuneCountInString(title) > edit.MaxTitle {
			return "Maximum length is limited to 512 characters"
		}
	}
	edit.SaveBefore(tx, b.Doc)
	if retitled && b.Kind == tree.Doc {
		edit.Rename(b.Doc, title)
	}
	for name, value := range changes {
		if value == "" {
			delete(b.Attrs, name)
		} else {
			b.Attrs[name] = value
		}
	}
	return ""
}

// readAttributes checks the attributes in a request for b and returns them by name, "" to remove one; or else the text
// for the user.
func readAttributes(b *tree.Block, attrs gjson.Result) (changes map[string]string, complaint string) {
	changes = map[string]string{}
	attrs.ForEach(func(key, value gjson.Result) bool {
		name := strings.ToLower(key.Str)
		switch {
		case value.Type != gjson.String && value.Type != gjson.Null:
			complaint = fmt.Sprintf("the value of attr [%s] must be a string", key.Str)
		case !attributeName.MatchString(name):
			complaint = fmt.Sprintf("The attribute name can only contain lowercase English letters, digits, and hyphens, "+
				"and must start with a lowercase English letter [%s]", b.ID)
		}
		changes[name] = value.Str
		return complaint == ""
	})
	delete(changes, "id") // ignored: an id never changes
	for _, name := range []string{"updated", "type"} {
		if changes[name] == "" && (name == "updated" || b.Kind == tree.Doc) {
			delete(changes, name) // may be changed but not removed
		}
	}
	return changes, complaint
}
