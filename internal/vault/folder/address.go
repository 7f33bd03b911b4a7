package folder

import (
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// In the vault, the address of an asset is always assets/<name>. In a folder it is relative to the file, so Export adds
// "../" for each level of the file, and Import removes them.

var addressPattern = lazyregexp.New(`([("'<])((?:\.\./)*assets/)`)

// withUp inserts up before each address in a text.
func withUp(text, up string) string {
	if up == "" || !strings.Contains(text, "assets/") {
		return text
	}
	return addressPattern.ReplaceAllString(text, "${1}"+up+"${2}")
}

// withoutUp reverses withUp.
func withoutUp(text, up string) string {
	if up == "" || !strings.Contains(text, "assets/") {
		return text
	}
	return addressPattern.ReplaceAllStringFunc(text, func(m string) string {
		return m[:1] + strings.TrimPrefix(m[1:], up)
	})
}

// upTo returns the relative path from a file of an export to the folder of its notebook. The file with the notebook's
// own text lies next to that folder.
func upTo(file string) string {
	return strings.Repeat("../", max(strings.Count(file, "/")-1, 0))
}

// hasAddresses reports whether the text of a block may contain addresses of assets. Code and formulas never do.
func hasAddresses(b *tree.Block) bool {
	switch b.Kind {
	case tree.Code, tree.Math, tree.Embed, tree.Database:
		return false
	}
	return !b.Container()
}

var quotedAsset = lazyregexp.New(`["'(]((?:\.\./)*assets/[^"'()<>\n]+)["')]`)

// assetsOf returns the addresses of assets in a block's text and attributes.
func assetsOf(b *tree.Block) (list []string) {
	take := func(address string) {
		if at := strings.IndexAny(address, "?#"); at >= 0 {
			address = address[:at]
		}
		if strings.HasPrefix(address, "assets/") && len(address) > len("assets/") {
			list = append(list, address)
		}
	}
	if hasAddresses(b) && strings.Contains(b.Text, "assets/") {
		switch b.Kind {
		case tree.Paragraph, tree.Heading, tree.Table:
			for _, s := range markup.Spans(b.Text) {
				target := s.Target
				if at := strings.LastIndexByte(target, '/'); s.Kind == "file-annotation-ref" && at > 0 {
					target = target[:at] // without the position in the file
				}
				take(target)
			}
		}
		for _, m := range quotedAsset.FindAllStringSubmatch(b.Text, -1) {
			if b.Kind != tree.Paragraph && b.Kind != tree.Heading && b.Kind != tree.Table || strings.ContainsAny(m[0][:1], `"'`) {
				take(m[1])
			}
		}
	}
	for name, value := range b.Attrs {
		if name == "id" || name == "updated" || !strings.Contains(value, "assets/") {
			continue
		}
		if strings.HasPrefix(value, "assets/") {
			take(value)
		}
		for _, m := range quotedAsset.FindAllStringSubmatch(value, -1) {
			take(m[1])
		}
	}
	return list
}

// changeAddresses applies change to the addresses in the text of a block. A table gets a new layout, since its columns
// change width.
func changeAddresses(b *tree.Block, change func(string) string) {
	text := change(b.Text)
	if b.Kind == tree.Table && text != b.Text {
		if laid := markup.Parse(text); len(laid) == 1 && laid[0].Kind == tree.Table {
			text = laid[0].Text
		}
	}
	b.Text = text
}
