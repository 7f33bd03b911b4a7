package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// maxAsset is the size of the largest file that becomes an asset, in bytes.
const maxAsset = 256 << 20

// asset is a file of the folder that becomes an asset of the vault.
type asset struct {
	from, to string // to is its address, assets/<name>
	data     []byte // until it is written
	changed  time.Time
}

// asset returns the address for a file of the folder, and imports the file if need be; "" if it cannot be an asset.
func (r *reader) asset(at string) string {
	if address, ok := r.im.assets[at]; ok {
		return address
	}
	address, why := r.im.importAsset(at, "")
	if why != "" && r.quiet {
		return ""
	}
	if why != "" {
		r.problem(codeOf(why), at, why+": the link is kept as it was")
	}
	r.im.assets[at] = address
	return address
}

const whyTooLarge = "the file has more than 256 MiB"

func codeOf(why string) string {
	if why == whyTooLarge {
		return codeTooLarge
	}
	return codeUnreadable
}

// importAsset imports a file and returns its address. If the vault has the same bytes under the same name, it is that
// of the existing asset. name is the name to keep if it is free; "" means a new name with an id.
func (im *importer) importAsset(at, name string) (address, why string) {
	data, err := im.s.read(at, maxAsset)
	switch {
	case errors.Is(err, errTooLarge):
		return "", whyTooLarge
	case err != nil:
		return "", plainError(err)
	}
	stem, ext := assetStem(path.Base(at))
	hash := hashOf(data)
	if address, ok := im.reimportAsset(at, data, hash); ok {
		return address, ""
	}
	if address = im.sameAsset(stem, ext, name, hash); address != "" {
		im.recordAsset(at, address, hash, "")
		im.state(at, assetKind, Unchanged, address, "")
		return address, ""
	}
	if name == "" && nameID.MatchString(strings.TrimSuffix(path.Base(at), ext)) && nameID.ReplaceAllString(strings.TrimSuffix(path.Base(at), ext), "") == stem {
		name = path.Base(at) // it was an asset before
	}
	if name == "" || im.assetHashes["assets/"+name] != "" {
		name = stem + "-" + im.newID(tree.Stamp(time.Now())) + ext
	}
	address = "assets/" + name
	im.writeAsset(at, address, data, hash, Added)
	return address, ""
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sameAsset returns the address of an asset in the vault with this hash and name, "" if there is none. With an empty
// name, stem and ext must match.
func (im *importer) sameAsset(stem, ext, name, hash string) string {
	for _, address := range im.assetsByHash[hash] {
		base := path.Base(address)
		if name != "" && strings.TrimPrefix(address, "assets/") == name ||
			name == "" && path.Ext(base) == ext && nameID.ReplaceAllString(strings.TrimSuffix(base, ext), "") == stem {
			return address
		}
	}
	return ""
}

// addVaultAsset records an asset of the vault and its hash.
func (im *importer) addVaultAsset(address, hash string) {
	im.assetHashes[address] = hash
	im.assetsByHash[hash] = append(im.assetsByHash[hash], address)
}

// loadVaultAssets records all assets of the vault.
func (im *importer) loadVaultAssets(tx *workspace.Tx) {
	tx.Rows(func(row workspace.Row) bool {
		im.addVaultAsset(strings.TrimPrefix(row.Text(0), "/data/"), row.Text(1))
		return true
	}, "SELECT path, hash FROM file WHERE path > '/data/assets/' AND path < '/data/assets0' AND dir = 0 AND size > 0 ORDER BY path")
}

// reportUnlinked reports the attachments that no page uses.
func (im *importer) reportUnlinked() {
	for at := range im.s.files {
		if isPage(at) || im.claimed[at] || im.isReferenced(at) {
			continue
		}
		im.report.problem(at, 0, codeNotLinked, path.Base(at), "no page links to this file: left out")
	}
}

// isReferenced reports whether a page uses an attachment.
func (im *importer) isReferenced(at string) bool { _, ok := im.assets[at]; return ok }

// reimportAsset updates the asset of a file that was imported before, and records its state. ok is false if the file
// needs a new address.
func (im *importer) reimportAsset(at string, data []byte, hash string) (address string, ok bool) {
	row := im.memory.rows[at]
	if row == nil || row.Kind != assetKind {
		return "", false
	}
	current, exists := im.assetHashes[row.Target]
	owned := row.Content != "" && !im.memory.shared[row.Target]
	switch {
	case !exists && !im.o.Theirs:
		im.state(at, assetKind, Removed, row.Target, "")
		return row.Target, true
	case !exists:
		im.writeAsset(at, row.Target, data, hash, Restored)
		return row.Target, true
	case row.Source == hash || current == hash:
		im.state(at, assetKind, Unchanged, row.Target, "")
		if row.Source != hash {
			im.batch.rows = append(im.batch.rows, workspace.Imported{Path: at, Kind: assetKind, Target: row.Target, Source: hash, Content: row.Content})
		}
		return row.Target, true
	case owned && current == row.Content:
		im.writeAsset(at, row.Target, data, hash, Updated)
		return row.Target, true
	case current != row.Source && !im.o.Theirs:
		im.state(at, assetKind, Conflict, row.Target, "")
		im.report.problem(at, 0, codeConflict, path.Base(at), "the asset "+row.Target+" was changed here as well: it stays as it is here")
		return row.Target, true
	}
	return "", false
}

// writeAsset adds a file to the batch.
func (im *importer) writeAsset(at, address string, data []byte, hash string, state State) {
	im.batch.assets = append(im.batch.assets, asset{at, address, data, im.s.files[at].changed})
	im.batch.bytes += len(data)
	im.addVaultAsset(address, hash)
	im.recordAsset(at, address, hash, hash)
	im.state(at, assetKind, state, address, "")
}

// recordAsset records which asset a file became. ownHash is the hash of the asset, "" if the vault had it before the
// import.
func (im *importer) recordAsset(at, address, hash, ownHash string) {
	im.batch.rows = append(im.batch.rows, workspace.Imported{Path: at, Kind: assetKind, Target: address, Source: hash, Content: ownHash})
	if earlier := im.memory.rows[at]; earlier != nil { // finish reads these rows
		earlier.Source = hash
		return
	}
	im.fileHashes[at] = hash
	im.memory.rows[at] = &workspace.Imported{Path: at, Kind: assetKind, Target: address, Source: hash, Content: ownHash}
}

// checkAsset records the state of an asset that no page read in this import uses. It adds the path to forget if both
// the file and the asset are gone.
func (im *importer) checkAsset(at string, row *workspace.Imported, forget *[]string) {
	_, exists := im.assetHashes[row.Target]
	switch {
	case slices.ContainsFunc(im.report.States, func(f FileState) bool { return f.Kind == assetKind && f.Path == at }):
	case !exists && !im.s.has(at):
		*forget = append(*forget, at)
	case !exists:
		im.state(at, assetKind, Removed, row.Target, "")
	case !im.s.has(at):
		im.state(at, assetKind, Gone, row.Target, "")
	default:
		im.state(at, assetKind, Unchanged, row.Target, "")
	}
}

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

// quotedAsset matches the address of an asset between quotes or brackets.
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
