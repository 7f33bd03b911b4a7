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

// Browsers are the browsers in which a person has signed in.
type Browsers interface {
	// Link returns the address of a new link with which one browser can sign in, and when that ends.
	Link() (address string, until time.Time)
	List() []Browser
	// End signs a browser out. If it is unknown, the error is of kind NotFound.
	End(ctx context.Context, id string) error
}

// Browser is one in which a person has signed in.
type Browser struct {
	ID   string    `json:"id"`
	Name string    `json:"name"` // the program and its system, as it calls itself
	Host string    `json:"host"` // the address for which it signed in
	Made time.Time `json:"made"`
	Used time.Time `json:"used"` // to the day
}

// Waiting are the calls of clients that wait for a person.
type Waiting interface {
	List() ([]OpenQuestion, error)
	// Answer answers the call with this id. The first answer counts: for a later one the error is of kind Conflict.
	Answer(ctx context.Context, id string, yes bool) error
}

// OpenQuestion is a question of the gate that no person has answered yet.
type OpenQuestion struct {
	ID string `json:"id"`
	// Session and Turn are where a turn waits for the answer; empty for the call of a client, which has been refused
	// and may be made again.
	Session  string        `json:"sessionId,omitempty"`
	Turn     string        `json:"turnId,omitempty"`
	Client   string        `json:"client,omitempty"`
	Question tool.Question `json:"question"`
	Asked    time.Time     `json:"asked"`
}

// personRoutes returns the routes of people: how they come in, and what they are asked.
func personRoutes() []Route {
	return []Route{
		{"GET /api/v1/questions", ClassManage, (*api).questions, about{summary: "What waits for a person, the oldest first", out: questionList{}}},
		{"POST /api/v1/questions/{id}", ClassManage, (*api).answerQuestion, about{
			summary: "Answer a question; where it has a name, a yes needs that name; the first answer counts", in: givenAnswer{}, out: none{},
		}},
		{"GET /api/v1/browsers", ClassManage, (*api).browsers, about{summary: "The browsers in which a person has signed in", out: browserList{}}},
		{"POST /api/v1/browsers/links", ClassManage, (*api).newLink, about{
			summary: "Make a link with which one browser can sign in, within two minutes", in: none{}, out: newLink{}, status: http.StatusCreated,
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
	Grant string `json:"grant"` // id of one of the grants that the question offers, to allow more than this call
}

type browserList struct {
	Browsers []Browser `json:"browsers"`
}

type newLink struct {
	Address string    `json:"address"`
	Until   time.Time `json:"until"`
}

func (a *api) browsers(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, browserList{a.opts.Browsers.List()})
}

func (a *api) newLink(w http.ResponseWriter, r *http.Request) error {
	if err := decodeBody(r, &none{}, `{}`); err != nil {
		return err
	}
	address, until := a.opts.Browsers.Link()
	return answerWith(w, http.StatusCreated, newLink{address, until})
}

func (a *api) endBrowser(w http.ResponseWriter, r *http.Request) error {
	return answerNoContent(w, a.opts.Browsers.End(r.Context(), r.PathValue("id")))
}

// questions lists what waits in turns, and what waits under a code.
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
		return noQuestion(id)
	}
	waiting, err := a.opts.Waiting.List()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(waiting, func(q OpenQuestion) bool { return q.ID == id })
	if i < 0 {
		return noQuestion(id)
	}
	if err := rightName(id, &waiting[i].Question, given); err != nil {
		return err
	}
	if err := a.opts.Waiting.Answer(r.Context(), id, given.Yes); err != nil {
		return err
	}
	return answer(w, none{})
}

func noQuestion(id string) error {
	return &tool.Error{
		Op: "answer", Kind: tool.NotFound, Subject: id, Message: "no such question is open; somebody may have answered it, or the call has ended",
		Hint: "GET /api/v1/questions lists what is open",
	}
}

// rightName is why an answer does not agree to a question that wants a name typed.
func rightName(id string, q *tool.Question, given givenAnswer) error {
	if !given.Yes || q.Name == "" || strings.TrimSpace(given.Name) == q.Name {
		return nil
	}
	return &tool.Error{
		Op: "answer", Kind: tool.Invalid, Code: "wrong_name", Subject: id, Message: "the name does not match; nothing was answered",
		Hint: "type it as the question shows it, or answer no",
	}
}

// desk holds the questions of turns whose person sits at a page. It is safe for concurrent use.
type desk struct {
	mu   sync.Mutex
	open map[string]*deskQuestion
}

type deskQuestion struct {
	OpenQuestion
	given chan givenAnswer // has room for one
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

// answer answers the question with this id, if it is open here.
func (d *desk) answer(id string, given givenAnswer) (found bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.open[id]
	if q == nil {
		return false, nil
	}
	if err := rightName(id, &q.Question, given); err != nil {
		return true, err
	}
	delete(d.open, id)
	q.given <- given
	return true, nil
}

// put opens a question until it is answered or ctx ends.
func (d *desk) put(ctx context.Context, q OpenQuestion, changed func()) (givenAnswer, error) {
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

// pagePerson asks the person at the pages about the calls of one turn. Whoever has signed in may answer, in any tab.
type pagePerson struct {
	desk    *desk
	service *chat.Service
	turn    string
}

var errNoForm = errors.New("pages show no forms of servers")

// Ask puts a question of the gate on the desk. Pages show no forms of servers, so these are declined.
func (p *pagePerson) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case tool.MethodConfirm:
	case "elicitation/create":
		return json.RawMessage(`{"action":"decline"}`), nil
	default:
		return nil, errNoForm
	}
	var q tool.Question
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, err
	}
	turn, err := p.service.Turn(ctx, p.turn)
	if err != nil {
		return nil, err
	}
	open := OpenQuestion{ID: rand.Text()[:questionID], Session: turn.Session, Turn: p.turn, Question: q, Asked: time.Now().UTC()}
	given, err := p.desk.put(ctx, open, func() { p.service.Publish(eventQuestions, turn.Session, "", none{}) })
	if err != nil {
		return nil, err
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
