package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/chat"
	"collie/internal/tool"
)

// This file has the routes for the browsers in which a person has signed in, and for questions that wait for a person.

// Browsers manages signed-in browsers.
type Browsers interface {
	// Link returns a new link with which one browser can sign in. elsewhere is set for a browser on another machine,
	// such as a phone. If that could not reach this gateway, the error says which setting to change.
	Link(elsewhere bool) (Link, error)
	List() []Browser
	// Elsewhere reports whether a browser on another machine could sign in.
	Elsewhere() bool
	// End signs a browser out. For an unknown id the error has kind NotFound.
	End(ctx context.Context, id string) error
}

// Link is an address with which one browser can sign in once.
type Link struct {
	Address string    `json:"address"`
	Until   time.Time `json:"until"`
	// QR is the address as a QR code, for another machine: a string for each row, with 1 for dark.
	QR []string `json:"qr,omitempty"`
}

// Browser is a signed-in browser.
type Browser struct {
	ID   string    `json:"id"`
	Name string    `json:"name"` // browser and operating system, by its User-Agent
	Host string    `json:"host"` // host name that it used to sign in
	Made time.Time `json:"made"`
	Used time.Time `json:"used"` // date of last use
	// Address is the network address from which it signed in.
	Address string `json:"address,omitempty"`
}

// Waiting manages calls of clients that wait for a person.
type Waiting interface {
	List() ([]OpenQuestion, error)
	// Answer answers the call with this id. If it was answered before, the error has kind Conflict.
	Answer(ctx context.Context, id string, yes bool) error
}

// OpenQuestion is an unanswered question of the gate or of a server.
type OpenQuestion struct {
	ID string `json:"id"`
	// Session and Turn identify the turn that waits for the answer. They are empty for a call of a client, which was
	// refused and can be repeated after a yes.
	Session  string        `json:"sessionId,omitempty"`
	Turn     string        `json:"turnId,omitempty"`
	Client   string        `json:"client,omitempty"`
	Question tool.Question `json:"question"`
	// Form is a form of a server to fill in; Question then describes the call. It is nil for questions of the gate.
	Form  *ServerForm `json:"form,omitempty"`
	Asked time.Time   `json:"asked"`
}

// personRoutes returns the routes for signing browsers in and for questions to people.
func personRoutes() []Route {
	return []Route{
		{"GET /api/v1/questions", ClassManage, (*api).questions, about{summary: "What waits for a person, the oldest first", out: questionList{}}},
		{"POST /api/v1/questions/{id}", ClassManage, (*api).answerQuestion, about{
			summary: "Answer a question; where it has a name, a yes needs that name, and where it has a form, its content; the first answer counts", in: givenAnswer{}, out: none{},
		}},
		{"GET /api/v1/browsers", ClassManage, (*api).browsers, about{summary: "The browsers in which a person has signed in", out: browserList{}}},
		{"POST /api/v1/browsers/links", ClassManage, (*api).newLink, about{
			summary: "Make a link with which one browser can sign in, within two minutes", in: newLink{}, out: Link{}, status: http.StatusCreated,
		}},
		{"DELETE /api/v1/browsers/{id}", ClassManage, (*api).endBrowser, about{summary: "Sign a browser out"}},
	}
}

type questionList struct {
	Questions []OpenQuestion `json:"questions"`
}

type givenAnswer struct {
	Yes   bool   `json:"yes"`
	Name  string `json:"name"`
	Grant string `json:"grant"` // id of an offered grant, to allow more than this call
	// Content has the values of a server's form by field name.
	Content json.RawMessage `json:"content"`
}

type browserList struct {
	Browsers []Browser `json:"browsers"`
	// Elsewhere: a browser on another machine, such as a phone, could sign in.
	Elsewhere bool `json:"elsewhere"`
}

type newLink struct {
	Elsewhere bool `json:"elsewhere"` // for a browser on another machine, such as a phone
}

func (a *api) browsers(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, browserList{a.opts.Browsers.List(), a.opts.Browsers.Elsewhere()})
}

func (a *api) newLink(w http.ResponseWriter, r *http.Request) error {
	var wanted newLink
	if err := decodeBody(r, &wanted, `{"elsewhere":true}, or {}`); err != nil {
		return err
	}
	link, err := a.opts.Browsers.Link(wanted.Elsewhere)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, link)
}

func (a *api) endBrowser(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Browsers.End(r.Context(), r.PathValue("id")))
}

// questions lists the open questions of turns and the waiting calls of clients.
func (a *api) questions(w http.ResponseWriter, _ *http.Request) error {
	list := a.desk.list()
	if a.opts.Waiting != nil {
		waiting, err := a.opts.Waiting.List()
		if err != nil {
			return err
		}
		list = append(list, waiting...)
	}
	slices.SortStableFunc(list, func(a, b OpenQuestion) int { return a.Asked.Compare(b.Asked) })
	return answer(w, questionList{list})
}

func (a *api) answerQuestion(w http.ResponseWriter, r *http.Request) error {
	var given givenAnswer
	if err := decodeBody(r, &given, `{"yes":true}, with "name" where the question has one`); err != nil {
		return err
	}
	id := r.PathValue("id")
	if found, err := a.desk.answer(id, given); found {
		if err != nil {
			return err
		}
		return answer(w, none{})
	}
	if a.opts.Waiting == nil {
		return noQuestionError(id)
	}
	waiting, err := a.opts.Waiting.List()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(waiting, func(q OpenQuestion) bool { return q.ID == id })
	if i < 0 {
		return noQuestionError(id)
	}
	if err := checkName(id, &waiting[i].Question, given); err != nil {
		return err
	}
	if err := a.opts.Waiting.Answer(r.Context(), id, given.Yes); err != nil {
		return err
	}
	return answer(w, none{})
}

func noQuestionError(id string) error {
	return &tool.Error{
		Op: "answer", Kind: tool.NotFound, Subject: id, Message: "no such question is open; somebody may have answered it, or the call has ended",
		Hint: "GET /api/v1/questions lists what is open",
	}
}

// checkName returns an error if the question requires a name to be typed and the answer has a different one.
func checkName(id string, q *tool.Question, given givenAnswer) error {
	if !given.Yes || q.Name == "" || strings.TrimSpace(given.Name) == q.Name {
		return nil
	}
	return &tool.Error{
		Op: "answer", Kind: tool.Invalid, Code: "wrong_name", Subject: id, Message: "the name does not match; nothing was answered",
		Hint: "type it as the question shows it, or answer no",
	}
}

// desk holds the open questions of turns that were started in the pages. It is safe for concurrent use.
type desk struct {
	mu   sync.Mutex
	open map[string]*deskQuestion
}

type deskQuestion struct {
	OpenQuestion
	given chan givenAnswer // capacity 1
}

func (d *desk) list() []OpenQuestion {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []OpenQuestion{}
	for _, q := range d.open {
		list = append(list, q.OpenQuestion)
	}
	return list
}

// answer answers the question with this id, if it is open on this desk.
func (d *desk) answer(id string, given givenAnswer) (found bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.open[id]
	if q == nil {
		return false, nil
	}
	err = checkName(id, &q.Question, given)
	if q.Form != nil {
		err = q.Form.check(id, given)
	}
	if err != nil {
		return true, err
	}
	delete(d.open, id)
	q.given <- given
	return true, nil
}

// ask puts a question on the desk, and waits until it is answered or ctx ends.
func (d *desk) ask(ctx context.Context, q OpenQuestion, changed func()) (givenAnswer, error) {
	opened := &deskQuestion{q, make(chan givenAnswer, 1)}
	d.mu.Lock()
	d.open[q.ID] = opened
	d.mu.Unlock()
	changed()
	defer changed()
	select {
	case given := <-opened.given:
		return given, nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, q.ID)
	select {
	case given := <-opened.given: // it was answered just before
		return given, nil
	default:
		return givenAnswer{}, context.Cause(ctx)
	}
}

// pagePerson asks a person in the pages about calls of one turn. Anyone who is signed in may answer, in any tab.
type pagePerson struct {
	desk    *desk
	service *chat.Service
	turn    string
}

var errNotAsked = errors.New("a page cannot be asked this")

// Ask puts a question of the gate, or the form of a server, on the desk.
func (p *pagePerson) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	turn, err := p.service.Turn(ctx, p.turn)
	if err != nil {
		return nil, err
	}
	open := OpenQuestion{ID: rand.Text()[:questionID], Session: turn.Session, Turn: p.turn, Asked: time.Now().UTC()}
	switch method {
	case tool.MethodConfirm:
		if err := json.Unmarshal(params, &open.Question); err != nil {
			return nil, err
		}
	case methodElicit:
		if open.Form, err = formOf(params); err != nil {
			return nil, err
		}
		open.Question.Effect = open.Form.Message
		for _, c := range turn.Calls {
			if c.State == chat.CallAwaiting {
				open.Question.Tool = c.Name
			}
		}
	default:
		return nil, errNotAsked
	}
	given, err := p.desk.ask(ctx, open, func() { p.service.Publish(eventQuestions, turn.Session, "", none{}) })
	switch {
	case err != nil:
		return nil, err
	case open.Form != nil:
		return open.Form.result(given)
	}
	said := map[string]any{"confirm": given.Yes, "name": strings.TrimSpace(given.Name)}
	if given.Grant != "" {
		said["grant"] = given.Grant
	}
	return json.Marshal(said)
}

// questionID is the length of an id, which people type at a terminal. It is not a secret: who may answer is checked.
const questionID = 8

// eventQuestions says that the list of open questions has changed.
const eventQuestions = "questions"
