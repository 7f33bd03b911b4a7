package folder

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// The kinds of records of databases and flashcards, as their families store them.
const (
	cardKind    = "card"
	deckKind    = "deck"
	blockOfCard = `json_extract(CAST(record.body AS TEXT), '$.block')`
)

// keptRecord is a record in cards.json.
type keptRecord struct {
	ID    string          `json:"id"`
	Owner string          `json:"deck,omitempty"`
	At    int64           `json:"at"`
	Body  json.RawMessage `json:"body"`
}

// keptCards is cards.json: the flashcards of a notebook and their decks.
type keptCards struct {
	Decks []keptRecord `json:"decks"`
	Cards []keptRecord `json:"cards"`
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// confinedAsset reports whether an address names a file below assets/ with a name that is valid on every system.
func confinedAsset(address string) bool {
	return strings.HasPrefix(address, assetsDir+"/") && fs.ValidPath(address) && path.Clean(address) == address &&
		!strings.ContainsAny(address, `:\`+"\x00")
}

// addRelated adds the databases to which databases have relations.
func addRelated(tx *workspace.Tx, ids map[string]bool) (found map[string][]byte, missing []string) {
	found = map[string][]byte{}
	for queue := sortedKeys(ids); len(queue) > 0; {
		id := queue[0]
		queue = queue[1:]
		if found[id] != nil || !tree.ValidID(id) {
			continue
		}
		f := tx.Stat(siyuanapi.DatabasePath(id))
		if f == nil || f.Dir {
			if ids[id] {
				missing = append(missing, id)
			}
			continue
		}
		found[id] = tx.ReadFile(siyuanapi.DatabasePath(id))
		var others struct {
			KeyValues []struct {
				Key struct {
					Relation struct {
						AvID string `json:"avID"`
					} `json:"relation"`
				} `json:"key"`
			} `json:"keyValues"`
		}
		if json.Unmarshal(found[id], &others) != nil {
			continue
		}
		for _, column := range others.KeyValues {
			queue = append(queue, column.Key.Relation.AvID)
		}
	}
	return found, missing
}

// writeDatabases writes the databases of the current notebook in the vault's format.
func (e *exporter) writeDatabases() error {
	found, missing := addRelated(e.tx, e.named.databases)
	for _, id := range missing {
		e.report.problem(e.named.folder, 0, codeDatabase, id, "a document shows this database, and the vault does not have it")
	}
	for _, id := range sortedKeys(found) {
		if !json.Valid(found[id]) {
			e.report.problem(e.named.folder, 0, codeDatabase, id, "its file is not JSON: left out")
			continue
		}
		e.report.Files++
		if err := e.to.write(e.named.folder+"/"+databasesDir+"/"+id+".json", found[id]); err != nil {
			return err
		}
	}
	return nil
}

// writeCards writes the flashcards of blocks in the current notebook.
func (e *exporter) writeCards() error {
	cards := keptCards{Decks: []keptRecord{}, Cards: []keptRecord{}}
	decks := map[string]bool{}
	e.tx.Rows(func(row workspace.Row) bool {
		if e.named.blocks[row.Text(4)] {
			cards.Cards = append(cards.Cards, keptRecord{row.Text(0), row.Text(1), row.Int(2), json.RawMessage(row.Text(3))})
			decks[row.Text(1)] = true
		}
		return true
	}, `SELECT id, owner, at, CAST(body AS TEXT), `+blockOfCard+` FROM record WHERE kind = ? ORDER BY id`, cardKind)
	if len(cards.Cards) == 0 {
		return nil
	}
	for _, id := range sortedKeys(decks) {
		if r := e.tx.Record(deckKind, id); r != nil {
			cards.Decks = append(cards.Decks, keptRecord{r.ID, r.Owner, r.At, json.RawMessage(r.Body)})
		}
	}
	data, err := json.MarshalIndent(cards, "", "  ")
	if err != nil {
		e.report.problem(e.named.folder, 0, codeCard, cardsFile, "a flashcard cannot be read: all are left out")
		return nil //nolint:nilerr // the report says it
	}
	e.report.Files++
	return e.to.write(e.named.folder+"/"+cardsFile, append(data, '\n'))
}
