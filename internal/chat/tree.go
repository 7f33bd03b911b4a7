package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"collie/internal/llm"
	"collie/internal/store"
)

// This file holds the tree of messages of a session in memory, and changes it: which branch is selected, what is
// inserted or deleted.

// node is a message without its content.
type node struct {
	row, parent, ordinal, selected int64
	id                             string
	role                           Role
	status                         Status
	deleted                        bool
	turn                           string
	finish                         llm.Finish
	parentNode                     *node
	children                       []*node // not deleted, in order
}

// tree is the tree of messages of a session.
type tree struct {
	root *node
	byN  map[int64]*node
	byID map[string]*node
}

// readTree reads the tree of a session; its root is nil if there is no such session.
func readTree(tx *store.Tx, session string) *tree {
	t := &tree{byN: map[int64]*node{}, byID: map[string]*node{}}
	tx.Query(func(r *store.Row) bool {
		m := &node{
			row: r.ColumnInt64(0), id: r.ColumnText(1), parent: r.ColumnInt64(2), ordinal: r.ColumnInt64(3), selected: r.ColumnInt64(4),
			role: Role(r.ColumnText(5)), status: Status(r.ColumnText(6)), deleted: r.ColumnInt64(7) != 0, turn: r.ColumnText(8),
			finish: llm.Finish(r.ColumnText(9)),
		}
		t.byN[m.row], t.byID[m.id] = m, m
		return true
	}, "SELECT n, id, parent, ordinal, selected, role, status, deleted, turn, finish FROM message WHERE session = ?", session)
	for _, m := range t.byN {
		m.parentNode = t.byN[m.parent]
		switch {
		case m.role == RoleRoot:
			t.root = m
		case !m.deleted && m.parentNode != nil:
			m.parentNode.children = append(m.parentNode.children, m)
		}
	}
	for _, m := range t.byN {
		slices.SortFunc(m.children, func(a, b *node) int { return int(a.ordinal - b.ordinal) })
	}
	return t
}

// stoppedEarly reports whether m is an answer that did not come to its end, which can go on.
func (m *node) stoppedEarly() bool {
	cut := m.status == StatusComplete && m.finish == llm.FinishLength
	return m.role == RoleAssistant && (cut || m.status == StatusCancelled || m.status == StatusInterrupted || m.status == StatusError)
}

// selectedChild returns the child on the active path: the selected one, else the newest.
func (m *node) selectedChild() *node {
	if len(m.children) == 0 {
		return nil
	}
	for _, c := range m.children {
		if c.row == m.selected {
			return c
		}
	}
	return m.children[len(m.children)-1]
}

// path returns the active path, oldest first, without the root.
func (t *tree) path() (path []*node) {
	for m := t.root.selectedChild(); m != nil; m = m.selectedChild() {
		path = append(path, m)
	}
	return path
}

// subtree returns m and everything below it that is not deleted, parents first.
func (m *node) subtree() []*node {
	all := []*node{m}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].children...)
	}
	return all
}

// find returns the message with this id unless it is deleted, or nil.
func (t *tree) find(id string) *node {
	if m := t.byID[id]; m != nil && !m.deleted {
		return m
	}
	return nil
}

// deleteMessage marks a message as deleted and removes its content.
func deleteMessage(tx *store.Tx, m *node) {
	tx.Exec("DELETE FROM part WHERE message = ?", m.row)
	tx.Exec("DELETE FROM call WHERE message = ?", m.row)
	tx.Exec("DELETE FROM summary WHERE upto = ?", m.row)
	tx.Exec("DELETE FROM message_text WHERE n = ?", m.row)
	tx.Exec("UPDATE message SET deleted = ?, selected = NULL, error = '', updated = ? WHERE n = ?", now(), now(), m.row)
}

// reselect moves the selection away from m, which is being deleted, to its nearest sibling: the older one if there is
// one.
func reselect(tx *store.Tx, m *node) {
	if m.parentNode.selected != m.row {
		return
	}
	var chosen any
	if i := slices.Index(m.parentNode.children, m); i > 0 {
		chosen = m.parentNode.children[i-1].row
	} else if len(m.parentNode.children) > 1 {
		chosen = m.parentNode.children[1].row
	}
	tx.Exec("UPDATE message SET selected = ? WHERE n = ?", chosen, m.parentNode.row)
}

// detach deletes a message and appends its children to those of its parent. The active path continues through the same
// child.
func detach(tx *store.Tx, m *node) {
	reselect(tx, m)
	for _, c := range m.children {
		tx.Exec(`UPDATE message SET parent = ?1, ordinal = (SELECT max(ordinal) + 1 FROM message WHERE parent = ?1) WHERE n = ?2`, m.parentNode.row, c.row)
	}
	if next := m.selectedChild(); next != nil && m.parentNode.selected == m.row {
		tx.Exec("UPDATE message SET selected = ? WHERE n = ?", next.row, m.parentNode.row)
	}
	deleteMessage(tx, m)
}

// insert adds a message as the last child of parent and returns its row.
func insert(tx *store.Tx, session string, parent int64, m *Message) int64 {
	var row int64
	tx.Query(func(r *store.Row) bool {
		row = r.ColumnInt64(0)
		return true
	}, `INSERT INTO message (id, session, parent, ordinal, role, status, edited, turn, provider, model, finish, error, usage, cost, created, updated)
		VALUES (?1, ?2, ?3, (SELECT coalesce(max(ordinal) + 1, 0) FROM message WHERE parent = ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
		RETURNING n`,
		m.ID, session, parent, string(m.Role), string(m.Status), m.Edited, m.Turn, m.Provider, m.Model, m.Finish, encodeFailure(m.Error),
		encodeUsage(m.Usage), m.Cost, m.Created.UnixMilli(), m.Updated.UnixMilli())
	for i, p := range m.Parts {
		tx.Exec("INSERT INTO part VALUES (?, ?, ?)", row, i, string(encode(p)))
	}
	for _, c := range m.Calls {
		tx.Exec("INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row, c.ID, m.Turn, c.Step, c.Name, string(c.State), c.Took, m.Updated.UnixMilli())
	}
	if m.Status != StatusQueued && m.Status != StatusStreaming {
		indexText(tx, row, m.Parts)
	}
	return row
}

// selectPath puts a message on the active path, by selecting it and all its ancestors.
func selectPath(tx *store.Tx, row int64) {
	tx.Exec(`WITH RECURSIVE up (n, parent) AS (
			SELECT n, parent FROM message WHERE n = ? UNION ALL SELECT m.n, m.parent FROM message AS m JOIN up ON m.n = up.parent
		)
		UPDATE message SET selected = up.n FROM up WHERE message.n = up.parent AND message.selected IS NOT up.n`, row)
}

// bumpRevision increments the revision of a session and returns it.
func bumpRevision(tx *store.Tx, session string) int64 {
	revision, _ := tx.Number("UPDATE session SET revision = revision + 1, updated = ? WHERE id = ? RETURNING revision", now(), session)
	return revision
}

// indexText makes the text of a message searchable.
func indexText(tx *store.Tx, row int64, parts []llm.Part) {
	var text strings.Builder
	for _, p := range parts {
		switch p.Kind {
		case llm.PartText, partSteer:
			text.WriteString(p.Text)
			text.WriteByte('\n')
		case llm.PartFile:
			if p.File != nil {
				text.WriteString(p.File.Name)
				text.WriteByte('\n')
			}
		case llm.PartReasoning, llm.PartToolCall, llm.PartToolResult, llm.PartNotice:
		}
	}
	if text.Len() == 0 {
		tx.Exec("DELETE FROM message_text WHERE n = ?", row)
		return
	}
	text.WriteByte('\n') // with the one before, two extra characters at the end: see findShortWord
	tx.Exec("INSERT INTO message_text VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text", row, text.String())
}

const messageColumns = "m.n, m.id, m.role, m.status, m.edited, m.turn, m.provider, m.model, m.finish, m.error, m.usage, m.cost, m.created, m.updated"

// readMessages reads the messages of nodes, in their order.
func readMessages(tx *store.Tx, nodes []*node) []Message {
	messages := make([]Message, len(nodes))
	rows := make([]int64, len(nodes))
	at := make(map[int64]int, len(nodes))
	for i, m := range nodes {
		at[m.row], rows[i] = i, m.row
		messages[i].Index, messages[i].Of = slices.Index(m.parentNode.children, m), len(m.parentNode.children)
		messages[i].Parent, messages[i].Parts = m.parentNode.id, []llm.Part{}
	}
	list := string(encode(rows))
	tx.Query(func(r *store.Row) bool {
		m := &messages[at[r.ColumnInt64(0)]]
		m.ID, m.Role, m.Status, m.Edited, m.Turn = r.ColumnText(1), Role(r.ColumnText(2)), Status(r.ColumnText(3)), r.ColumnInt64(4) != 0, r.ColumnText(5)
		m.Provider, m.Model, m.Finish, m.Error = r.ColumnText(6), r.ColumnText(7), r.ColumnText(8), decodeFailure(r.ColumnText(9))
		m.OwnTools = hasOwnTools(m.Provider)
		if usage := r.ColumnText(10); usage != "" {
			failOn(tx, json.Unmarshal([]byte(usage), &m.Usage))
		}
		m.Cost, m.Created, m.Updated = r.ColumnInt64(11), timeOf(r.ColumnInt64(12)), timeOf(r.ColumnInt64(13))
		return true
	}, "SELECT "+messageColumns+" FROM json_each(?) AS j JOIN message AS m ON m.n = j.value", list)
	tx.Query(func(r *store.Row) bool {
		part, err := decodePart(r.ColumnText(1))
		failOn(tx, err)
		m := &messages[at[r.ColumnInt64(0)]]
		m.Parts = append(m.Parts, part)
		return err == nil
	}, "SELECT p.message, p.data FROM json_each(?) AS j JOIN part AS p ON p.message = j.value ORDER BY p.message, p.idx", list)
	tx.Query(func(r *store.Row) bool {
		m := &messages[at[r.ColumnInt64(0)]]
		m.Calls = append(m.Calls, readCall(r, 1))
		return true
	}, "SELECT c.message, c.id, c.name, c.state, c.step, c.took FROM json_each(?) AS j JOIN call AS c ON c.message = j.value ORDER BY c.message, c.step, c.id", list)
	return messages
}
