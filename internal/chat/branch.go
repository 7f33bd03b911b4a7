package chat

import (
	"context"
	"slices"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file changes the tree of messages as a person wants: select, delete and prune branches, and fork a session.

// updateTree runs fn on the tree of the session that contains message, increments the revision and publishes the
// change. fn gets the message, which is not deleted and may be the root.
func (s *Service) updateTree(ctx context.Context, op, message string, fn func(tx *store.Tx, t *tree, m *node) error) (session string, err error) {
	var revision int64
	err = s.store.Write(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			session = r.ColumnText(0)
			return false
		}, "SELECT session FROM message WHERE id = ? AND deleted = 0", message)
		if session == "" {
			return tx.Fail(notFoundError(op, "message", message))
		}
		t := readTree(tx, session)
		if tx.Err() != nil {
			return tx.Err()
		}
		if err := fn(tx, t, t.byID[message]); err != nil {
			return err
		}
		revision = bumpRevision(tx, session)
		return nil
	})
	if err == nil {
		s.publishChanged(session, revision)
	}
	return session, err
}

// Select makes the active path continue below parent with the child at index, counted from 0. Selections further below
// are kept. A running turn is not affected.
func (s *Service) Select(ctx context.Context, parent string, index int) (View, error) {
	session, err := s.updateTree(ctx, "select", parent, func(tx *store.Tx, _ *tree, m *node) error {
		if index < 0 || index >= len(m.children) {
			return invalidError("select", "index", "there is no answer or branch of this number", "count from 0, and get the session again")
		}
		tx.Exec("UPDATE message SET selected = ? WHERE n = ?", m.children[index].row, m.row)
		return nil
	})
	if err != nil {
		return View{}, err
	}
	return s.Get(ctx, session)
}

// maxDeleteTries is how often DeleteMessage cancels the turns that write below a message, since another may begin meanwhile.
const maxDeleteTries = 3

// DeleteMessage deletes a message and everything below it; with keep, its children move to its parent instead. A turn
// that writes one of the messages is cancelled first.
func (s *Service) DeleteMessage(ctx context.Context, message string, keep bool) error {
	for try := range maxDeleteTries {
		var writing []string
		_, err := s.updateTree(ctx, "delete", message, func(tx *store.Tx, t *tree, m *node) error {
			gone := []*node{m}
			if !keep {
				gone = m.subtree()
			}
			if m.role == RoleRoot {
				return invalidError("delete", "messageId", "the root of a session cannot be deleted", "delete the session")
			}
			if writing = activeTurns(gone); len(writing) > 0 {
				return errWriting
			}
			if keep {
				detach(tx, m)
				return nil
			}
			reselect(tx, m)
			for _, g := range slices.Backward(gone) {
				deleteMessage(tx, g)
			}
			return nil
		})
		if try > 0 && err != nil && tool.KindOf(err) == tool.NotFound {
			return nil // cancelling a turn that had not begun has already removed its messages
		}
		if len(writing) == 0 {
			return err
		}
		if err := s.cancelTurns(ctx, writing, "its answer is deleted"); err != nil {
			return err
		}
	}
	return errWriting
}

var errWriting = conflictError("delete", "", "a turn writes there", "cancel the turn, or wait for it")

// activeTurns returns the turns that are still writing to one of nodes.
func activeTurns(nodes []*node) (turns []string) {
	for _, m := range nodes {
		if m.status == StatusQueued || m.status == StatusStreaming {
			turns = append(turns, m.turn)
		}
	}
	return turns
}

// cancelTurns cancels turns and waits until they have ended. A turn that does not run in this process is an error of kind
// Conflict.
func (s *Service) cancelTurns(ctx context.Context, turns []string, reason string) error {
	for _, id := range turns {
		s.hub.mu.Lock()
		l := s.hub.turns[id]
		s.hub.mu.Unlock()
		if l == nil {
			return conflictError("delete", id, "a turn writes there", "cancel the turn, or wait for it")
		}
		l.cancel(&cancelError{reason})
		select {
		case <-l.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Prune deletes all branches of a session except the active path. While a turn writes to one of them, it fails with
// kind Conflict.
func (s *Service) Prune(ctx context.Context, session string) (View, error) {
	v, err := s.Get(ctx, session)
	if err != nil {
		return View{}, err
	}
	_, err = s.updateTree(ctx, "prune", v.Root, func(tx *store.Tx, t *tree, root *node) error {
		keep := map[*node]bool{root: true}
		for _, m := range t.path() {
			keep[m] = true
		}
		gone := slices.DeleteFunc(root.subtree(), func(m *node) bool { return keep[m] })
		if len(activeTurns(gone)) > 0 {
			return conflictError("prune", session, "a turn writes in another branch", "cancel the turn, or wait for it")
		}
		for m := range keep {
			if next := m.selectedChild(); next != nil {
				tx.Exec("UPDATE message SET selected = ? WHERE n = ?", next.row, m.row)
			}
		}
		for _, m := range slices.Backward(gone) {
			deleteMessage(tx, m)
		}
		return nil
	})
	if err != nil {
		return View{}, err
	}
	return s.Get(ctx, session)
}

// Extent is how much of a session a fork copies.
type Extent string

// The extents.
const (
	ForkPath    Extent = "path"    // from the root to the message
	ForkSubtree Extent = "subtree" // the same, and everything below the message
	ForkAll     Extent = "all"     // the whole tree
)

// Fork creates a session with a copy of the messages around one. Files are shared.
func (s *Service) Fork(ctx context.Context, message string, extent Extent) (Session, error) {
	if !slices.Contains([]Extent{ForkPath, ForkSubtree, ForkAll}, extent) {
		return Session{}, invalidError("fork", "mode", "a fork has path, subtree or all", "use one of these")
	}
	var c Session
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		var session string
		tx.Query(func(r *store.Row) bool {
			session = r.ColumnText(0)
			return false
		}, "SELECT session FROM message WHERE id = ? AND deleted = 0 AND role <> 'root'", message)
		if session == "" {
			return tx.Fail(notFoundError("fork", "message", message))
		}
		from, err := readSession(tx, "fork", session)
		if err != nil {
			return err
		}
		t := readTree(tx, session)
		m := t.find(message)
		if tx.Err() != nil || m == nil {
			return tx.Err()
		}
		var nodes []*node
		for up := m; up.parentNode != nil; up = up.parentNode {
			nodes = append(nodes, up)
		}
		slices.Reverse(nodes)
		switch extent {
		case ForkSubtree:
			nodes = append(nodes, m.subtree()[1:]...)
		case ForkAll:
			nodes = t.root.subtree()[1:]
		case ForkPath:
		}
		at := timeOf(now())
		c = Session{ID: newID(), Title: from.Title, Config: from.Config, Revision: 1, Forked: message, Created: at, Updated: at}
		root := createSession(tx, &c)
		branches := readBranches(tx, nodes)
		rows := insertBranches(tx, c.ID, root, branches)
		if extent != ForkAll && tx.Err() == nil {
			selectPath(tx, rows[m.id])
		} else {
			copySelection(tx, root, t.root, rows)
		}
		tx.Exec("INSERT INTO attachment SELECT ?, sha256, name, mime, size, created FROM attachment WHERE session = ?", c.ID, session)
		return nil
	})
	if err != nil {
		return Session{}, err
	}
	s.publishChanged(c.ID, c.Revision)
	return c, nil
}

// branchMessage is a message with its position in the tree.
type branchMessage struct {
	Message
	Selected string `json:"selectedChildId,omitempty"`
	Summary  string `json:"summary,omitempty"` // summary of the conversation up to here
}

// readBranches reads nodes, which must be ordered parents first.
func readBranches(tx *store.Tx, nodes []*node) []branchMessage {
	messages := readMessages(tx, nodes)
	branches := make([]branchMessage, len(nodes))
	for i, m := range nodes {
		branches[i].Message = messages[i]
		if next := m.selectedChild(); next != nil && m.selected == next.row {
			branches[i].Selected = next.id
		}
		tx.Query(func(r *store.Row) bool {
			branches[i].Summary = r.ColumnText(0)
			return false
		}, "SELECT text FROM summary WHERE upto = ?", m.row)
	}
	return branches
}

// insertBranches inserts branches, ordered parents first, below a root, under new ids. Unfinished messages become
// interrupted. It returns the new rows by the old ids.
func insertBranches(tx *store.Tx, session string, root int64, branches []branchMessage) map[string]int64 {
	rows := map[string]int64{}
	for _, b := range branches {
		m := b.Message
		m.ID, m.Turn = newID(), ""
		if m.Status == StatusQueued || m.Status == StatusStreaming {
			m.Status, m.Finish = StatusInterrupted, "interrupted"
		}
		m.Calls = slices.Clone(m.Calls)
		for i, c := range m.Calls {
			switch c.State {
			case CallProposed, CallAwaiting:
				m.Calls[i].State = CallSkipped
			case CallExecuting:
				m.Calls[i].State = CallUnknown
			case CallDone, CallFailed, CallRefused, CallSkipped, CallUnknown:
			}
		}
		parent, below := rows[b.Parent]
		if !below {
			parent = root
		}
		rows[b.ID] = insert(tx, session, parent, &m)
		if b.Summary != "" {
			tx.Exec("INSERT INTO summary VALUES (?, '', ?, ?)", rows[b.ID], b.Summary, now())
		}
	}
	for _, b := range branches {
		if row, there := rows[b.Selected]; there {
			tx.Exec("UPDATE message SET selected = ? WHERE n = ?", row, rows[b.ID])
		}
	}
	return rows
}

// copySelection selects, at a new root, the copy of the child that is selected at the old one.
func copySelection(tx *store.Tx, root int64, old *node, rows map[string]int64) {
	if next := old.selectedChild(); next != nil && next.row == old.selected {
		tx.Exec("UPDATE message SET selected = ? WHERE n = ?", rows[next.id], root)
	}
}

// filesOf returns the hashes of the files in parts.
func filesOf(parts []llm.Part) (sums []string) {
	for _, p := range parts {
		if p.File != nil {
			sums = append(sums, p.File.SHA256)
		}
		for _, f := range p.Files {
			sums = append(sums, f.SHA256)
		}
	}
	return sums
}
