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

// exportedRecord is a record in cards.json.
type exportedRecord struct {
	ID    string          `json:"id"`
	Owner string          `json:"deck,omitempty"`
	At    int64           `json:"at"`
	Body  json.RawMessage `json:"body"`
}

// exportedCards is the content of cards.json: the flashcards of a notebook and their decks.
type exportedCards struct {
	Decks []exportedRecord `json:"decks"`
	Cards []exportedRecord `json:"cards"`
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// confinedAsset reports whether an address stays below assets/ and has a name that is valid on every system.
func confinedAsset(address string) bool {
	return strings.HasPrefix(address, assetsDir+"/") && fs.ValidPath(address) && path.Clean(address) == address &&
		!strings.ContainsAny(address, `:\`+"\x00")
}

// databasesWithRelated reads the databases with these ids and all that they relate to, directly or not. missing has
// those of ids that the vault does not have.
func databasesWithRelated(tx *workspace.Tx, ids map[string]bool) (databases map[string][]byte, missing []string) {
	databases = map[string][]byte{}
	for queue := sortedKeys(ids); len(queue) > 0; {
		id := queue[0]
		queue = queue[1:]
		if databases[id] != nil || !tree.ValidID(id) {
			continue
		}
		f := tx.Stat(siyuanapi.DatabasePath(id))
		if f == nil || f.Dir {
			if ids[id] {
				missing = append(missing, id)
			}
			continue
		}
		databases[id] = tx.ReadFile(siyuanapi.DatabasePath(id))
		var content struct {
			KeyValues []struct {
				Key struct {
					Relation struct {
						AvID string `json:"avID"`
					} `json:"relation"`
				} `json:"key"`
			} `json:"keyValues"`
		}
		if json.Unmarshal(databases[id], &content) != nil {
			continue
		}
		for _, column := range content.KeyValues {
			queue = append(queue, column.Key.Relation.AvID)
		}
	}
	return databases, missing
}

// writeDatabases writes the databases of the current notebook in the vault's format.
func (e *exporter) writeDatabases() error {
	databases, missing := databasesWithRelated(e.tx, e.refs.databases)
	for _, id := range missing {
		e.report.problem(e.refs.folder, 0, codeDatabase, id, "a document shows this database, and the vault does not have it")
	}
	for _, id := range sortedKeys(databases) {
		if !json.Valid(databases[id]) {
			e.report.problem(e.refs.folder, 0, codeDatabase, id, "its file is not JSON: left out")
			continue
		}
		e.report.Files++
		if err := e.to.write(e.refs.folder+"/"+databasesDir+"/"+id+".json", databases[id]); err != nil {
			return err
		}
	}
	return nil
}

// writeCards writes the flashcards of blocks in the current notebook.
func (e *exporter) writeCards() error {
	cards := exportedCards{Decks: []exportedRecord{}, Cards: []exportedRecord{}}
	decks := map[string]bool{}
	e.tx.Rows(func(row workspace.Row) bool {
		if e.refs.blocks[row.Text(4)] {
			cards.Cards = append(cards.Cards, exportedRecord{row.Text(0), row.Text(1), row.Int(2), json.RawMessage(row.Text(3))})
			decks[row.Text(1)] = true
		}
		return true
	}, `SELECT id, owner, at, CAST(body AS TEXT), `+blockOfCard+` FROM record WHERE kind = ? ORDER BY id`, cardKind)
	if len(cards.Cards) == 0 {
		return nil
	}
	for _, id := range sortedKeys(decks) {
		if r := e.tx.Record(deckKind, id); r != nil {
			cards.Decks = append(cards.Decks, exportedRecord{r.ID, r.Owner, r.At, json.RawMessage(r.Body)})
		}
	}
	data, err := json.MarshalIndent(cards, "", "  ")
	if err != nil {
		e.report.problem(e.refs.folder, 0, codeCard, cardsFile, "a flashcard cannot be read: all are left out")
		return nil //nolint:nilerr // the report says it
	}
	e.report.Files++
	return e.to.write(e.refs.folder+"/"+cardsFile, append(data, '\n'))
}
