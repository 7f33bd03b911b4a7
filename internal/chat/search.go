package chat

import (
	"context"
	"strings"
	"unicode/utf8"

	"collie/internal/store"
)

// Found is a message that matches a search.
type Found struct {
	Session string `json:"sessionId"`
	Title   string `json:"title"`
	Message string `json:"messageId"`
	Role    Role   `json:"role"`
	Excerpt string `json:"excerpt"` // text around the first match, on one line
	At      int64  `json:"at"`      // Unix milliseconds
}

// Search finds messages that contain query, ignoring case, newest first. limit 0 means 50.
func (s *Service) Search(ctx context.Context, query string, limit int) (found []Found, err error) {
	if limit <= 0 || limit > 200 {
		limit = 50
	}
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		found, err = search(tx, query, limit)
		return err
	})
	return found, err
}

func search(tx *store.Tx, query string, limit int) ([]Found, error) {
	query = strings.TrimSpace(query)
	if query == "" || !utf8.ValidString(query) {
		return nil, invalid("search", "query", "there is nothing to search for", "give a word")
	}
	found := []Found{}
	const columns = `SELECT m.session, s.title, m.id, m.role, t.text, m.updated FROM `
	const joins = ` JOIN message AS m ON m.n = t.n JOIN session AS s ON s.id = m.session `
	statement := columns + `message_fts AS f JOIN message_text AS t ON t.n = f.rowid` + joins +
		`WHERE f.text MATCH ? ORDER BY f.rowid DESC LIMIT ?`
	word := `"` + strings.ReplaceAll(query, `"`, `""`) + `"`
	if utf8.RuneCountInString(query) < 3 { // the index knows three characters and more
		statement = columns + `message_text AS t` + joins + `WHERE t.text LIKE ? ESCAPE '\' ORDER BY t.n DESC LIMIT ?`
		word = "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(query) + "%"
		if strings.ToLower(query) == strings.ToUpper(query) { // no letter with a case, as in Chinese: bytes are compared
			statement = columns + `message_text AS t` + joins + `WHERE instr(t.text, ?) ORDER BY t.n DESC LIMIT ?`
			word = query
		}
	}
	tx.Query(func(r *store.Row) bool {
		found = append(found, Found{
			Session: r.ColumnText(0), Title: r.ColumnText(1), Message: r.ColumnText(2), Role: Role(r.ColumnText(3)),
			Excerpt: excerpt(r.ColumnText(4), query), At: r.ColumnInt64(5),
		})
		return true
	}, statement, word, limit)
	return found, tx.Err()
}

// excerpt is the text around the first place of query.
func excerpt(text, query string) string {
	const around = 80 // characters on each side
	at := strings.Index(strings.ToLower(text), strings.ToLower(query))
	if at < 0 || at > len(text) { // lower case may be longer
		at = 0
	}
	runes := []rune(cut(text[at:], 8*around))
	before := []rune(text[max(0, at-4*around):at])
	before = before[max(0, len(before)-around):]
	return strings.Join(strings.Fields(string(before)+string(runes[:min(len(runes), around)])), " ")
}
