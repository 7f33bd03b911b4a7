package chat

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/store"
)

// This file searches the texts of all conversations.

// Found is a message that matches a search.
type Found struct {
	Session string `json:"sessionId"`
	Title   string `json:"title"`
	Message string `json:"messageId"`
	Role    Role   `json:"role"`
	Excerpt string `json:"excerpt"` // text around the first match, on one line
	At      int64  `json:"at"`      // Unix milliseconds
}

// Search finds messages that contain query, ignoring case, newest first. limit is at most 200; 0 or more than that means
// 50. If profile is not nil, only sessions with that profile are searched.
func (s *Service) Search(ctx context.Context, query string, limit int, profile *string) (found []Found, err error) {
	if limit <= 0 || limit > 200 {
		limit = 50
	}
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		found, err = search(tx, query, limit, profile)
		return err
	})
	return found, err
}

// search is [Service.Search] in a transaction, with any limit. The index finds words of three characters and more; for a
// shorter one, see fewPlaces.
func search(tx *store.Tx, query string, limit int, profile *string) ([]Found, error) {
	query = strings.TrimSpace(query)
	if query == "" || !utf8.ValidString(query) {
		return nil, invalidError("search", "query", "there is nothing to search for", "give a word")
	}
	found := []Found{}
	const columns = `SELECT m.session, session.title, m.id, m.role, t.text, m.updated FROM `
	const joins = ` JOIN message AS m ON m.n = t.n JOIN session ON session.id = m.session AND (?3 IS NULL OR ` + hasProfile + `3) `
	statement := columns + `message_fts AS f JOIN message_text AS t ON t.n = f.rowid` + joins +
		`WHERE f.text MATCH ?1 ORDER BY f.rowid DESC LIMIT ?2`
	word := `"` + strings.ReplaceAll(query, `"`, `""`) + `"`
	if utf8.RuneCountInString(query) < 3 { // the index holds sequences of three characters
		rows, few := findShortWord(tx, query)
		statement = columns + `message_text AS t` + joins + `WHERE t.text LIKE ?1 ESCAPE '\' ORDER BY t.n DESC LIMIT ?2`
		word = "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(query) + "%"
		switch {
		case few:
			statement = columns + `json_each(?1) AS j JOIN message_text AS t ON t.n = j.value` + joins + `ORDER BY t.n DESC LIMIT ?2`
			if profile == nil {
				rows = rows[:min(len(rows), limit)]
			}
			word = string(encode(rows))
		case strings.ToLower(query) == strings.ToUpper(query): // no upper or lower case, as in Chinese: compare bytes
			statement = columns + `message_text AS t` + joins + `WHERE instr(t.text, ?1) ORDER BY t.n DESC LIMIT ?2`
			word = query
		}
	}
	tx.Query(func(r *store.Row) bool {
		found = append(found, Found{
			Session: r.ColumnText(0), Title: r.ColumnText(1), Message: r.ColumnText(2), Role: Role(r.ColumnText(3)),
			Excerpt: excerpt(r.ColumnText(4), query), At: r.ColumnInt64(5),
		})
		return true
	}, statement, word, limit, orNull(profile))
	return found, tx.Err()
}

// fewPlaces limits how a word of one or two characters is searched: if the index has at most that many occurrences, they
// are used; a more frequent word is found by reading the newest messages.
const fewPlaces = 4_000

// findShortWord returns the rows of messages in which an indexed sequence of three characters begins with word, newest
// first, and whether these are all. Since every text ends with two extra characters, no occurrence is missed.
func findShortWord(tx *store.Tx, word string) (rows []int64, all bool) {
	word = strings.ToLower(word) // like the index
	n := 0
	seen := map[int64]bool{}
	rows = []int64{}
	tx.Query(func(r *store.Row) bool {
		if row := r.ColumnInt64(0); !seen[row] {
			seen[row] = true
			rows = append(rows, row)
		}
		n++
		return n <= fewPlaces
	}, "SELECT doc FROM message_place WHERE term >= ? AND term < ?", word, word+strings.Repeat("\U0010FFFF", 2))
	slices.SortFunc(rows, func(a, b int64) int { return cmp.Compare(b, a) })
	return rows, n <= fewPlaces
}

// excerpt returns the text around the first match of query.
func excerpt(text, query string) string {
	const around = 80                        // characters on each side
	const bytesAround = utf8.UTFMax * around // what so many characters take at most
	at := strings.Index(strings.ToLower(text), strings.ToLower(query))
	if at < 0 || at > len(text) { // lower case may be longer
		at = 0
	}
	runes := []rune(truncate(text[at:], bytesAround))
	before := []rune(text[max(0, at-bytesAround):at])
	before = before[max(0, len(before)-around):]
	return strings.Join(strings.Fields(string(before)+string(runes[:min(len(runes), around)])), " ")
}
