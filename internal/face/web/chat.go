package web

import (
	"context"
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
	return []Route{
		{"POST /api/v1/sessions", ClassChat, (*api).createSession},
		{"GET /api/v1/sessions", ClassChat, (*api).listSessions},
		{"GET /api/v1/sessions/{id}", ClassChat, (*api).getSession},
		{"PATCH /api/v1/sessions/{id}", ClassChat, (*api).patchSession},
		{"DELETE /api/v1/sessions/{id}", ClassChat, (*api).deleteSession},
		{"POST /api/v1/sessions/{id}/turns", ClassChat, (*api).send},
		{"POST /api/v1/messages/{id}/regenerate", ClassChat, (*api).regenerate},
		{"POST /api/v1/messages/{id}/continue", ClassChat, (*api).continueAnswer},
		{"POST /api/v1/messages/{id}/edit", ClassChat, (*api).edit},
		{"POST /api/v1/messages/{id}/select", ClassChat, (*api).selectBranch},
		{"POST /api/v1/messages/{id}/fork", ClassChat, (*api).fork},
		{"DELETE /api/v1/messages/{id}", ClassChat, (*api).deleteMessage},
		{"POST /api/v1/sessions/{id}/prune", ClassChat, (*api).prune},
		{"GET /api/v1/sessions/{id}/export", ClassChat, (*api).export},
		{"POST /api/v1/sessions/import", ClassChat, (*api).importSession},
		{"GET /api/v1/turns/{id}", ClassChat, (*api).turn},
		{"GET /api/v1/turns/{id}/events", ClassChat, (*api).turnEvents},
		{"POST /api/v1/turns/{id}/cancel", ClassChat, (*api).cancelTurn},
		{"GET /api/v1/events", ClassChat, (*api).events},
		{"GET /api/v1/search", ClassChat, (*api).search},
		{"GET /api/v1/usage", ClassChat, (*api).usage},
		{"POST /api/v1/blobs", ClassChat, (*api).attach},
		{"GET /api/v1/blobs/{sha256}", ClassChat, (*api).blob},
	}
}

// chat returns the conversations of the agent host.
func (a *api) chat(r *http.Request) (*chat.Service, error) { return a.opts.Chat(r.Context()) }

// read decodes a JSON body. Unknown members are refused: one that is misspelt would be ignored.
func decodeBody(r *http.Request, into any, example string) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/json" && media != streamType { // a page of a foreign site can send other types without a preflight
		return &tool.Error{Op: "chat", Kind: tool.Invalid, Subject: "Content-Type", Message: "expected application/json"}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &tool.Error{Op: "chat", Kind: tool.Invalid, Subject: "body", Message: "expected " + example, Err: err}
	}
	return nil
}

// permitted is c as the caller may have it: in a profile of theirs. Only a person at a terminal allows
// actions beforehand, and for one turn: what a session allowed, anybody with a token could use.
func restrictConfig(who *Identity, c *chat.Config, turn bool) error {
	if len(c.Allow) > 0 && (!turn || !who.Manage) {
		return &tool.Error{
			Op: "chat", Kind: tool.Denied, Subject: "allow", Message: "only a person at a terminal allows actions beforehand, for one turn",
			Hint: "collie agent run --allow TOOL.ACTION",
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
	page, err := s.List(r.Context(), chat.List{Cursor: q.Get("cursor"), Query: q.Get("q"), Archived: q.Get("archived") == "true"})
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
	TurnID      string       `json:"turnId"`
	UserMessage *userMessage `json:"userMessage"`
	Overrides   chat.Config  `json:"overrides"`
	// For edit.
	MessageID string     `json:"messageId"`
	Parts     []llm.Part `json:"parts"`
	Run       *bool      `json:"run"`
	// Capabilities is for a stream of the command line: what its person can be asked for.
	Capabilities json.RawMessage `json:"capabilities"`
}

// userMessage is what a person says. Text is one part of text.
type userMessage struct {
	ID       string     `json:"id"`
	ParentID string     `json:"parentId"`
	Text     string     `json:"text"`
	Parts    []llm.Part `json:"parts"`
}

// begun reads the body of what begins a turn and says who begins it.
func (a *api) begun(r *http.Request, example string) (turnRequest, chat.Ask, error) {
	var t turnRequest
	if err := decodeBody(r, &t, example); err != nil {
		return t, chat.Ask{}, err
	}
	who := a.opts.Identify(r)
	err := restrictConfig(&who, &t.Overrides, true)
	// A slash command is a person's own deed where the line to a terminal carries it, and there alone.
	return t, chat.Ask{TurnID: t.TurnID, Overrides: t.Overrides, Principal: who.Principal, Person: who.Manage && who.Origin == tool.Direct}, err
}

// send has a message answered. It answers 202 while the turn goes on; with Accept: text/event-stream it sends the
// events of the turn; and if the body is of type application/x-ndjson, which the command line sends, the person can be
// asked while the turn runs.
func (a *api) send(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == streamType {
		return a.runTurnDialogue(w, r, s)
	}
	t, ask, err := a.begun(r, `{"turnId":…,"userMessage":{"text":…}}`)
	if err != nil {
		return err
	}
	draft, err := t.draft()
	if err != nil {
		return err
	}
	accepted, err := s.Send(r.Context(), r.PathValue("id"), draft, ask)
	if err != nil {
		return err
	}
	return a.accepted(w, r, s, accepted)
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
		return stream(w, r, s, chat.Filter{Turn: t.Turn})
	}
	status := http.StatusAccepted
	if t.Turn == "" {
		status = http.StatusOK
	}
	return answerWith(w, status, t)
}

func (a *api) regenerate(w http.ResponseWriter, r *http.Request) error {
	return a.again(w, r, (*chat.Service).Regenerate)
}

func (a *api) continueAnswer(w http.ResponseWriter, r *http.Request) error {
	return a.again(w, r, (*chat.Service).Continue)
}

func (a *api) again(w http.ResponseWriter, r *http.Request, f func(*chat.Service, context.Context, string, chat.Ask) (chat.Accepted, error)) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	_, ask, err := a.begun(r, `{"turnId":…,"overrides":{…}}`)
	if err != nil {
		return err
	}
	accepted, err := f(s, r.Context(), r.PathValue("id"), ask)
	if err != nil {
		return err
	}
	return a.accepted(w, r, s, accepted)
}

func (a *api) edit(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	t, ask, err := a.begun(r, `{"turnId":…,"messageId":…,"parts":[…],"run":true}`)
	if err != nil {
		return err
	}
	accepted, err := s.Edit(r.Context(), r.PathValue("id"), t.MessageID, t.Parts, t.Run == nil || *t.Run, ask)
	if err != nil {
		return err
	}
	return a.accepted(w, r, s, accepted)
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
	return answerWith(w, http.StatusAccepted, map[string]any{})
}

func (a *api) search(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit")) // 0 is the default
	found, err := s.Search(r.Context(), r.URL.Query().Get("q"), limit)
	if err != nil {
		return err
	}
	return answer(w, map[string]any{"found": found})
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
	rows, err := s.Usage(r.Context(), since, until)
	if err != nil {
		return err
	}
	return answer(w, map[string]any{"rows": rows})
}

// day is a parameter that is a time (RFC 3339); zero where it is not given.
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
	_, _ = w.Write(raw) //nolint:gosec // JSON of our own; a client that has gone needs no answer
	return nil
}

func (a *api) turnEvents(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	return stream(w, r, s, chat.Filter{Turn: r.PathValue("id")})
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
	return stream(w, r, s, chat.Filter{Sessions: list("sessions"), Kinds: list("kinds")})
}

// heartbeat is how often a stream says something where there is nothing to say.
const heartbeat = 15 * time.Second

// stream sends what f lets through as server-sent events, from Last-Event-ID on, as the HTML standard has them.
func stream(w http.ResponseWriter, r *http.Request, s *chat.Service, f chat.Filter) error {
	sub, err := s.Subscribe(r.Context(), f, r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	defer sub.Close()
	rc := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := io.WriteString(w, "retry: 1000\n\n"); err != nil || rc.Flush() != nil {
		return nil // a client that has gone needs no answer
	}
	var out []byte
	for {
		ctx, cancel := context.WithTimeout(r.Context(), heartbeat)
		events, err := sub.Next(ctx)
		cancel()
		out = out[:0]
		switch {
		case r.Context().Err() != nil, errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			out = append(out, ": still here\n\n"...)
		case err != nil:
			return nil // the status has been sent: the stream ends, and the client comes back
		}
		for _, e := range events {
			if e.ID != "" {
				out = append(append(append(out, "id: "...), e.ID...), '\n')
			}
			out = append(append(append(out, "event: "...), e.Kind...), "\ndata: "...)
			out = append(append(out, e.Body...), "\n\n"...)
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))        // a connection without deadlines is waited for
		if _, err := w.Write(out); err != nil || rc.Flush() != nil { //nolint:gosec // JSON of our own, as a stream of events
			return nil // a client that has gone needs no answer
		}
	}
}
