package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// maxQueued is how many turns of a session may wait.
const maxQueued = 10

// Ask is what all that begins a turn has in common.
type Ask struct {
	// TurnID is the client's: the same one again is answered as the first time, and begins nothing. Empty for a new one.
	TurnID    string
	Overrides Config // take precedence over the session's
	Person    bool   // see [Turn]
	Principal string
	Asker     Asker
}

// Draft is a message to be sent.
type Draft struct {
	ID     string // chosen by the client; empty means a new id
	Parent string // the message it follows; for a first message the id of the root, or empty
	Parts  []llm.Part
}

// Send adds a message of the user to a session and has it answered. It is durable, with the turn and the place of the answer,
// when Send returns; while another turn of the session runs it waits, is refused, or reaches that turn's model, as BusyPolicy
// says. All that is wrong is found before anything is written.
func (s *Service) Send(ctx context.Context, session string, m Draft, a Ask) (Accepted, error) {
	if len(m.Parts) == 0 {
		return Accepted{}, invalid("send", "parts", "there is nothing in the message", "send a text")
	}
	return s.accept(ctx, &begin{op: "send", session: session, ask: a, draft: &m})
}

// Regenerate has a message of the user answered once more, beside the answers that it has; an answer stands for the message
// that it answers.
func (s *Service) Regenerate(ctx context.Context, message string, a Ask) (Accepted, error) {
	return s.accept(ctx, &begin{op: "regenerate", message: message, ask: a})
}

// Edit puts parts beside a message. For a message of the user it has that answered where run says so; for an answer it only
// marks the new one as edited. Without a turn only Answer is set, to the id of the new message.
func (s *Service) Edit(ctx context.Context, message, id string, parts []llm.Part, run bool, a Ask) (Accepted, error) {
	if len(parts) == 0 {
		return Accepted{}, invalid("edit", "parts", "there is nothing in the message", "send a text")
	}
	return s.accept(ctx, &begin{op: "edit", message: message, ask: a, draft: &Draft{ID: id, Parts: parts}, noTurn: !run})
}

// Continue has an answer that was cancelled, interrupted or failed go on where it stopped.
func (s *Service) Continue(ctx context.Context, message string, a Ask) (Accepted, error) {
	return s.accept(ctx, &begin{op: "continue", message: message, ask: a, vendorGo: true})
}

// begin is what is to begin a turn.
type begin struct {
	op       string
	session  string
	message  string // that it is about, if any
	draft    *Draft // a new message, if any
	noTurn   bool   // no turn
	vendorGo bool   // the answer is there
	ask      Ask

	// Set by prepare.
	config Config
	name   string
	engine Engine
}

// accept checks b, writes what it begins, and lets that run.
func (s *Service) accept(ctx context.Context, b *begin) (Accepted, error) {
	select {
	case <-s.closing:
		return Accepted{}, errClosed
	default:
	}
	if b.ask.TurnID == "" {
		b.ask.TurnID = newID()
	} else if err := checkID(b.op, "turnId", b.ask.TurnID); err != nil {
		return Accepted{}, err
	}
	if b.draft != nil && b.draft.ID == "" {
		b.draft.ID = newID()
	} else if b.draft != nil {
		if err := checkID(b.op, "id", b.draft.ID); err != nil {
			return Accepted{}, err
		}
	}
	if done, err := s.prepare(ctx, b); done != nil || err != nil {
		return *orZero(done), err
	}
	if err := s.interruptOrphans(ctx, b.session); err != nil {
		return Accepted{}, err
	}
	var l *live
	var answer Accepted
	var revision int64
	started := false
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		l, started = nil, false
		done, err := again(tx, b)
		if done != nil || err != nil {
			answer = *orZero(done)
			return err
		}
		l, err = s.write(tx, b)
		if err != nil || tx.Err() != nil {
			return err
		}
		if l == nil {
			answer = Accepted{Answer: b.draft.ID}
		} else {
			started = s.start(tx, l)
			answer = Accepted{l.turn.ID, l.turn.Assistant, l.state}
		}
		revision = bumpRevision(tx, b.session)
		return nil
	})
	if err != nil {
		return Accepted{}, err
	}
	if revision != 0 {
		s.publishChanged(b.session, revision)
	}
	if l != nil {
		s.begin(l, started)
	}
	return answer, nil
}

func orZero(a *Accepted) *Accepted {
	if a == nil {
		return &Accepted{}
	}
	return a
}

// begin has a turn that stands in the file run.
func (s *Service) begin(l *live, started bool) {
	s.hub.mu.Lock()
	s.hub.turns[l.turn.ID] = l
	s.hub.mu.Unlock()
	s.work.Go(func() { l.run(started) })
	select {
	case <-s.closing: // drain may have run before the turn was added
		l.cancel(errShutdown)
	default:
	}
}

// again returns the turn that has been begun under the id already.
func again(tx *store.Tx, b *begin) (done *Accepted, err error) {
	var session string
	tx.Query(func(r *store.Row) bool {
		done = &Accepted{r.ColumnText(0), r.ColumnText(1), TurnState(r.ColumnText(2))}
		session = r.ColumnText(3)
		return false
	}, "SELECT id, answer, state, session FROM turn WHERE id = ?", b.ask.TurnID)
	if done != nil && b.session != "" && b.session != session {
		return nil, conflict(b.op, b.ask.TurnID, "the id is that of a turn of another session", "send another one")
	}
	return done, tx.Err()
}

// prepare finds what b needs, and what is wrong with it. done is the answer where the turn has been begun already.
func (s *Service) prepare(ctx context.Context, b *begin) (done *Accepted, err error) {
	var session Session
	var parts []llm.Part
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		if b.session == "" {
			tx.Query(func(r *store.Row) bool {
				b.session = r.ColumnText(0)
				return false
			}, "SELECT session FROM message WHERE id = ? AND deleted = 0 AND role <> 'root'", b.message)
			if b.session == "" && tx.Err() == nil {
				return notFound(b.op, "message", b.message)
			}
		}
		if done, err = again(tx, b); done != nil || err != nil {
			return err
		}
		if session, err = readSession(tx, b.op, b.session); err != nil {
			return err
		}
		if b.draft != nil {
			parts = b.draft.Parts
			return checkParts(tx, b)
		}
		t := readTree(tx, b.session)
		if m := t.find(b.message); m != nil && m.role != RoleRoot {
			if m.role == RoleAssistant && m.up.role == RoleUser {
				m = m.up
			}
			parts = readMessages(tx, []*node{m})[0].Parts
		}
		return nil
	})
	if err != nil || done != nil || b.noTurn {
		return done, err
	}
	config, err := Defaults().merge(s.o.Defaults(), session.Config, b.ask.Overrides)
	if err != nil {
		return nil, err
	}
	b.config = config
	b.name, b.engine, err = s.o.Engine(ctx, config, parts)
	return nil, err
}

// checkParts looks at what a person sends.
func checkParts(tx *store.Tx, b *begin) error {
	for i := range b.draft.Parts {
		p, field := &b.draft.Parts[i], fmt.Sprintf("parts/%d", i)
		switch {
		case p.Kind == llm.PartText:
			*p = llm.Part{Kind: llm.PartText, Text: p.Text}
		case p.Kind != llm.PartFile || p.File == nil:
			return invalid(b.op, field, "a part is a text, or a file that was attached", `send {"type":"text","text":…} or {"type":"file","file":{"sha256":…}}`)
		default:
			f := &llm.File{SHA256: p.File.SHA256}
			tx.Query(func(r *store.Row) bool {
				f.Name, f.MIME, f.Size = r.ColumnText(0), r.ColumnText(1), r.ColumnInt64(2)
				return false
			}, "SELECT name, mime, size FROM attachment WHERE session = ? AND sha256 = ?", b.session, f.SHA256)
			if f.MIME == "" && tx.Err() == nil {
				return invalid(b.op, field, "no such file is attached to this session", "attach it first")
			}
			*p = llm.Part{Kind: llm.PartFile, File: f}
		}
	}
	return nil
}

// write adds what b begins to the tree, and its turn, which is nil where there is none.
func (s *Service) write(tx *store.Tx, b *begin) (*live, error) {
	if b.draft != nil {
		if _, there := tx.Number("SELECT 1 FROM message WHERE id = ?", b.draft.ID); there {
			return nil, &tool.Error{Op: b.op, Kind: tool.Exists, Subject: b.draft.ID, Message: "there is a message with this id", Hint: "send another one"}
		}
	}
	question, answer, err := s.place(tx, b)
	if err != nil || tx.Err() != nil || b.noTurn {
		return nil, err
	}
	waiting, _ := tx.Number("SELECT count(*) FROM turn WHERE session = ? AND state IN ('queued', 'running', 'awaiting_approval')", b.session)
	if waiting > 0 && b.config.BusyPolicy == "reject" {
		return nil, conflict(b.op, b.session, "a turn of it has not ended", "cancel the turn, or wait for it")
	}
	if waiting > maxQueued {
		return nil, &tool.Error{Op: b.op, Kind: tool.Busy, Subject: b.session, Message: fmt.Sprintf("%d turns of it wait already", maxQueued), Hint: "wait for one of them", RetryAfter: time.Second}
	}
	l := s.newLive(b, question.ID)
	if answer == nil {
		at := timeOf(now())
		m := &Message{ID: newID(), Role: RoleAssistant, Status: StatusQueued, Turn: l.turn.ID, Created: at, Updated: at}
		l.turn.Assistant = m.ID
		l.answer = insert(tx, b.session, question.row, m)
	} else {
		was := readMessages(tx, []*node{answer})[0]
		l.answer, l.turn.Assistant, l.turn.Partial, l.usage, l.cost = answer.n, answer.id, was.Parts, was.Usage, was.Cost
		for _, p := range l.turn.Partial {
			l.begun(p)
		}
		tx.Exec("UPDATE message SET status = 'queued', turn = ? WHERE n = ?", l.turn.ID, answer.n)
		tx.Exec("DELETE FROM message_text WHERE n = ?", answer.n)
	}
	selectPath(tx, l.answer)
	tx.Exec(`INSERT INTO turn (id, session, question, answer, engine, state, owner, steer, config, principal, created) VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?)`,
		l.turn.ID, b.session, question.ID, l.turn.Assistant, b.name, s.store.Owner(), b.config.BusyPolicy == "steer" && b.op == "send" && onlyText(b.draft.Parts),
		string(encode(b.config)), b.ask.Principal, now())
	return l, nil
}

func onlyText(parts []llm.Part) bool {
	return !slices.ContainsFunc(parts, func(p llm.Part) bool { return p.Kind != llm.PartText })
}

// asked is the message that a turn answers.
type asked struct {
	ID  string
	row int64
}

// place finds the message that is answered, or adds it. answer is what is continued, or nil.
func (s *Service) place(tx *store.Tx, b *begin) (question asked, answer *node, err error) {
	t := readTree(tx, b.session)
	if tx.Err() != nil {
		return asked{}, nil, tx.Err()
	}
	if b.message == "" {
		parent, err := s.parentOf(t, b)
		if err != nil {
			return asked{}, nil, err
		}
		return s.addUserMessage(tx, b, parent), nil, nil
	}
	m := t.find(b.message)
	switch {
	case m == nil || m.role == RoleRoot:
		return asked{}, nil, notFound(b.op, "message", b.message)
	case b.draft != nil && m.role == RoleUser: // edited
		return s.addUserMessage(tx, b, m.up), nil, nil
	case b.draft != nil && !b.noTurn:
		return asked{}, nil, invalid(b.op, "run", "an answer that was edited is not answered", "leave run out")
	case b.draft != nil:
		at := timeOf(now())
		selectPath(tx, insert(tx, b.session, m.up.n, &Message{
			ID: b.draft.ID, Role: m.role, Status: StatusComplete, Parts: b.draft.Parts, Edited: true, Created: at, Updated: at,
		}))
		return asked{}, nil, nil
	case b.vendorGo:
		if m.role != RoleAssistant || m.status != StatusCancelled && m.status != StatusInterrupted && m.status != StatusError {
			return asked{}, nil, conflict(b.op, b.message, "it is not an answer that stopped before its end", "regenerate it, or send a message")
		}
		answer, m = m, m.up
	case m.role == RoleAssistant:
		m = m.up
	}
	if m.role != RoleUser {
		return asked{}, nil, conflict(b.op, b.message, "there is no message of the user that it answers", "send a message")
	}
	return asked{m.id, m.n}, answer, nil
}

// parentOf finds the message that a new one answers. It is named: who guesses makes branches by accident.
func (s *Service) parentOf(t *tree, b *begin) (*node, error) {
	if b.draft.Parent == "" {
		if len(t.root.children) > 0 {
			return nil, invalid(b.op, "parentId", "the session has messages, so it must say which one is answered", "name the last message of the path, or the root")
		}
		return t.root, nil
	}
	parent := t.find(b.draft.Parent)
	switch {
	case parent == nil:
		return nil, invalid(b.op, "parentId", "there is no such message in this session", "get the session again")
	case parent.role == RoleUser:
		return nil, invalid(b.op, "parentId", "it is a message of the user, which waits for an answer", "regenerate it, or edit it")
	}
	return parent, nil
}

// user adds a message of the user below parent.
func (s *Service) addUserMessage(tx *store.Tx, b *begin, parent *node) asked {
	at := timeOf(now())
	turn := b.ask.TurnID
	if b.noTurn {
		turn = ""
	}
	row := insert(tx, b.session, parent.n, &Message{
		ID: b.draft.ID, Role: RoleUser, Status: StatusComplete, Parts: b.draft.Parts, Edited: b.message != "", Turn: turn, Created: at, Updated: at,
	})
	selectPath(tx, row)
	if title := titleOf(b.draft.Parts); title != "" {
		tx.Exec("UPDATE session SET title = ? WHERE id = ? AND title = '' AND named = 0", title, b.session)
	}
	return asked{b.draft.ID, row}
}
