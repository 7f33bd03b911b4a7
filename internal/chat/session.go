package chat

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/store"
	"collie/internal/tool"
)

// This file creates, reads, lists, changes and deletes sessions.

// NewSession describes a session to create. The zero value is valid.
type NewSession struct {
	Title  string `json:"title"`
	Config Config `json:"config"`
}

const maxTitle = 300 // bytes

// Create adds a session.
func (s *Service) Create(ctx context.Context, n NewSession) (Session, error) {
	if err := checkTitle("create session", n.Title); err != nil {
		return Session{}, err
	}
	at := now()
	c := Session{ID: newID(), Title: n.Title, Config: n.Config, Revision: 1, Created: timeOf(at), Updated: timeOf(at)}
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		createSession(tx, &c)
		return nil
	})
	if err != nil {
		return Session{}, err
	}
	s.publishChanged(c.ID, c.Revision)
	return c, nil
}

// createSession writes a session and its root, and returns the root's row.
func createSession(tx *store.Tx, c *Session) int64 {
	tx.Exec(`INSERT INTO session (id, title, named, config, pinned, archived, forked, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.Title, c.Title != "", string(encode(c.Config)), c.Pinned, c.Archived, c.Forked, c.Created.UnixMilli(), c.Updated.UnixMilli())
	root, _ := tx.Number(`INSERT INTO message (id, session, ordinal, role, status, created, updated) VALUES (?, ?, 0, 'root', 'complete', ?, ?) RETURNING n`,
		newID(), c.ID, c.Created.UnixMilli(), c.Created.UnixMilli())
	return root
}

func checkTitle(op, title string) error {
	if len(title) > maxTitle || !utf8.ValidString(title) || strings.ContainsAny(title, "\n\r\x00") {
		return invalidError(op, "title", fmt.Sprintf("a title is one line of at most %d bytes", maxTitle), "shorten it")
	}
	return nil
}

const sessionColumns = "id, title, config, pinned, archived, revision, forked, created, updated"

func sessionOf(tx *store.Tx, r *store.Row) Session {
	c := Session{
		ID: r.ColumnText(0), Title: r.ColumnText(1), Pinned: r.ColumnInt64(3) != 0, Archived: r.ColumnInt64(4) != 0,
		Revision: r.ColumnInt64(5), Forked: r.ColumnText(6), Created: timeOf(r.ColumnInt64(7)), Updated: timeOf(r.ColumnInt64(8)),
	}
	failOn(tx, json.Unmarshal([]byte(r.ColumnText(2)), &c.Config))
	return c
}

// readSession reads a session. It returns an error of kind NotFound if there is no such session.
func readSession(tx *store.Tx, op, id string) (c Session, err error) {
	tx.Query(func(r *store.Row) bool {
		c = sessionOf(tx, r)
		return false
	}, "SELECT "+sessionColumns+" FROM session WHERE id = ?", id)
	if tx.Err() == nil && c.ID == "" {
		return c, tx.Fail(notFoundError(op, "session", id))
	}
	return c, tx.Err()
}

// Get returns a session with its active path. If there is no such session, the error is of kind NotFound.
func (s *Service) Get(ctx context.Context, id string) (View, error) {
	var v View
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		if v.Session, err = readSession(tx, "get", id); err != nil {
			return err
		}
		t := readTree(tx, id)
		if tx.Err() != nil || t.root == nil {
			return tx.Err()
		}
		v.Root = t.root.id
		v.Path = readMessages(tx, t.path())
		tx.Query(func(r *store.Row) bool {
			v.Turns = append(v.Turns, TurnRef{r.ColumnText(0), r.ColumnText(1), TurnState(r.ColumnText(2))})
			return true
		}, "SELECT id, answer, state FROM turn WHERE session = ? AND state IN ('queued', 'running', 'awaiting_approval') ORDER BY n", id)
		return nil
	})
	if err != nil {
		return View{}, err
	}
	s.overlayRunning(&v)
	return v, nil
}

// overlayRunning replaces saved answers by the newer state of turns that run in this process.
func (s *Service) overlayRunning(v *View) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for i := range v.Path {
		m := &v.Path[i]
		if m.Status != StatusStreaming {
			continue
		}
		var now Snapshot
		if l := s.hub.turns[m.Turn]; l != nil {
			now = l.snapshot()
		} else if ended := s.hub.unwritten[m.Turn]; ended != nil {
			now, m.Status, m.Error = *ended, StatusError, ended.Error
		} else {
			continue
		}
		m.Parts, m.Calls, m.Usage, m.Cost, m.Provider, m.Model = now.Parts, now.Calls, now.Usage, now.Cost, now.Provider, now.Model
		m.OwnTools = hasOwnTools(m.Provider)
	}
	v.Turns = slices.DeleteFunc(v.Turns, func(t TurnRef) bool { return s.hub.unwritten[t.ID] != nil })
}

// List selects sessions.
type List struct {
	Cursor   string  // NextCursor of the page before; empty for the first page
	Query    string  // only sessions with this text in title or messages
	Archived bool    // archived sessions instead of the others
	Limit    int     // at most 200; 0 or more than that means 50
	Profile  *string // only sessions with this profile; nil means all
}

// Page is a part of a list.
type Page struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"nextCursor,omitempty"` // empty where this is the last one
}

// maxListMatches is how many of the newest messages with the text of a query [Service.List] takes sessions from.
const maxListMatches = 1000

// List returns sessions, most recently changed first.
func (s *Service) List(ctx context.Context, l List) (Page, error) {
	limit := l.Limit
	if limit <= 0 || limit > 200 {
		limit = 50
	}
	before, id, err := parseCursor(l.Cursor)
	if err != nil {
		return Page{}, err
	}
	page := Page{Sessions: []Session{}}
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		where, args := "", []any{l.Archived, before, before, id}
		if l.Query != "" {
			found, err := search(tx, l.Query, maxListMatches, l.Profile)
			if err != nil {
				return err
			}
			var in []string
			for _, f := range found {
				in = append(in, f.Session)
			}
			where = ` AND (instr(lower(title), lower(?)) > 0 OR id IN (SELECT value FROM json_each(?)))`
			args = append(args, l.Query, string(encode(in)))
		}
		if l.Profile != nil {
			where += " AND " + hasProfile
			args = append(args, *l.Profile)
		}
		tx.Query(func(r *store.Row) bool {
			page.Sessions = append(page.Sessions, sessionOf(tx, r))
			return len(page.Sessions) <= limit
		}, "SELECT "+sessionColumns+` FROM session WHERE archived = ? AND (updated < ? OR updated = ? AND id < ?)`+where+`
			ORDER BY updated DESC, id DESC`, args...)
		return nil
	})
	if err != nil {
		return Page{}, err
	}
	if len(page.Sessions) > limit {
		page.Sessions = page.Sessions[:limit]
		last := page.Sessions[limit-1]
		page.Next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", last.Updated.UnixMilli(), last.ID))
	}
	return page, nil
}

// parseCursor returns the time and id of the last session of the page before; an empty cursor gives a time after all sessions.
func parseCursor(cursor string) (before int64, id string, err error) {
	if cursor == "" {
		return 1 << 62, "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d %s", &before, &id)
	}
	if err != nil {
		return 0, "", invalidError("list", "cursor", "it is not one that a list gave", "begin without one")
	}
	return before, id, nil
}

// Patch changes a session; nil fields are not changed.
type Patch struct {
	Title    *string `json:"title"`
	Pinned   *bool   `json:"pinned"`
	Archived *bool   `json:"archived"`
	Config   *Config `json:"config"` // the whole of it
}

// Patch changes a session. A revision other than 0 must be the current one, else the error is of kind Conflict, as it
// is when a session with an active turn is archived.
func (s *Service) Patch(ctx context.Context, id string, p Patch, revision int64) (Session, error) {
	if p.Title != nil {
		if err := checkTitle("change session", *p.Title); err != nil {
			return Session{}, err
		}
	}
	var c Session
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		was, err := readSession(tx, "change session", id)
		if err != nil {
			return err
		}
		if revision != 0 && was.Revision != revision {
			return staleError(id)
		}
		if p.Archived != nil && *p.Archived && hasActiveTurn(tx, id) {
			return conflictError("archive", id, "a turn of it has not ended", "cancel the turn, or wait for it")
		}
		set := func(column string, value any) {
			tx.Exec("UPDATE session SET "+column+" = ? WHERE id = ?", value, id)
		}
		if p.Title != nil {
			set("title", *p.Title)
			set("named", 1)
		}
		if p.Pinned != nil {
			set("pinned", *p.Pinned)
		}
		if p.Archived != nil {
			set("archived", *p.Archived)
		}
		if p.Config != nil {
			set("config", string(encode(*p.Config)))
		}
		bumpRevision(tx, id)
		c, err = readSession(tx, "change session", id)
		return err
	})
	if err != nil {
		return Session{}, err
	}
	s.publishChanged(id, c.Revision)
	return c, nil
}

func staleError(id string) error {
	return &tool.Error{Op: "change session", Kind: tool.Conflict, Code: "stale_revision", Subject: id, Message: "it has changed since", Hint: "get it again"}
}

// hasActiveTurn reports whether a turn of the session has not ended.
func hasActiveTurn(tx *store.Tx, session string) bool {
	_, there := tx.Number("SELECT 1 FROM turn WHERE session = ? AND state IN ('queued', 'running', 'awaiting_approval')", session)
	return there
}

// Delete deletes a session with everything in it. If a turn has not ended, that is an error of kind Conflict, unless
// force is set, which cancels the turn first.
func (s *Service) Delete(ctx context.Context, id string, force bool) error {
	if force {
		if err := s.cancelAll(ctx, id, "the session is deleted"); err != nil {
			return err
		}
	}
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		if _, err := readSession(tx, "delete", id); err != nil {
			return err
		}
		if !force && hasActiveTurn(tx, id) {
			return conflictError("delete", id, "a turn of it has not ended", "cancel the turn, or force it")
		}
		var sums []string
		tx.Query(func(r *store.Row) bool {
			sums = append(sums, r.ColumnText(0))
			return true
		}, "SELECT sha256 FROM attachment WHERE session = ?", id)
		// Explicitly: a cascading delete would not fire the triggers of the full-text index.
		tx.Exec("DELETE FROM message_text WHERE n IN (SELECT n FROM message WHERE session = ?)", id)
		tx.Exec("DELETE FROM session WHERE id = ?", id)
		s.removeUnused(tx, sums)
		return nil
	})
	if err != nil {
		return err
	}
	s.publishChanged(id, 0)
	return nil
}

// cancelAll cancels the turns of a session that run in this process, and waits for them.
func (s *Service) cancelAll(ctx context.Context, session, reason string) error {
	s.hub.mu.Lock()
	var here []*liveTurn
	for _, l := range s.hub.turns {
		if l.turn.Session == session {
			here = append(here, l)
		}
	}
	s.hub.mu.Unlock()
	for _, l := range here {
		l.cancel(&cancelError{reason})
		select {
		case <-l.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// publishChanged publishes a change of a session; revision is 0 if it was deleted.
func (s *Service) publishChanged(id string, revision int64) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.publishChangedLocked(id, revision)
}

// publishChangedLocked is like publishChanged for a caller that holds the hub's mu.
func (s *Service) publishChangedLocked(id string, revision int64) {
	s.hub.publish(&Event{Kind: eventSession, Session: id, Body: encode(struct {
		ID       string `json:"id"`
		Revision int64  `json:"revision"`
	}{id, revision})})
}

// merge returns c overridden by each of the layers in turn.
func (c Config) merge(layers ...Config) (merged Config, err error) {
	for _, layer := range append([]Config{c}, layers...) {
		if err := json.Unmarshal(encode(layer), &merged); err != nil {
			return Config{}, fmt.Errorf("merge configs: %w", err)
		}
	}
	return merged, nil
}
