package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// chatRoutes returns the routes of conversations.
func chatRoutes() []Route {
	resumes := "; Last-Event-ID goes on where a stream ended"
	turns := "; with Accept: text/event-stream the answer is the events of the turn"
	return []Route{
		{"POST /api/v1/sessions", ClassChat, (*api).createSession, about{summary: "Begin a session", in: chat.NewSession{}, out: chat.Session{}, status: 201}},
		{"GET /api/v1/sessions", ClassChat, (*api).listSessions, about{summary: "Sessions, the one that changed last first, 50 a page", out: chat.Page{}, query: []string{
			"cursor: nextCursor of the page before", "q: those with this in their title or messages", "archived: with true, those that are archived",
		}}},
		{"GET /api/v1/sessions/{id}", ClassChat, (*api).getSession, about{summary: "A session with its active path; If-None-Match takes its ETag", out: chat.View{}}},
		{"PATCH /api/v1/sessions/{id}", ClassChat, (*api).patchSession, about{summary: "Change a session; If-Match takes its ETag", in: chat.Patch{}, out: chat.Session{}}},
		{"DELETE /api/v1/sessions/{id}", ClassChat, (*api).deleteSession, about{summary: "Delete a session", query: []string{"force: with true, turns that run are cancelled first"}}},
		{"POST /api/v1/sessions/{id}/turns", ClassChat, (*api).send, about{summary: "Have a message answered; the same turnId again is the same turn" + turns, in: turnRequest{}, out: chat.Accepted{}, status: 202, asks: true}},
		{"POST /api/v1/messages/{id}/regenerate", ClassChat, (*api).regenerate, about{summary: "Have a message answered once more" + turns, in: againRequest{}, out: chat.Accepted{}, status: 202}},
		{"POST /api/v1/messages/{id}/continue", ClassChat, (*api).continueAnswer, about{summary: "Have an answer that was cut off go on" + turns, in: againRequest{}, out: chat.Accepted{}, status: 202}},
		{"POST /api/v1/messages/{id}/edit", ClassChat, (*api).edit, about{summary: "Say a message otherwise, as a branch, and have it answered" + turns, in: editRequest{}, out: chat.Accepted{}, status: 202}},
		{"POST /api/v1/messages/{id}/select", ClassChat, (*api).selectBranch, about{summary: "Go on below a message with another one of its children", in: selection{}, out: chat.View{}}},
		{"POST /api/v1/messages/{id}/fork", ClassChat, (*api).fork, about{summary: "Begin a session with a copy of the path to a message, of that and the subtree, or of all", in: forking{}, out: chat.Session{}, status: 201}},
		{"DELETE /api/v1/messages/{id}", ClassChat, (*api).deleteMessage, about{summary: "Delete a message with all below it", query: []string{"keepChildren: with true, itself alone"}}},
		{"POST /api/v1/sessions/{id}/prune", ClassChat, (*api).prune, about{summary: "Delete all branches but the active path", out: chat.View{}}},
		{"GET /api/v1/sessions/{id}/export", ClassChat, (*api).export, about{summary: "A session as a file", out: markdown{}, query: []string{
			"format: json, which import takes, markdown, or html, a page that needs nothing else", "redact: with true, without what tools were called with and what they answered",
		}}},
		{"POST /api/v1/sessions/{id}/note", ClassChat, (*api).exportNote, about{
			summary: "Write a session into a document of the notes, as fs.write does", in: noteRequest{}, out: callAnswer{},
		}},
		{"POST /api/v1/sessions/import", ClassChat, (*api).importSession, about{summary: "Add a session from an export as JSON", in: map[string]any{}, out: chat.Session{}, status: 201}},
		{"GET /api/v1/turns/{id}", ClassChat, (*api).turn, about{summary: "What a turn has come to so far", out: chat.Snapshot{}}},
		{"GET /api/v1/turns/{id}/events", ClassChat, (*api).turnEvents, about{summary: "The events of a turn, to its end" + resumes, out: eventStream{}}},
		{"POST /api/v1/turns/{id}/cancel", ClassChat, (*api).cancelTurn, about{summary: "Cancel a turn", out: none{}, query: []string{"reason: what to say of it"}, status: 202}},
		{"GET /api/v1/events", ClassChat, (*api).events, about{summary: "All events, in one stream that does not end" + resumes, out: eventStream{}, query: []string{
			"sessions: of these alone, with commas between", "kinds: of these alone, with commas between: turn, session, call.started, call.done, person.asked, person.answered, questions, catalog, server.state, gateway.moved, browsers",
		}}},
		{"GET /api/v1/search", ClassChat, (*api).search, about{summary: "Messages with a text, the newest first", out: findings{}, query: []string{"q: the text", "limit: at most this many, 50 unless given"}}},
		{"GET /api/v1/usage", ClassChat, (*api).usage, about{summary: "Tokens and money by day, agent and model", out: usageRows{}, query: []string{"since: from this time on (RFC 3339)", "until: up to this time"}}},
		{"POST /api/v1/blobs", ClassChat, (*api).attach, about{summary: "Keep a picture or a text for messages of a session", in: file{}, out: llm.File{}, query: []string{"session: its id", "name: what to call it"}, status: 201}},
		{"GET /api/v1/blobs/{sha256}", ClassChat, (*api).blob, about{summary: "An attachment", out: file{}}},
	}
}

// chat returns the conversations of the agent host.
func (a *api) chat(r *http.Request) (*chat.Service, error) { return a.opts.Chat(r.Context()) }

// decodeBody decodes a JSON body. Unknown members are refused, because a misspelt one would otherwise be ignored.
func decodeBody(r *http.Request, into any, example string) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/json" && media != streamType { // a page of a foreign site can send other types without a preflight
		return &tool.Error{Op: "chat", Kind: tool.Invalid, Subject: "Content-Type", Message: "expected application/json"}
	}
	if err := decodeStrict(r, into); err != nil {
		return &tool.Error{Op: "chat", Kind: tool.Invalid, Subject: "body", Message: "expected " + example, Err: err}
	}
	return nil
}

// decodeStrict decodes a JSON body and refuses unknown members.
func decodeStrict(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// restrictConfig sets the profile of c to one that the caller may have, and refuses what only a caller that manages may
// set. Actions are allowed beforehand for a single turn only: anybody with a token could use what a session allows.
func restrictConfig(who *Identity, c *chat.Config, turn bool) error {
	if len(c.Allow) > 0 && (!turn || !who.Manage) {
		return &tool.Error{
			Op: "chat", Kind: tool.Denied, Subject: "allow", Message: "only a person at a terminal allows actions beforehand, for one turn",
			Hint: "collie agent run --allow TOOL.ACTION",
		}
	}
	if c.Folder != "" && !who.Manage {
		return &tool.Error{
			Op: "chat", Kind: tool.Denied, Subject: "folder", Message: "only a person at a terminal says where an agent works",
			Hint: "collie agent run, in that folder",
		}
	}
	profile, err := who.profile(c.Profile)
	if err != nil {
		return err
	}
	c.Profile = profile
	return nil
}

func (a *api) createSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	var n chat.NewSession
	if err := decodeBody(r, &n, `{"title":…,"config":{…}}`); err != nil {
		return err
	}
	who := a.opts.Identify(r)
	if err := restrictConfig(&who, &n.Config, false); err != nil {
		return err
	}
	made, err := s.Create(r.Context(), n)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, made)
}

func (a *api) listSessions(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	page, err := s.List(r.Context(), chat.List{
		Cursor: q.Get("cursor"), Query: q.Get("q"), Archived: q.Get("archived") == "true", Profile: a.opts.Identify(r).Only,
	})
	if err != nil {
		return err
	}
	return answer(w, page)
}

func (a *api) getSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	v, err := s.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	tag := etag(v.Revision)
	w.Header().Set("ETag", tag)
	if len(v.Turns) == 0 && r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return answer(w, v)
}

func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// ifMatch returns the revision in If-Match; 0 if there is none.
func ifMatch(r *http.Request) (int64, error) {
	tag := strings.Trim(r.Header.Get("If-Match"), `"`)
	if tag == "" || tag == "*" {
		return 0, nil
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil || n <= 0 {
		return 0, &tool.Error{Op: "chat", Kind: tool.Invalid, Subject: "If-Match", Message: "expected the ETag of the session"}
	}
	return n, nil
}

func (a *api) patchSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	var p chat.Patch
	if err := decodeBody(r, &p, `{"title":…,"pinned":…,"archived":…,"config":{…}}`); err != nil {
		return err
	}
	if p.Config != nil {
		who := a.opts.Identify(r)
		if err := restrictConfig(&who, p.Config, false); err != nil {
			return err
		}
	}
	revision, err := ifMatch(r)
	if err != nil {
		return err
	}
	changed, err := s.Patch(r.Context(), r.PathValue("id"), p, revision)
	if err != nil {
		return err
	}
	return answer(w, changed)
}

func (a *api) deleteSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	if err := s.Delete(r.Context(), r.PathValue("id"), r.URL.Query().Get("force") == "true"); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// turnRequest is the body of a request that begins a turn.
type turnRequest struct {
	againRequest
	UserMessage *userMessage `json:"userMessage"`
}

type againRequest struct {
	TurnID    string      `json:"turnId"` // chosen by the client, so that it can ask again; optional
	Overrides chat.Config `json:"overrides"`
	// Capabilities is for a stream of the command line: what its person can be asked for.
	Capabilities json.RawMessage `json:"capabilities"`
}

type editRequest struct {
	againRequest
	MessageID string     `json:"messageId"` // of the new message, chosen by the client; optional
	Parts     []llm.Part `json:"parts"`
	Run       *bool      `json:"run"` // whether it is answered; true unless given
}

// userMessage is a person's message. Text is short for one part of text.
type userMessage struct {
	ID       string     `json:"id"`
	ParentID string     `json:"parentId"`
	Text     string     `json:"text"`
	Parts    []llm.Part `json:"parts"`
}

// beginning is a request that begins a turn.
type beginning struct {
	into    any           // the body is decoded into it
	common  *againRequest // of into
	example string
	begin   func(context.Context, *chat.Service, chat.TurnOptions) (chat.Accepted, error)
}

// beginTurn answers 202 while the turn goes on; with Accept: text/event-stream it sends the events of the turn; and if the
// body is of type application/x-ndjson, which the command line sends, the person can be asked while the turn runs.
func (a *api) beginTurn(w http.ResponseWriter, r *http.Request, b *beginning) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == streamType {
		return a.runTurnDialogue(w, r, s, b)
	}
	if err := decodeBody(r, b.into, b.example); err != nil {
		return err
	}
	who := a.opts.Identify(r)
	if err := restrictConfig(&who, &b.common.Overrides, true); err != nil {
		return err
	}
	// A slash command counts as the person's own action only if it comes from the command line or from a page.
	ask := chat.TurnOptions{
		TurnID: b.common.TurnID, Overrides: b.common.Overrides, Principal: who.Principal, Person: who.Manage && who.Origin == tool.Direct,
	}
	if who.Browser {
		if ask.TurnID == "" {
			ask.TurnID = rand.Text()
		}
		ask.Asker = &pagePerson{desk: &a.desk, service: s, turn: ask.TurnID}
	}
	accepted, err := b.begin(r.Context(), s, ask)
	if err != nil {
		return err
	}
	return a.accepted(w, r, s, accepted)
}

// send has a message answered.
func (a *api) send(w http.ResponseWriter, r *http.Request) error {
	var t turnRequest
	return a.beginTurn(w, r, &beginning{
		&t, &t.againRequest, `{"turnId":…,"userMessage":{"text":…}}`,
		func(ctx context.Context, s *chat.Service, ask chat.TurnOptions) (chat.Accepted, error) {
			draft, err := t.draft()
			if err != nil {
				return chat.Accepted{}, err
			}
			return s.Send(ctx, r.PathValue("id"), draft, ask)
		},
	})
}

// draft returns the message that was sent.
func (t *turnRequest) draft() (chat.Draft, error) {
	m := t.UserMessage
	if m == nil {
		return chat.Draft{}, &tool.Error{Op: "send", Kind: tool.Invalid, Subject: "userMessage", Message: `it is missing, expected {"text":…}`}
	}
	parts := m.Parts
	if m.Text != "" {
		parts = slices.Concat([]llm.Part{{Kind: llm.PartText, Text: m.Text}}, parts)
	}
	for _, p := range parts {
		if p.Kind != llm.PartText && p.Kind != llm.PartFile {
			return chat.Draft{}, &tool.Error{Op: "send", Kind: tool.Invalid, Subject: "parts", Message: "a person's message has parts of type text and file"}
		}
	}
	return chat.Draft{ID: m.ID, Parent: m.ParentID, Parts: parts}, nil
}

// accepted answers a request that began a turn.
func (a *api) accepted(w http.ResponseWriter, r *http.Request, s *chat.Service, t chat.Accepted) error {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") && t.Turn != "" {
		return a.stream(w, r, s, chat.Filter{Turn: t.Turn})
	}
	status := http.StatusAccepted
	if t.Turn == "" {
		status = http.StatusOK
	}
	return answerWith(w, status, t)
}

func (a *api) regenerate(w http.ResponseWriter, r *http.Request) error {
	return a.answerAgain(w, r, (*chat.Service).Regenerate)
}

func (a *api) continueAnswer(w http.ResponseWriter, r *http.Request) error {
	return a.answerAgain(w, r, (*chat.Service).Continue)
}

func (a *api) answerAgain(w http.ResponseWriter, r *http.Request, f func(*chat.Service, context.Context, string, chat.TurnOptions) (chat.Accepted, error)) error {
	var t againRequest
	return a.beginTurn(w, r, &beginning{
		&t, &t, `{"turnId":…,"overrides":{…}}`,
		func(ctx context.Context, s *chat.Service, ask chat.TurnOptions) (chat.Accepted, error) {
			ask.Person = false // it is not known who typed the message
			return f(s, ctx, r.PathValue("id"), ask)
		},
	})
}

func (a *api) edit(w http.ResponseWriter, r *http.Request) error {
	var t editRequest
	return a.beginTurn(w, r, &beginning{
		&t, &t.againRequest, `{"turnId":…,"messageId":…,"parts":[…],"run":true}`,
		func(ctx context.Context, s *chat.Service, ask chat.TurnOptions) (chat.Accepted, error) {
			return s.Edit(ctx, r.PathValue("id"), t.MessageID, t.Parts, t.Run == nil || *t.Run, ask)
		},
	})
}

func (a *api) turn(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	snapshot, err := s.Turn(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return answer(w, snapshot)
}

func (a *api) cancelTurn(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	if err := s.Cancel(r.Context(), r.PathValue("id"), r.URL.Query().Get("reason")); err != nil {
		return err
	}
	return answerWith(w, http.StatusAccepted, none{})
}

func (a *api) search(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit")) // 0 is the default
	found, err := s.Search(r.Context(), r.URL.Query().Get("q"), limit, a.opts.Identify(r).Only)
	if err != nil {
		return err
	}
	return answer(w, findings{found})
}

type findings struct {
	Found []chat.Found `json:"found"`
}

type usageRows struct {
	Rows []chat.UsageRow `json:"rows"`
}

func (a *api) usage(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	since, err := timeParam(r, "since")
	if err != nil {
		return err
	}
	until, err := timeParam(r, "until")
	if err != nil {
		return err
	}
	rows, err := s.Usage(r.Context(), since, until, a.opts.Identify(r).Only)
	if err != nil {
		return err
	}
	return answer(w, usageRows{rows})
}

// timeParam returns a query parameter that is a time (RFC 3339); zero if it is missing.
func timeParam(r *http.Request, name string) (time.Time, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, &tool.Error{Op: "usage", Kind: tool.Invalid, Subject: name, Message: "expected a time such as 2026-01-31T00:00:00Z"}
	}
	return t, nil
}

func (a *api) attach(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	f, err := s.Attach(r.Context(), q.Get("session"), q.Get("name"), r.Body)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, f)
}

// blob sends an attachment as a download, so that a browser does not execute it.
func (a *api) blob(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	data, f, err := s.OpenBlob(r.Context(), r.PathValue("sha256"))
	if err != nil {
		return err
	}
	defer data.Close()
	w.Header().Set("Content-Type", f.MIME)
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.Copy(w, data) // a client that has gone needs no answer
	return nil
}

func answerWith(w http.ResponseWriter, status int, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone needs no answer
	return nil
}

func (a *api) turnEvents(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	return a.stream(w, r, s, chat.Filter{Turn: r.PathValue("id")})
}

// events streams all events, or those selected by sessions=A,B and kinds=A,B.
func (a *api) events(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	list := func(name string) []string {
		text := r.URL.Query().Get(name)
		if text == "" || text == "*" {
			return nil
		}
		return strings.Split(text, ",")
	}
	return a.stream(w, r, s, chat.Filter{Sessions: list("sessions"), Kinds: list("kinds")})
}

// visible returns the events that the caller may see: those about a tool only if its profile has the tool, and those of
// conversations that it may read. A person sees all.
func (a *api) visible(r *http.Request, within *reach, events []*chat.Event) []*chat.Event {
	events = within.filter(r.Context(), events)
	if !slices.ContainsFunc(events, func(e *chat.Event) bool { return e.Tool != "" }) {
		return events
	}
	who := a.opts.Identify(r)
	if who.Manage {
		return events
	}
	sees := map[string]bool{}
	if profile, err := who.profile(""); err == nil && a.opts.Tools != nil {
		for _, t := range a.opts.Tools(profile) {
			sees[t.Name] = t.Off == ""
			for i := range t.Actions {
				sees[t.Name+"."+t.Actions[i].Name] = t.Off == "" && t.Actions[i].Off == ""
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(events), func(e *chat.Event) bool { return e.Tool != "" && !sees[e.Tool] })
}

// heartbeat is how often an idle stream sends a comment.
const heartbeat = 15 * time.Second

// stream sends the events that match f as server-sent events (WHATWG HTML), after Last-Event-ID.
func (a *api) stream(w http.ResponseWriter, r *http.Request, s *chat.Service, f chat.Filter) error {
	sub, err := s.Subscribe(r.Context(), f, r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	defer sub.Close()
	within := reach{service: s, only: a.opts.Identify(r).Only, known: map[string]bool{}}
	to := stream{w: w, rc: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	err = to.send([]byte("retry: 1000\n\n"))
	for err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), heartbeat)
		err = a.pass(ctx, r, sub, &within, &to)
		cancel()
		if r.Context().Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = to.send([]byte(": still here\n\n"))
		}
	}
	return nil // the status has been sent, so the stream just ends; a client that still listens reconnects
}

// pass sends the events of sub that r may see until there are no more, ctx ends or the client has gone.
func (a *api) pass(ctx context.Context, r *http.Request, sub *chat.Subscription, within *reach, to *stream) error {
	var out []byte
	for {
		events, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		out = out[:0]
		for _, e := range a.visible(r, within, events) {
			if e.ID != "" {
				out = append(append(append(out, "id: "...), e.ID...), '\n')
			}
			out = append(append(append(out, "event: "...), e.Kind...), "\ndata: "...)
			out = append(append(out, e.Body...), "\n\n"...)
		}
		if err := to.send(out); err != nil {
			return err
		}
		a.opts.Streams()
	}
}

// stream is a client that reads events.
type stream struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	deadline time.Time // of writes
}

// send writes data, which the client has to take in time.
func (s *stream) send(data []byte) error {
	if until := time.Now().Add(writeTimeout); until.Sub(s.deadline) > time.Second { // a deadline set within the last second will do, because pieces come many times a second
		s.deadline = until
		_ = s.rc.SetWriteDeadline(until) // a connection without deadlines is waited for
	}
	if _, err := s.w.Write(data); err != nil {
		return err
	}
	return s.rc.Flush()
}
