package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file begins turns: it checks and stores a message, and starts or queues the turn that answers it.

// maxQueued is how many turns of a session may wait.
const maxQueued = 10

// TurnOptions are common to everything that begins a turn.
type TurnOptions struct {
	// TurnID is chosen by the client and makes the request idempotent: repeating it returns the first answer. Empty
	// means a new id.
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

// Send adds a user message to a session and starts a turn that answers it. When it returns, both are durable. While
// another turn of the session runs, the new one waits, is refused, or is passed to the running model, as BusyPolicy
// says. All errors are found before anything is written.
func (s *Service) Send(ctx context.Context, session string, m Draft, a TurnOptions) (Accepted, error) {
	if len(m.Parts) == 0 {
		return Accepted{}, invalidError("send", "parts", "there is nothing in the message", "send a text")
	}
	return s.accept(ctx, &turnRequest{op: "send", session: session, options: a, draft: &m})
}

// Regenerate answers a user message again, as a sibling of its other answers. If message is an answer, the message it
// answers is meant.
func (s *Service) Regenerate(ctx context.Context, message string, a TurnOptions) (Accepted, error) {
	return s.accept(ctx, &turnRequest{op: "regenerate", message: message, options: a})
}

// Edit adds parts as a new sibling of a message. A user message is answered if run is set; an answer is only marked as
// edited. Without a turn, Accepted holds the id of the new message as Answer and nothing else.
func (s *Service) Edit(ctx context.Context, message, id string, parts []llm.Part, run bool, a TurnOptions) (Accepted, error) {
	if len(parts) == 0 {
		return Accepted{}, invalidError("edit", "parts", "there is nothing in the message", "send a text")
	}
	return s.accept(ctx, &turnRequest{op: "edit", message: message, options: a, draft: &Draft{ID: id, Parts: parts}, noTurn: !run})
}

// Continue resumes an answer that was cancelled, interrupted or failed.
func (s *Service) Continue(ctx context.Context, message string, a TurnOptions) (Accepted, error) {
	return s.accept(ctx, &turnRequest{op: "continue", message: message, options: a, resume: true})
}

// turnRequest is a request that may begin a turn.
type turnRequest struct {
	op      string
	session string
	message string // the existing message it refers to, if any
	draft   *Draft // the new message, if any
	noTurn  bool   // no turn follows
	resume  bool   // an existing answer is continued
	options TurnOptions

	// Set by prepare.
	config Config
	name   string
	engine Engine
}

// accept validates req, writes it, and starts the turn.
func (s *Service) accept(ctx context.Context, req *turnRequest) (Accepted, error) {
	select {
	case <-s.closing:
		return Accepted{}, errClosed
	default:
	}
	if req.options.TurnID == "" {
		req.options.TurnID = newID()
	} else if err := checkID(req.op, "turnId", req.options.TurnID); err != nil {
		return Accepted{}, err
	}
	if req.draft != nil && req.draft.ID == "" {
		req.draft.ID = newID()
	} else if req.draft != nil {
		if err := checkID(req.op, "id", req.draft.ID); err != nil {
			return Accepted{}, err
		}
	}
	if done, err := s.prepare(ctx, req); done != nil || err != nil {
		return *valueOrZero(done), err
	}
	if err := s.interruptOrphans(ctx, req.session); err != nil {
		return Accepted{}, err
	}
	var l *liveTurn
	var answer Accepted
	var revision int64
	started := false
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		l, started = nil, false
		done, err := existingTurn(tx, req)
		if done != nil || err != nil {
			answer = *valueOrZero(done)
			return err
		}
		l, err = s.insertTurn(tx, req)
		if err != nil || tx.Err() != nil {
			return err
		}
		if l == nil {
			answer = Accepted{Answer: req.draft.ID}
		} else {
			started = s.start(tx, l)
			answer = Accepted{l.turn.ID, l.turn.Assistant, l.state}
		}
		revision = bumpRevision(tx, req.session)
		return nil
	})
	if err != nil {
		return Accepted{}, err
	}
	if revision != 0 {
		s.publishChanged(req.session, revision)
	}
	if l != nil {
		s.launch(l, started)
	}
	return answer, nil
}

func valueOrZero(a *Accepted) *Accepted {
	if a == nil {
		return &Accepted{}
	}
	return a
}

// launch starts a turn that has been written.
func (s *Service) launch(l *liveTurn, started bool) {
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

// existingTurn returns the turn that already has the requested id, or nil.
func existingTurn(tx *store.Tx, req *turnRequest) (done *Accepted, err error) {
	var session string
	tx.Query(func(r *store.Row) bool {
		done = &Accepted{r.ColumnText(0), r.ColumnText(1), TurnState(r.ColumnText(2))}
		session = r.ColumnText(3)
		return false
	}, "SELECT id, answer, state, session FROM turn WHERE id = ?", req.options.TurnID)
	if done != nil && req.session != "" && req.session != session {
		return nil, conflictError(req.op, req.options.TurnID, "the id is that of a turn of another session", "send another one")
	}
	return done, tx.Err()
}

// prepare validates req and completes it. done is not nil if the turn exists already.
func (s *Service) prepare(ctx context.Context, req *turnRequest) (done *Accepted, err error) {
	var session Session
	var parts []llm.Part
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		if req.session == "" {
			tx.Query(func(r *store.Row) bool {
				req.session = r.ColumnText(0)
				return false
			}, "SELECT session FROM message WHERE id = ? AND deleted = 0 AND role <> 'root'", req.message)
			if req.session == "" && tx.Err() == nil {
				return notFoundError(req.op, "message", req.message)
			}
		}
		if done, err = existingTurn(tx, req); done != nil || err != nil {
			return err
		}
		if session, err = readSession(tx, req.op, req.session); err != nil {
			return err
		}
		if req.draft != nil {
			parts = req.draft.Parts
			return checkParts(tx, req)
		}
		t := readTree(tx, req.session)
		if m := t.find(req.message); m != nil && m.role != RoleRoot {
			if m.role == RoleAssistant && m.parentNode.role == RoleUser {
				m = m.parentNode
			}
			parts = readMessages(tx, []*node{m})[0].Parts
		}
		return nil
	})
	if err != nil || done != nil || req.noTurn {
		return done, err
	}
	below := s.o.Defaults(cmp.Or(req.options.Overrides.Agent, session.Config.Agent))
	config, err := Defaults().merge(below, session.Config, req.options.Overrides)
	if err != nil {
		return nil, err
	}
	req.config = config
	req.name, req.engine, err = s.o.Engine(ctx, config, parts)
	return nil, err
}

// checkParts validates and normalizes the parts that a person sends.
func checkParts(tx *store.Tx, req *turnRequest) error {
	for i := range req.draft.Parts {
		p, field := &req.draft.Parts[i], fmt.Sprintf("parts/%d", i)
		switch {
		case p.Kind == llm.PartText:
			*p = llm.Part{Kind: llm.PartText, Text: p.Text}
		case p.Kind != llm.PartFile || p.File == nil:
			return invalidError(req.op, field, "a part is a text, or a file that was attached", `send {"type":"text","text":…} or {"type":"file","file":{"sha256":…}}`)
		default:
			f := &llm.File{SHA256: p.File.SHA256}
			tx.Query(func(r *store.Row) bool {
				f.Name, f.MIME, f.Size = r.ColumnText(0), r.ColumnText(1), r.ColumnInt64(2)
				return false
			}, "SELECT name, mime, size FROM attachment WHERE session = ? AND sha256 = ?", req.session, f.SHA256)
			if f.MIME == "" && tx.Err() == nil {
				return invalidError(req.op, field, "no such file is attached to this session", "attach it first")
			}
			*p = llm.Part{Kind: llm.PartFile, File: f}
		}
	}
	return nil
}

// insertTurn writes the messages of req and its turn; without a turn it returns nil.
func (s *Service) insertTurn(tx *store.Tx, req *turnRequest) (*liveTurn, error) {
	if req.draft != nil {
		if _, there := tx.Number("SELECT 1 FROM message WHERE id = ?", req.draft.ID); there {
			return nil, &tool.Error{Op: req.op, Kind: tool.Exists, Subject: req.draft.ID, Message: "there is a message with this id", Hint: "send another one"}
		}
	}
	question, answer, err := s.findQuestion(tx, req)
	if err != nil || tx.Err() != nil || req.noTurn {
		return nil, err
	}
	waiting, _ := tx.Number("SELECT count(*) FROM turn WHERE session = ? AND state IN ('queued', 'running', 'awaiting_approval')", req.session)
	if waiting > 0 && req.config.BusyPolicy == "reject" {
		return nil, conflictError(req.op, req.session, "a turn of it has not ended", "cancel the turn, or wait for it")
	}
	if waiting > maxQueued {
		return nil, &tool.Error{Op: req.op, Kind: tool.Busy, Subject: req.session, Message: fmt.Sprintf("%d turns of it wait already", maxQueued), Hint: "wait for one of them", RetryAfter: time.Second}
	}
	l := s.newLive(req, question.ID)
	if answer == nil {
		at := timeOf(now())
		m := &Message{ID: newID(), Role: RoleAssistant, Status: StatusQueued, Turn: l.turn.ID, Created: at, Updated: at}
		l.turn.Assistant = m.ID
		l.answer = insert(tx, req.session, question.row, m)
	} else {
		was := readMessages(tx, []*node{answer})[0]
		l.answer, l.turn.Assistant, l.turn.Partial, l.usage, l.cost = answer.row, answer.id, was.Parts, was.Usage, was.Cost
		for _, p := range l.turn.Partial {
			l.addSavedPart(p)
		}
		tx.Exec("UPDATE message SET status = 'queued', turn = ? WHERE n = ?", l.turn.ID, answer.row)
		tx.Exec("DELETE FROM message_text WHERE n = ?", answer.row)
	}
	selectPath(tx, l.answer)
	tx.Exec(`INSERT INTO turn (id, session, question, answer, engine, state, owner, steer, config, principal, created) VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?)`,
		l.turn.ID, req.session, question.ID, l.turn.Assistant, req.name, s.store.Owner(), req.steerScope(),
		string(encode(req.config)), req.options.Principal, now())
	return l, nil
}

// Which running turn may take a message as steering; see takeSteering. The values are those of the column steer.
const (
	steerNone          = 0 // none: the message waits for a turn of its own
	steerSamePrincipal = 1 // one that the same principal began, and that does not have a person's rights
	steerAny           = 2 // any: a person sent the message
)

// steerScope says which running turn may take the message of req as steering.
func (req *turnRequest) steerScope() int {
	isOther := func(p llm.Part) bool { return p.Kind != llm.PartText }
	switch {
	case req.config.BusyPolicy != "steer", req.op != "send", slices.ContainsFunc(req.draft.Parts, isOther):
		return steerNone
	case req.options.Person:
		return steerAny
	}
	return steerSamePrincipal
}

// questionRef is the message that a turn answers.
type questionRef struct {
	ID  string
	row int64
}

// findQuestion finds the message to answer, or adds it. answer is the answer to continue, or nil.
func (s *Service) findQuestion(tx *store.Tx, req *turnRequest) (question questionRef, answer *node, err error) {
	t := readTree(tx, req.session)
	if tx.Err() != nil {
		return questionRef{}, nil, tx.Err()
	}
	if req.message == "" {
		parent, err := s.parentOf(t, req)
		if err != nil {
			return questionRef{}, nil, err
		}
		return s.addUserMessage(tx, req, parent), nil, nil
	}
	m := t.find(req.message)
	switch {
	case m == nil || m.role == RoleRoot:
		return questionRef{}, nil, notFoundError(req.op, "message", req.message)
	case req.draft != nil && m.role == RoleUser: // edited
		return s.addUserMessage(tx, req, m.parentNode), nil, nil
	case req.draft != nil && !req.noTurn:
		return questionRef{}, nil, invalidError(req.op, "run", "an answer that was edited is not answered", "leave run out")
	case req.draft != nil:
		at := timeOf(now())
		selectPath(tx, insert(tx, req.session, m.parentNode.row, &Message{
			ID: req.draft.ID, Role: m.role, Status: StatusComplete, Parts: req.draft.Parts, Edited: true, Created: at, Updated: at,
		}))
		return questionRef{}, nil, nil
	case req.resume:
		if !m.stoppedEarly() {
			return questionRef{}, nil, conflictError(req.op, req.message, "it is not an answer that stopped before its end", "regenerate it, or send a message")
		}
		answer, m = m, m.parentNode
	case m.role == RoleAssistant:
		m = m.parentNode
	}
	if m.role != RoleUser {
		return questionRef{}, nil, conflictError(req.op, req.message, "there is no message of the user that it answers", "send a message")
	}
	return questionRef{m.id, m.row}, answer, nil
}

// parentOf returns the message that a new one follows. It must be named, since a guess could create a branch by
// accident.
func (s *Service) parentOf(t *tree, req *turnRequest) (*node, error) {
	if req.draft.Parent == "" {
		if len(t.root.children) > 0 {
			return nil, invalidError(req.op, "parentId", "the session has messages, so it must say which one is answered", "name the last message of the path, or the root")
		}
		return t.root, nil
	}
	parent := t.find(req.draft.Parent)
	switch {
	case parent == nil:
		return nil, invalidError(req.op, "parentId", "there is no such message in this session", "get the session again")
	case parent.role == RoleUser:
		return nil, invalidError(req.op, "parentId", "it is a message of the user, which waits for an answer", "regenerate it, or edit it")
	}
	return parent, nil
}

// addUserMessage adds a user message below parent.
func (s *Service) addUserMessage(tx *store.Tx, req *turnRequest, parent *node) questionRef {
	at := timeOf(now())
	turn := req.options.TurnID
	if req.noTurn {
		turn = ""
	}
	row := insert(tx, req.session, parent.row, &Message{
		ID: req.draft.ID, Role: RoleUser, Status: StatusComplete, Parts: req.draft.Parts, Edited: req.message != "", Turn: turn, Created: at, Updated: at,
	})
	selectPath(tx, row)
	if title := titleOf(req.draft.Parts); title != "" {
		tx.Exec("UPDATE session SET title = ? WHERE id = ? AND title = '' AND named = 0", title, req.session)
	}
	return questionRef{req.draft.ID, row}
}
