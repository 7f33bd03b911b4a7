package chat

import (
	"context"
	"errors"
	"strings"
	"time"

	"collie/internal/llm"
	"collie/internal/store"
)

// This file runs turns: they wait for the lease of their session, start, take messages that arrive meanwhile, and end.

// newLive returns a queued turn.
func (s *Service) newLive(req *turnRequest, question string) *liveTurn {
	ctx, cancel := context.WithCancelCause(s.ctx) // independent of the request: a closed connection does not end the turn
	return &liveTurn{
		s: s, question: question, name: req.name, engine: req.engine, ctx: ctx, cancel: cancel,
		turn: &Turn{
			ID: req.options.TurnID, Session: req.session, Config: req.config, Person: req.options.Person, Principal: req.options.Principal, Ask: req.options.Asker,
		},
		ended: make(chan struct{}), wake: make(chan struct{}, 1), state: TurnQueued,
		partIndex: map[partKey]int{}, byCall: map[string]*liveCall{},
	}
}

// addSavedPart adds an existing part of an answer that is continued.
func (l *liveTurn) addSavedPart(p llm.Part) {
	part := &livePart{part: p}
	part.text.WriteString(p.Text)
	part.part.Text = ""
	l.parts = append(l.parts, part)
}

// start takes the lease of the session for a queued turn, and reports whether it got it. One turn of a session runs at
// a time, in whichever process, and turns run in the order in which they were sent.
func (s *Service) start(tx *store.Tx, l *liveTurn) bool {
	tx.Exec(`UPDATE turn SET state = 'running', started = ?1 WHERE id = ?2 AND state = 'queued' AND owner = ?3
		AND NOT EXISTS (SELECT 1 FROM turn AS other WHERE other.session = turn.session
			AND (other.state IN ('running', 'awaiting_approval') OR other.state = 'queued' AND other.n < turn.n))`,
		now(), l.turn.ID, s.store.Owner())
	if tx.Err() != nil || tx.Changes() == 0 {
		return false
	}
	tx.Exec("UPDATE message SET status = 'streaming' WHERE n = ?", l.answer)
	l.state = TurnRunning
	return true
}

// awaitLease waits until the turn may run. It returns false if the turn ends before that; the end is then saved and
// published.
func (l *liveTurn) awaitLease() bool {
	tick := time.NewTicker(leaseEvery)
	defer tick.Stop()
	for {
		var state TurnState
		var reason string
		var told, started bool
		if err := l.s.interruptOrphans(l.ctx, l.turn.Session); err != nil && l.ctx.Err() == nil {
			l.s.log.Warn("a turn waits", "turn", l.turn.ID, "error", err)
		}
		err := l.s.store.Write(context.WithoutCancel(l.ctx), func(tx *store.Tx) error {
			tx.Query(func(r *store.Row) bool {
				state, told, reason = TurnState(r.ColumnText(0)), !r.ColumnIsNull(1), r.ColumnText(1)
				return false
			}, "SELECT state, cancel FROM turn WHERE id = ?", l.turn.ID)
			if started = state == TurnQueued && !told && l.ctx.Err() == nil && l.s.start(tx, l); started {
				bumpRevision(tx, l.turn.Session)
			}
			return nil
		})
		switch {
		case err != nil:
			l.s.log.Warn("a turn waits", "turn", l.turn.ID, "error", err)
		case started:
			return true
		case state != TurnQueued: // it was taken as steering by another turn, or its session was deleted
			l.endUnstarted(state)
			return false
		case told:
			l.cancel(&cancelError{reason})
		}
		if l.ctx.Err() != nil && l.withdraw() {
			return false
		}
		select {
		case <-l.wake:
		case <-tick.C:
		case <-l.ctx.Done():
		}
	}
}

// endUnstarted publishes the end of a turn that ended while it was queued.
func (l *liveTurn) endUnstarted(state TurnState) {
	e := turnEnd{State: state}
	switch state {
	case TurnDone:
		e.Finish = finishSteered
	case "": // its session was deleted
		e.State = TurnCancelled
	}
	l.finish(e)
}

// finishSteered is the finish of a turn whose message was passed to another turn as steering.
const finishSteered = "steered"

// withdraw removes a cancelled turn from the queue, with its messages; at shutdown it becomes interrupted instead. It
// reports whether that is done.
func (l *liveTurn) withdraw() bool {
	e := turnEnd{State: TurnCancelled, Finish: "cancelled"}
	if errors.Is(context.Cause(l.ctx), errShutdown) {
		e.State, e.Finish = TurnInterrupted, "shutdown"
	}
	err := l.s.store.Write(context.WithoutCancel(l.ctx), func(tx *store.Tx) error {
		tx.Exec("UPDATE turn SET state = ?, finish = ?, ended = ? WHERE id = ? AND state = 'queued'", string(e.State), e.Finish, now(), l.turn.ID)
		if tx.Err() != nil || tx.Changes() == 0 {
			return tx.Err()
		}
		if e.State == TurnInterrupted || len(l.turn.Partial) > 0 {
			tx.Exec("UPDATE message SET status = ?, updated = ? WHERE n = ?", string(e.State), now(), l.answer)
			indexText(tx, l.answer, l.turn.Partial)
		} else {
			l.s.removeUnsent(tx, l)
		}
		e.Revision = bumpRevision(tx, l.turn.Session)
		return nil
	})
	if err != nil {
		l.s.log.Warn("a turn that was cancelled stays in the queue", "turn", l.turn.ID, "error", err)
		if !errors.Is(context.Cause(l.ctx), errShutdown) {
			return false
		}
		e.Revision = 0 // it is interrupted once this process has ended
	}
	l.finish(e)
	return true
}

// removeUnsent deletes the empty answer of a turn, and its question if that came with the turn. Messages below move up.
func (s *Service) removeUnsent(tx *store.Tx, l *liveTurn) {
	t := readTree(tx, l.turn.Session)
	if m := t.find(l.turn.Assistant); m != nil {
		detach(tx, m)
	}
	t = readTree(tx, l.turn.Session)
	if m := t.find(l.question); m != nil && m.turn == l.turn.ID && !m.hasAnswer() {
		detach(tx, m)
	}
}

// hasAnswer reports whether a user message has an answer.
func (m *node) hasAnswer() bool {
	for _, c := range m.children {
		if c.role == RoleAssistant {
			return true
		}
	}
	return false
}

// takeSteering passes queued messages to the model of the running turn of k: they become parts of its answer. A turn
// runs with the rights of whoever began it, so it accepts messages of its own principal or of a person. A turn that a
// person began, or for which actions are allowed beforehand, accepts only those of a person. A message for another
// engine, such as a command, waits for its own turn.
func (s *Service) takeSteering(ctx context.Context, k *sink) (messages []llm.Message, err error) {
	type said struct{ turn, question, answer string }
	var all []said
	var parts []*livePart
	k.saveMu.Lock()
	defer k.saveMu.Unlock()
	err = s.store.Write(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			all = append(all, said{r.ColumnText(0), r.ColumnText(1), r.ColumnText(2)})
			return true
		}, `SELECT id, question, answer FROM turn WHERE session = ?1 AND state = 'queued' AND cancel IS NULL AND engine = ?2
			AND (steer = ?5 OR steer = ?6 AND NOT ?3 AND principal = ?4) ORDER BY n`,
			k.turn.Session, k.name, k.turn.Person || len(k.turn.Config.Allow) > 0, k.turn.Principal, steerAny, steerSamePrincipal)
		for _, one := range all {
			m := readTree(tx, k.turn.Session).find(one.question)
			if tx.Err() != nil || m == nil {
				return tx.Err()
			}
			part := llm.Part{Kind: partSteer, Text: textOf(readMessages(tx, []*node{m})[0].Parts)}
			if !k.updateUnlessEnded(func() {
				i, p := k.appendPart(part)
				p.dirty, parts = false, append(parts, p)
				tx.Exec("INSERT OR REPLACE INTO part VALUES (?, ?, ?)", k.answer, i, string(encode(part)))
			}) {
				return errGone
			}
			messages = append(messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.PartText, Text: part.Text}}})
			for _, id := range []string{one.answer, one.question} {
				if m := readTree(tx, k.turn.Session).find(id); m != nil {
					detach(tx, m)
				}
			}
			tx.Exec("UPDATE turn SET state = 'done', finish = ?, ended = ? WHERE id = ?", finishSteered, now(), one.turn)
		}
		if len(all) > 0 {
			bumpRevision(tx, k.turn.Session)
		}
		return nil
	})
	k.updateUnlessEnded(func() {
		for i, p := range parts {
			if err != nil { // the part stays, empty
				p.part.Kind, p.dirty = llm.PartNotice, true
				p.text.Reset()
				continue
			}
			k.publishAfterText("steer", struct {
				Turn string `json:"steeredTurnId"`
				Text string `json:"text"`
			}{all[i].turn, p.text.String()})
		}
		for _, one := range all {
			if l := s.hub.turns[one.turn]; l != nil {
				l.signal()
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return messages, nil
}

// textOf returns the text of a message.
func textOf(parts []llm.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == llm.PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// titleOf returns the beginning of the first line of a message.
func titleOf(parts []llm.Part) string {
	line, _, _ := strings.Cut(strings.TrimSpace(textOf(parts)), "\n")
	line = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(line, ""))), " ")
	if short := truncate(line, 80); len(short) < len(line) {
		return short + "…"
	}
	return line
}

// Turn returns the state of a turn. If there is no such turn, the error is of kind NotFound.
func (s *Service) Turn(ctx context.Context, id string) (Snapshot, error) {
	s.hub.mu.Lock()
	if l := s.hub.turns[id]; l != nil {
		l.publishWaiting()
		defer s.hub.mu.Unlock()
		return l.snapshot(), nil
	}
	ended := s.hub.unwritten[id]
	s.hub.mu.Unlock()
	if ended != nil {
		return *ended, nil
	}
	var snapshot Snapshot
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			snapshot = Snapshot{
				Turn: id, Session: r.ColumnText(0), State: TurnState(r.ColumnText(1)), Engine: r.ColumnText(2), Question: r.ColumnText(3), Answer: r.ColumnText(4),
				Steps: r.ColumnInt(5), Finish: r.ColumnText(6), Error: decodeFailure(r.ColumnText(7)), Parts: []llm.Part{},
			}
			snapshot.OwnTools = snapshot.Engine == EngineCLI
			return false
		}, "SELECT session, state, engine, question, answer, steps, finish, error FROM turn WHERE id = ?", id)
		if snapshot.Turn == "" {
			return tx.Fail(notFoundError("get", "turn", id))
		}
		if m := readTree(tx, snapshot.Session).find(snapshot.Answer); m != nil {
			a := readMessages(tx, []*node{m})[0]
			snapshot.Parts, snapshot.Calls, snapshot.Usage, snapshot.Cost = a.Parts, a.Calls, a.Usage, a.Cost
			snapshot.Provider, snapshot.Model = a.Provider, a.Model
		}
		return nil
	})
	return snapshot, err
}

// Cancel cancels a turn, in whichever process it runs, without waiting for its end. A turn that has ended is not
// changed. reason may be empty. If there is no such turn, the error is of kind NotFound.
func (s *Service) Cancel(ctx context.Context, id, reason string) error {
	s.hub.mu.Lock()
	l := s.hub.turns[id]
	s.hub.mu.Unlock()
	if l != nil {
		l.cancel(&cancelError{reason})
		return nil
	}
	return s.store.Write(ctx, func(tx *store.Tx) error {
		if _, there := tx.Number("SELECT 1 FROM turn WHERE id = ?", id); !there {
			return tx.Fail(notFoundError("cancel", "turn", id))
		}
		tx.Exec("UPDATE turn SET cancel = ? WHERE id = ? AND ended = 0 AND cancel IS NULL", reason, id)
		return nil
	})
}

// cancelRequested reports whether another process has cancelled a turn.
func (s *Service) cancelRequested(ctx context.Context, id string) (reason string, told bool) {
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			reason, told = r.ColumnText(0), true
			return false
		}, "SELECT cancel FROM turn WHERE id = ? AND cancel IS NOT NULL", id)
		return nil
	})
	return reason, told && err == nil
}

// recover interrupts the turns of processes that have ended.
func (s *Service) recover(ctx context.Context) error { return s.interruptOrphans(ctx, "") }

// interruptOrphans interrupts the turns of processes that have ended, in one session or, if that is empty, in all.
// Partial answers stay. Calls that had not begun are skipped; the outcome of those that had is unknown. Nothing is run
// again.
func (s *Service) interruptOrphans(ctx context.Context, session string) error {
	owners := map[string]bool{}
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		tx.Query(func(r *store.Row) bool {
			owners[r.ColumnText(0)] = true
			return true
		}, "SELECT DISTINCT owner FROM turn WHERE state IN ('queued', 'running', 'awaiting_approval') AND (?1 = '' OR session = ?1)", session)
		return nil
	})
	if err != nil {
		return err
	}
	for owner := range owners {
		if s.store.Alive(owner) {
			continue
		}
		if err := s.interrupt(ctx, owner); err != nil {
			return err
		}
	}
	return nil
}

// interrupt ends the turns of an owner that is not alive.
func (s *Service) interrupt(ctx context.Context, owner string) error {
	changed := map[string]int64{}
	err := s.store.Write(ctx, func(tx *store.Tx) error {
		clear(changed)
		type turn struct{ id, session, answer string }
		var turns []turn
		tx.Query(func(r *store.Row) bool {
			turns = append(turns, turn{r.ColumnText(0), r.ColumnText(1), r.ColumnText(2)})
			return true
		}, "SELECT id, session, answer FROM turn WHERE owner = ? AND state IN ('queued', 'running', 'awaiting_approval')", owner)
		for _, t := range turns {
			at := now()
			tx.Exec("UPDATE turn SET state = 'interrupted', finish = 'interrupted', ended = ? WHERE id = ?", at, t.id)
			n, there := tx.Number("UPDATE message SET status = 'interrupted', finish = 'interrupted', updated = ? WHERE id = ? AND deleted = 0 RETURNING n", at, t.answer)
			tx.Exec("UPDATE call SET state = CASE state WHEN 'executing' THEN 'unknown' ELSE 'skipped' END, updated = ? WHERE message = ? AND state IN ('proposed', 'awaiting', 'executing')", at, n)
			if there {
				var parts []llm.Part
				tx.Query(func(r *store.Row) bool {
					part, err := decodePart(r.ColumnText(0))
					failOn(tx, err)
					parts = append(parts, part)
					return true
				}, "SELECT data FROM part WHERE message = ? ORDER BY idx", n)
				indexText(tx, n, parts)
			}
			changed[t.session] = bumpRevision(tx, t.session)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for session, revision := range changed {
		s.publishChanged(session, revision)
	}
	return nil
}
