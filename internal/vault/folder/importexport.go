package folder

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file imports what only folders written by Export have: pages in SiYuan's Markdown, databases and flashcards.

// ownBlocks returns the blocks of a page that Export wrote.
func (im *importer) ownBlocks(pg *page, list []line) []*tree.Block {
	text := make([]string, len(list))
	for i, l := range list {
		text[i] = l.text
	}
	blocks := markup.Parse(im.rename(pg, strings.Trim(strings.Join(text, "\n"), "\n")))
	for _, b := range blocks {
		b.Walk(func(b *tree.Block) { im.restoreAddresses(pg, b) })
	}
	return blocks
}

// restoreAddresses reverses Export's change of asset addresses in a block.
func (im *importer) restoreAddresses(pg *page, b *tree.Block) {
	up := upTo(pg.file)
	restore := func(text string) string { return im.replaceAddresses(pg, withoutUp(text, up)) }
	if hasAddresses(b) {
		changeAddresses(b, restore)
	}
	for name, value := range b.Attrs {
		if name != "id" && name != "updated" {
			b.Attrs[name] = restore(value)
		}
	}
}

// ownAttrs reverses Export's change of asset addresses in the attributes of a document.
func (im *importer) ownAttrs(pg *page, attrs map[string]string) {
	up := upTo(pg.file)
	for name, value := range attrs {
		if !reservedAttr(name) {
			attrs[name] = im.replaceAddresses(pg, withoutUp(value, up))
		}
	}
}

// replaceAddresses replaces the addresses of assets that got a new name because theirs was taken.
func (im *importer) replaceAddresses(pg *page, text string) string {
	if len(pg.plan.moved) == 0 || !strings.Contains(text, assetsDir+"/") {
		return text
	}
	for _, from := range slices.Sorted(maps.Keys(pg.plan.moved)) {
		text = strings.ReplaceAll(text, from, pg.plan.moved[from])
	}
	return text
}

// importAssets imports the assets of an exported notebook, under their own names where these are free.
func (im *importer) importAssets(ctx context.Context, pl *notebookPlan) error {
	pl.moved = map[string]string{}
	dir := pl.assets
	for _, at := range slices.Sorted(maps.Keys(im.s.files)) {
		name, inside := strings.CutPrefix(at, dir)
		if !inside {
			continue
		}
		address, why := im.importAsset(at, name)
		switch {
		case why != "":
			im.report.problem(at, 0, codeOf(why), name, why+": left out")
		case address != assetsDir+"/"+name:
			pl.moved[assetsDir+"/"+name] = address
			im.report.problem(at, 0, codeAssetRenamed, name, "the vault has another file of this name: this one is "+address)
		}
		if im.batch.bytes >= batchBytes {
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
	return im.flush(ctx)
}

// importDatabases imports the databases of an exported notebook.
func (im *importer) importDatabases(tx *workspace.Tx, pl *notebookPlan) {
	dir := pl.databases
	for _, at := range slices.Sorted(maps.Keys(im.s.files)) {
		name, inside := strings.CutPrefix(at, dir)
		if !inside {
			continue
		}
		data, err := im.s.read(at, maxAsset)
		if err != nil || !tree.ValidID(strings.TrimSuffix(name, ".json")) || path.Ext(name) != ".json" || !json.Valid(data) {
			im.report.problem(at, 0, codeDatabase, name, "it is not a database that an export wrote: left out")
			continue
		}
		data = []byte(im.rename(&page{}, string(data)))
		to := siyuanapi.DatabasePath(strings.TrimSuffix(name, ".json"))
		if tx.Stat(to) != nil {
			if hashOf(tx.ReadFile(to)) != hashOf(data) {
				im.report.problem(at, 0, codeDatabaseTaken, name, "the vault has this database with another content: left out")
			}
			continue
		}
		tx.WriteFile(to, data, time.Time{})
		im.report.Files++
	}
}

// importCards imports the flashcards of an exported notebook.
func (im *importer) importCards(tx *workspace.Tx, pl *notebookPlan) {
	at := pl.cards
	if at == "" || !im.s.has(at) {
		return
	}
	var cards exportedCards
	data, err := im.s.read(at, maxAsset)
	if err == nil {
		err = json.Unmarshal(data, &cards)
	}
	if err != nil {
		im.report.problem(at, 0, codeCard, cardsFile, "it cannot be read: left out: "+err.Error())
		return
	}
	put := func(kind string, list []exportedRecord) {
		for _, k := range list {
			if tx.Record(kind, k.ID) == nil && tree.ValidID(k.ID) {
				var body bytes.Buffer
				_ = json.Compact(&body, []byte(im.rename(&page{}, string(k.Body)))) // valid: it was parsed before
				tx.PutRecord(workspace.Record{Kind: kind, ID: k.ID, Owner: k.Owner, At: k.At, Body: body.Bytes()})
			}
		}
	}
	put(deckKind, cards.Decks)
	put(cardKind, cards.Cards)
}
