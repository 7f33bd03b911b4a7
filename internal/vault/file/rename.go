package file

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint that renames an asset, and rewrites its address in all texts.

// renameAsset gives an asset a new name with a new id, and rewrites its address everywhere: in documents of open and
// closed notebooks, however they spell it, in attributes and in databases. If the asset does not exist, nothing is
// rewritten and there is no error. An asset in the folder of a notebook must be given as documents write it,
// assets/a.png; its full path finds nothing, as in SiYuan.
func renameAsset(tx *workspace.Tx, req api.Request) api.Reply {
	oldAddress, name := req.Str("oldPath"), req.Str("newName")
	from, ok := assetFile(oldAddress)
	switch {
	case name == "":
		return api.OK(map[string]any{"newPath": ""})
	case !ok:
		return noAsset(oldAddress)
	}
	ext := path.Ext(oldAddress)
	stem := tree.Cut(strings.Trim(foldName(name), " "), maxStem)
	if stem == "" {
		return api.OK(map[string]any{"newPath": ""})
	}
	newAddress := path.Dir(oldAddress) + "/" + stem + "-" + tx.NewID() + ext
	if from = fileOf(tx, oldAddress, from); from != "" {
		moveAsset(tx, from, path.Join(path.Dir(from), path.Base(newAddress)))
		rewriteUses(tx, oldAddress, newAddress)
	}
	return api.OK(map[string]any{"newPath": newAddress})
}

// resolveAssetPath returns the path of the file for an address, below [api.Root].
func resolveAssetPath(tx *workspace.Tx, req api.Request) api.Reply {
	address := req.Str("path")
	common, ok := assetFile(address)
	if !ok || !strings.HasPrefix(address, "assets/") {
		return api.Notice("["+address+"] is not an asset path (must start with assets/)", 3000)
	}
	file := fileOf(tx, address, common)
	if file == "" {
		return api.Notice("Query asset failed ["+address+"]", 3000)
	}
	return api.OK(api.Root + file)
}

// fileOf returns the file that an address in documents refers to: the one in the common folder, otherwise one in the
// folder of a notebook or document; "" if there is none.
func fileOf(tx *workspace.Tx, address, common string) (found string) {
	if !strings.HasPrefix(address, "assets/") {
		return ""
	}
	if f := tx.Stat(common); f != nil && !f.Dir {
		return common
	}
	tail := "/" + address
	tx.Rows(func(row workspace.Row) bool {
		if p := row.Text(0); inAssets(p) && strings.Index(p, "/assets/") == len(p)-len(tail) {
			found = p
		}
		return found == ""
	}, "SELECT path FROM file WHERE dir = 0 AND substr(path, -length(?1)) = ?1 ORDER BY path", tail)
	return found
}

// moveAsset moves a file, with its annotations and recognized text.
func moveAsset(tx *workspace.Tx, from, to string) {
	tx.RenameFile(from, to)
	if tx.Stat(from+annotationExt) != nil {
		tx.RenameFile(from+annotationExt, to+annotationExt)
	}
	if r := tx.Record(textRecord, from); r != nil {
		tx.RemoveRecord(textRecord, from)
		r.ID = to
		tx.PutRecord(*r)
	}
}

// rewriteUses replaces an old address by a new one everywhere.
func rewriteUses(tx *workspace.Tx, oldAddress, newAddress string) {
	address := spellings(oldAddress)
	spell := func(found string) string {
		if strings.Contains(found, "%") || !isPlain(newAddress) {
			return (&url.URL{Path: newAddress}).EscapedPath()
		}
		return newAddress
	}
	for _, u := range usesOf(tx, oldAddress) {
		if b := blockAt(tx, u); b != nil {
			edit.SaveBefore(tx, b.Doc)
			rewriteBlock(b, address, spell)
		}
	}
	for _, f := range tx.FilesBelow(siyuanapi.Databases) {
		if f.Dir {
			continue
		}
		data := string(tx.ReadFile(f.Path))
		if updated := replaceAddress(data, address, spell); updated != data {
			tx.WriteFile(f.Path, []byte(updated), time.Time{})
		}
	}
}

// isPlain reports whether an address can be written in Markdown without escapes.
func isPlain(address string) bool {
	spans := markup.Spans("![](" + address + ")")
	return len(spans) == 1 && spans[0].Kind == "img" && spans[0].Target == address
}

// rewriteBlock replaces an address in the text and the attributes of a block.
func rewriteBlock(b *tree.Block, address *regexp.Regexp, spell func(string) string) {
	if !b.Container() {
		b.Text = replaceAddress(b.Text, address, spell)
	}
	for name, value := range b.Attrs {
		if name != "id" {
			b.Attrs[name] = replaceAddress(value, address, spell)
		}
	}
}

// blockUse is a block that may contain the address of an asset.
type blockUse struct{ id, box, path string }

// usesOf finds the blocks whose text or attributes contain that part of an address which is never escaped.
func usesOf(tx *workspace.Tx, address string) (uses []blockUse) {
	needle := ""
	for _, run := range strings.FieldsFunc(path.Base(address), func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) || r == '%' }) {
		if len(run) > len(needle) {
			needle = run
		}
	}
	tx.Rows(func(row workspace.Row) bool {
		uses = append(uses, blockUse{row.Text(0), row.Text(1), row.Text(2)})
		return true
	}, `SELECT node.id, document.box, document.path FROM node JOIN document ON document.n = node.doc
		WHERE instr(node.markdown, ?1) > 0 OR instr(node.ial, ?1) > 0`, needle)
	return uses
}

// blockAt returns a block, even in a closed notebook; nil if it is missing.
func blockAt(tx *workspace.Tx, u blockUse) (found *tree.Block) {
	if b := tx.Block(u.id); b != nil {
		return b
	}
	box := tx.Notebook(u.box)
	if box == nil {
		return nil
	}
	d := documentAt(tx, box, u.path)
	if d == nil {
		return nil
	}
	d.Root.Walk(func(b *tree.Block) {
		if b.ID == u.id {
			found = b
		}
	})
	return found
}
