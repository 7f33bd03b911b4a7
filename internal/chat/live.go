package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/llm"
	"collie/internal/store"
	"collie/internal/tool"
)

// This file holds the answer of a running turn in memory, publishes its changes, and saves it at intervals.

const (
	// Text is saved after checkpointEvery or checkpointBytes, whichever comes first.
	checkpointEvery = time.Second
	checkpointBytes = 4 << 10
	// leaseEvery is how often a queued turn checks whether it may run, because turns of other processes cannot wake it.
	leaseEvery = 250 * time.Millisecond
	// cancelGrace is how long an engine may take to return once its turn is cancelled.
	cancelGrace = 2 * time.Second
	// previewBytes is how much of a result an event shows.
	previewBytes = 4 << 10
)

// liveTurn is a turn of this process, queued or running.
type liveTurn struct {
	s        *Service
	turn     *Turn
	question string
	answer   int64 // row of the message being written
	name     string
	engine   Engine
	ctx      context.Context
	cancel   context.CancelCauseFunc
	ended    chan struct{} // closed once the end is saved, or cannot be
	wake     chan struct{} // signals that there is much to save, or that the queue has moved
	saveMu   sync.Mutex    // held while saving, so that an older state never overwrites a newer one

	// Guarded by the hub's mu.
	state     TurnState
	seq       int64
	parts     []*livePart
	partIndex map[partKey]int
	calls     []*liveCall
	byCall    map[string]*liveCall
	awaiting  int
	provider  string
	model     string
	usage     Usage
	cost      int64
	steps     int
	rows      []usageRow // not saved yet
	unsaved   int        // bytes of text not saved yet
	dirty     bool
	closed    bool // the turn accepts no more events

	waiting    []byte    // text that is part of the answer but not published yet
	waitingFor int       // index of the part that waiting belongs to
	due        time.Time // when the next text may be published; see publishText
	timer      *time.Timer
}

// partKey identifies a part of the answer by what the events of an engine say of it.
type partKey struct {
	step, index int
	kind        llm.PartKind
}

type livePart struct {
	part  llm.Part // without its text
	text  strings.Builder
	dirty bool
}

func (p *livePart) build() llm.Part {
	part := p.part
	part.Text = p.text.String()
	return part
}

type liveCall struct {
	Call
	answered, dirty bool
}

// publishAfterText publishes a change that is already part of the answer, after the text before it. The caller holds the hub's mu.
func (l *liveTurn) publishAfterText(kind string, data any) {
	l.publishWaiting()
	l.publishEvent(kind, data)
}

// publishEvent publishes an event of the turn. The caller holds the hub's mu.
func (l *liveTurn) publishEvent(kind string, data any) {
	l.seq++
	l.s.hub.publish(turnEvent(&Snapshot{Turn: l.turn.ID, Session: l.turn.Session, Seq: l.seq}, kind, data))
}

// publishText publishes text: at once if the turn has published little lately, otherwise merged with the text that follows
// shortly. On average it publishes one event in the time quiet. Up to burst events more may come at once, because pieces
// may be late and arrive together. due is the time at which the next event would come at that average rate. The caller
// holds the hub's mu.
func (l *liveTurn) publishText(part int, text string) {
	if len(l.waiting) > 0 && l.waitingFor != part {
		l.publishWaiting()
	}
	l.waiting, l.waitingFor = append(l.waiting, text...), part
	wait := time.Until(l.due.Add(-burst * quiet))
	switch {
	case wait <= 0 || len(l.waiting) >= mergeBytes:
		l.publishWaiting()
	case l.timer == nil:
		l.timer = time.AfterFunc(wait, func() {
			l.s.hub.mu.Lock()
			defer l.s.hub.mu.Unlock()
			l.publishWaiting()
		})
	case len(l.waiting) == len(text):
		l.timer.Reset(wait)
	}
}

// deltaEvent returns the event of the waiting text. It has the form of turnEvent's, written without reflection because it is
// written many times a second.
func (l *liveTurn) deltaEvent(kind string, ts int64) *Event {
	body := make([]byte, 0, 192+len(l.waiting)+len(l.waiting)/8)
	body = strconv.AppendInt(append(body, `{"v":1,"seq":`...), l.seq, 10)
	body = gjson.AppendJSONString(append(body, `,"turnId":`...), l.turn.ID)
	body = gjson.AppendJSONString(append(body, `,"sessionId":`...), l.turn.Session)
	body = strconv.AppendInt(append(body, `,"ts":`...), ts, 10)
	body = append(append(append(body, `,"type":"`...), kind...), `","data":{"partIndex":`...)
	body = strconv.AppendInt(body, int64(l.waitingFor), 10)
	body = gjson.AppendJSONString(append(body, `,"text":`...), string(l.waiting))
	return &Event{Kind: eventTurn, Session: l.turn.Session, turn: l.turn.ID, Body: append(body, "}}"...)}
}

// publishWaiting publishes waiting text. The caller holds the hub's mu.
func (l *liveTurn) publishWaiting() {
	if len(l.waiting) == 0 {
		return
	}
	kind := "text.delta"
	if l.parts[l.waitingFor].part.Kind == llm.PartReasoning {
		kind = "reasoning.delta"
	}
	now := time.Now()
	l.seq++
	l.s.hub.publish(l.deltaEvent(kind, now.UnixMilli()))
	if l.waiting = l.waiting[:0]; l.due.Before(now) {
		l.due = now
	}
	// due moves on by quiet, but never to more than burst+1 times quiet from now: long text is published without waiting for due.
	l.due = l.due.Add(min(quiet, now.Add((burst+1)*quiet).Sub(l.due)))
}

// snapshot copies the current state. The caller holds the hub's mu. The parts include text that waits to be published, so a
// caller that needs Seq to match them has called publishWaiting.
func (l *liveTurn) snapshot() Snapshot {
	s := Snapshot{
		Turn: l.turn.ID, Session: l.turn.Session, Seq: l.seq, State: l.state, Engine: l.name, OwnTools: l.name == EngineCLI, Question: l.question, Answer: l.turn.Assistant,
		Provider: l.provider, Model: l.model, Usage: l.usage, Cost: l.cost, Steps: l.steps, Parts: make([]llm.Part, len(l.parts)),
	}
	for i, p := range l.parts {
		s.Parts[i] = p.build()
	}
	for _, c := range l.calls {
		s.Calls = append(s.Calls, c.Call)
	}
	return s
}

// checkpoint saves what is not saved yet. If the turn no longer belongs to this process, it cancels the turn and
// returns an error that matches errGone.
func (l *liveTurn) checkpoint(ctx context.Context) error {
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	h := l.s.hub
	h.mu.Lock()
	if !l.dirty {
		h.mu.Unlock()
		return nil
	}
	save := l.collectUnsaved()
	h.mu.Unlock()
	err := l.s.store.Write(ctx, func(tx *store.Tx) error {
		tx.Exec("UPDATE turn SET state = ? WHERE id = ? AND owner = ? AND ended = 0", string(save.state), l.turn.ID, l.s.store.Owner())
		if tx.Err() == nil && tx.Changes() == 0 {
			return errGone
		}
		save.write(tx, l)
		return nil
	})
	if err == nil {
		return nil
	}
	h.mu.Lock()
	l.markUnsaved(save)
	h.mu.Unlock()
	if errors.Is(err, errGone) {
		l.cancel(errGone)
	}
	return fmt.Errorf("make the turn durable: %w", err)
}

// changes holds what a checkpoint writes.
type changes struct {
	state TurnState
	parts map[int]llm.Part
	calls []Call
	rows  []usageRow
}

// collectUnsaved returns what is not saved yet and marks it as saved. The caller holds the hub's mu.
func (l *liveTurn) collectUnsaved() *changes {
	u := &changes{state: l.state, parts: map[int]llm.Part{}, rows: l.rows}
	for i, p := range l.parts {
		if p.dirty {
			u.parts[i], p.dirty = p.build(), false
		}
	}
	for _, c := range l.calls {
		if c.dirty {
			u.calls, c.dirty = append(u.calls, c.Call), false
		}
	}
	l.rows, l.unsaved, l.dirty = nil, 0, false
	return u
}

// markUnsaved undoes collectUnsaved, because the changes could not be saved. The caller holds the hub's mu.
func (l *liveTurn) markUnsaved(u *changes) {
	for i := range u.parts {
		l.parts[i].dirty = true
	}
	for _, c := range u.calls {
		l.byCall[c.ID].dirty = true
	}
	l.rows, l.dirty = append(u.rows, l.rows...), true
}

// write saves the collected changes in a transaction.
func (u *changes) write(tx *store.Tx, l *liveTurn) {
	for i, p := range u.parts {
		tx.Exec("INSERT OR REPLACE INTO part VALUES (?, ?, ?)", l.answer, i, string(encode(p)))
	}
	for _, c := range u.calls {
		tx.Exec("INSERT OR REPLACE INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?)", l.answer, c.ID, l.turn.ID, c.Step, c.Name, string(c.State), c.Took, now())
	}
	for _, r := range u.rows {
		r.write(tx, l)
	}
}

// run takes the turn to its end: it waits for the session to be free, runs the engine and saves how it ended.
func (l *liveTurn) run(started bool) {
	defer close(l.ended)
	if !started && !l.awaitLease() {
		return
	}
	over := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() { l.checkpointUntil(over) })
	outcome, err := l.runEngine()
	l.s.hub.mu.Lock()
	l.closed = true
	l.s.hub.mu.Unlock()
	close(over)
	keeper.Wait()
	l.end(outcome, err)
}

// finish publishes the end of the turn, removes it from the hub and wakes the next turn of its session.
func (l *liveTurn) finish(e turnEnd) {
	h := l.s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	l.closed, l.state = true, e.State
	l.publishAfterText("turn.end", e)
	delete(h.turns, l.turn.ID)
	for sub := range h.subs[l.turn.ID] {
		sub.end()
	}
	for _, other := range h.turns {
		if other.turn.Session == l.turn.Session {
			other.signal()
		}
	}
	if e.Revision != 0 {
		l.s.publishChangedLocked(l.turn.Session, e.Revision)
	}
}

func (l *liveTurn) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// checkpointUntil saves at intervals until over is closed, and cancels the turn if another process asks for that.
func (l *liveTurn) checkpointUntil(over <-chan struct{}) {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-l.wake:
		case <-tick.C:
			if reason, said := l.s.cancelRequested(l.ctx, l.turn.ID); said {
				l.cancel(&cancelError{reason})
			}
		}
		if err := l.checkpoint(context.WithoutCancel(l.ctx)); err != nil {
			l.s.log.Warn("a turn goes on in memory", "turn", l.turn.ID, "error", err)
		}
	}
}

// runEngine runs the engine. After the turn is cancelled it waits for the engine no longer than cancelGrace.
func (l *liveTurn) runEngine() (Outcome, error) {
	path, err := l.s.path(l.ctx, l.question)
	if err != nil {
		return Outcome{}, err
	}
	l.turn.Path, l.turn.Question = path.messages, path.question
	for i := range l.turn.Partial {
		p := &l.turn.Partial[i]
		p.Files = slices.Clone(p.Files) // the answer that is being written has them too
		if err := l.s.loadFiles(p); err != nil {
			return Outcome{}, err
		}
	}
	k := &sink{liveTurn: l, path: path}
	l.s.hub.mu.Lock()
	l.publishAfterText("turn.start", struct {
		Engine   string `json:"engine"`
		OwnTools bool   `json:"ownTools,omitempty"` // as in a [Snapshot]
		Agent    string `json:"agent,omitempty"`
		Model    string `json:"model,omitempty"`
		Question string `json:"userMessageId"`
		Answer   string `json:"assistantMessageId"`
	}{l.name, l.name == EngineCLI, l.turn.Config.Agent, l.turn.Config.Model, l.question, l.turn.Assistant})
	l.s.hub.mu.Unlock()

	type result struct {
		Outcome
		error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				l.s.log.Error("an engine failed", "turn", l.turn.ID, "panic", p, "stack", string(debug.Stack()))
				r.error = &tool.Error{Op: "answer", Kind: tool.Internal, Message: fmt.Sprint(p)}
			}
			done <- r
		}()
		r.Outcome, r.error = l.engine.Run(l.ctx, l.turn, k)
	}()
	select {
	case r := <-done:
		return r.Outcome, r.error
	case <-l.ctx.Done():
	}
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case r := <-done:
		return r.Outcome, r.error
	case <-grace.C:
		return Outcome{}, context.Cause(l.ctx)
	}
}

// turnEnd is the data of a turn.end event.
type turnEnd struct {
	State    TurnState `json:"state"`
	Finish   string    `json:"finishReason,omitempty"`
	Error    *Failure  `json:"error,omitempty"`
	Revision int64     `json:"revision,omitempty"` // of the session
}

// end saves how the turn ended, and publishes it.
func (l *liveTurn) end(o Outcome, err error) {
	e := turnEnd{State: TurnDone, Finish: string(o.Finish)}
	var cancelled *cancelError
	switch cause := context.Cause(l.ctx); {
	case errors.As(cause, &cancelled):
		e.State, e.Finish = TurnCancelled, "cancelled"
		e.Error = &Failure{Type: string(tool.Canceled), Message: cancelled.Error()}
	case errors.Is(cause, errShutdown):
		e.State, e.Finish = TurnCancelled, "shutdown"
	case err != nil:
		e.State, e.Finish, e.Error = TurnError, "error", failureOf(err)
	}
	h := l.s.hub
	h.mu.Lock()
	l.publishWaiting()
	l.steps = max(l.steps, o.Steps)
	for _, c := range l.calls {
		switch c.State {
		case CallProposed, CallAwaiting:
			c.State, c.dirty = CallSkipped, true
		case CallExecuting:
			c.State, c.dirty = CallUnknown, true
		case CallDone, CallFailed, CallRefused, CallSkipped, CallUnknown:
		}
	}
	save := l.collectUnsaved()
	final := l.snapshot()
	h.mu.Unlock()

	l.saveMu.Lock()
	for wait := 50 * time.Millisecond; ; wait *= 4 { // four tries in about a second
		if err = l.saveEnd(save, &final, &e); err == nil || wait > time.Second {
			break
		}
		pause := time.NewTimer(wait)
		<-pause.C
	}
	l.saveMu.Unlock()
	if err != nil {
		l.s.log.Error("the end of a turn is not in the file", "turn", l.turn.ID, "error", err)
		e = turnEnd{State: TurnError, Finish: "error", Error: &Failure{
			Type: string(tool.Internal), Code: "not_kept", Message: "the answer could not be written down: " + err.Error(),
			Hint: "make room on the disk; it is tried again as long as this program runs",
		}}
		final.State, final.Finish, final.Error = e.State, e.Finish, e.Error
		h.mu.Lock()
		h.unwritten[l.turn.ID] = &final
		h.mu.Unlock()
		l.s.work.Go(func() { l.saveEndLater(save, &final, e) })
	}
	l.finish(e)
}

// saveEnd saves the end of the turn in a transaction of its own.
func (l *liveTurn) saveEnd(save *changes, final *Snapshot, e *turnEnd) error {
	return l.s.store.Write(context.WithoutCancel(l.ctx), func(tx *store.Tx) error {
		e.Revision = l.conclude(tx, save, final, *e)
		return nil
	})
}

// saveEndLater retries saving an end until that succeeds, and a last time when the service closes. If all fails, the turn
// becomes interrupted after this process has ended; until then no other turn of its session runs.
func (l *liveTurn) saveEndLater(save *changes, final *Snapshot, e turnEnd) {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for closing := false; !closing; {
		select {
		case <-again.C:
		case <-l.s.ctx.Done():
			closing = true
		}
		l.saveMu.Lock()
		err := l.saveEnd(save, final, &e)
		l.saveMu.Unlock()
		if err != nil {
			continue
		}
		h := l.s.hub
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.unwritten, l.turn.ID)
		if e.Revision != 0 {
			l.s.publishChangedLocked(l.turn.Session, e.Revision)
		}
		return
	}
}

// conclude writes the final state of a turn and returns the revision of its session.
func (l *liveTurn) conclude(tx *store.Tx, save *changes, final *Snapshot, e turnEnd) int64 {
	failure := ""
	if e.Error != nil {
		failure = string(encode(e.Error))
	}
	tx.Exec(`UPDATE turn SET state = ?, finish = ?, error = ?, steps = ?, ended = ? WHERE id = ? AND owner = ? AND ended = 0`,
		string(e.State), e.Finish, failure, final.Steps, now(), l.turn.ID, l.s.store.Owner())
	if tx.Err() != nil || tx.Changes() == 0 {
		return 0 // its session was deleted
	}
	save.write(tx, l)
	status := map[TurnState]Status{TurnDone: StatusComplete, TurnCancelled: StatusCancelled, TurnError: StatusError}[e.State]
	tx.Exec(`UPDATE message SET status = ?, provider = ?, model = ?, finish = ?, error = ?, usage = ?, cost = ?, updated = ? WHERE n = ?`,
		string(status), final.Provider, final.Model, e.Finish, failure, encodeUsage(final.Usage), final.Cost, now(), l.answer)
	indexText(tx, l.answer, final.Parts)
	return bumpRevision(tx, l.turn.Session)
}

// cancelError is the cause of a cancelled turn.
type cancelError struct{ reason string }

func (e *cancelError) Error() string {
	if e.reason == "" {
		return "cancelled"
	}
	return "cancelled: " + e.reason
}

// failureOf describes err for a person.
func failureOf(err error) *Failure {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		kind := "provider_error"
		switch e.Class {
		case llm.ClassRateLimit:
			kind = "rate_limited"
		case llm.ClassAllCooling, llm.ClassNoProvider:
			kind = string(e.Class)
		}
		return &Failure{Type: kind, Code: string(e.Class), Message: e.Error(), Hint: e.Hint}
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return &Failure{Type: e.Kind.Type(), Code: e.Code, Message: e.Error(), Hint: e.Hint}
	}
	return &Failure{Type: string(tool.Internal), Message: err.Error()}
}

// validJSON returns args as JSON: unchanged if valid, else as a JSON string.
func validJSON(args string) json.RawMessage {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return encode(args)
}
