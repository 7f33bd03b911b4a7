package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// bodyLimit is larger than any API accepts.
const bodyLimit = 64 << 20

// Server is a provider that follows a [Script]. It is an [http.Handler] and safe for concurrent use.
type Server struct {
	script Script
	record func(Request)

	mu       sync.Mutex
	requests []Request
	attempts map[[2]int]int // by conversation and turn
}

// Options are the optional parts of a Server.
type Options struct {
	// Record is called with each request after it was answered, one at a time.
	Record func(Request)
}

// New returns a Server that follows script, or an error if script is invalid.
func New(script Script, opts Options) (*Server, error) {
	if err := script.check(); err != nil {
		return nil, err
	}
	return &Server{script: script, record: opts.Record, attempts: map[[2]int]int{}}, nil
}

// Requests returns all requests so far, with their answers.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Faults returns the reasons of all refusals that the script does not ask for.
func (s *Server) Faults() (faults []string) {
	for _, r := range s.Requests() {
		if r.Fault != "" {
			faults = append(faults, fmt.Sprintf("%s %s: %s", r.Method, r.Path, r.Fault))
		}
	}
	return faults
}

// dialect is one API: how to read its requests and write its answers.
type dialect struct {
	name  string
	tools *regexp.Regexp // valid names of tools
	read  func(r *Request) error
	// whole returns a complete answer, frames the pieces of a streamed one.
	whole  func(r *Request, a answer) any
	frames func(r *Request, a answer) []frame
	// counted returns the answer to a request to count tokens.
	counted func(n int) any
	listed  func(models []string) any
	problem func(p problem) any
	// broken returns the piece of a stream that reports an error.
	broken func(p problem) frame
	// lines says that pieces are lines of JSON and not events.
	lines bool
	// end is the text that ends a stream, after its last piece.
	end string
}

// problem is an error in the form of an API.
type problem struct {
	status    int
	kind      string
	message   string
	requestID string
}

// frame is one piece of a stream.
type frame struct {
	event string
	data  any
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	r := &Request{Method: hr.Method, Path: hr.URL.RequestURI(), Header: hr.Header.Clone(), Turn: -1}
	defer s.recordRequest(r) // also runs for an aborted request
	body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, bodyLimit))
	if err != nil {
		r.Fault = "read the body: " + err.Error()
		return
	}
	if r.Body = body; !json.Valid(body) {
		r.Body, _ = json.Marshal(string(body))
	}
	d := route(r, hr)
	if d == nil {
		r.Status = http.StatusNotFound
		http.Error(w, `{"error":{"message":"fakellm has no such path"}}`, r.Status)
		return
	}
	s.serve(w, hr, r, d)
}

// recordRequest records r.
func (s *Server) recordRequest(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, *r)
	if s.record != nil {
		s.record(*r)
	}
}

// route finds the API of a request and fills in the request's fields; nil if no API has the path.
func route(r *Request, hr *http.Request) *dialect {
	path := strings.TrimSuffix(hr.URL.Path, "/")
	model, method, isGemini := geminiPath(path)
	var d *dialect
	switch {
	case hr.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		r.Lists = true
		d = listDialect(hr)
	case hr.Method == http.MethodGet && strings.HasSuffix(path, "/api/tags"):
		r.Lists, d = true, &ollama
	case hr.Method != http.MethodPost:
		return nil
	case strings.HasSuffix(path, "/messages/count_tokens"):
		d, r.Counts = &anthropic, true
	case strings.HasSuffix(path, "/messages"):
		d = &anthropic
	case strings.HasSuffix(path, "/responses"):
		d = &responses
	case strings.HasSuffix(path, "/chat/completions"):
		d = &completions
	case strings.HasSuffix(path, "/api/chat"):
		d = &ollama
	case strings.HasSuffix(path, "/api/show"):
		r.Shows, d = true, &ollama
	case isGemini:
		d, r.Model = &gemini, model
		r.Stream, r.Counts = method == "streamGenerateContent", method == "countTokens"
	}
	if d != nil {
		r.API, r.Key = d.name, sentKey(hr)
	}
	return d
}

// listDialect finds out from headers and path in which API's form to list models.
func listDialect(hr *http.Request) *dialect {
	switch {
	case hr.Header.Get("Anthropic-Version") != "":
		return &anthropic
	case hr.Header.Get("X-Goog-Api-Key") != "" || hr.URL.Query().Has("key"):
		return &gemini
	}
	return &completions
}

// sentKey returns the key of a request, from wherever the API puts it.
func sentKey(hr *http.Request) string {
	for _, k := range []string{hr.Header.Get("X-Api-Key"), hr.Header.Get("X-Goog-Api-Key"), hr.URL.Query().Get("key")} {
		if k != "" {
			return k
		}
	}
	k, _ := strings.CutPrefix(hr.Header.Get("Authorization"), "Bearer ")
	return k
}

// serve answers a request to an API.
func (s *Server) serve(w http.ResponseWriter, hr *http.Request, r *Request, d *dialect) {
	out := &writer{ResponseWriter: w, request: hr, asked: r, dialect: d}
	if r.Key == "" && d != &ollama {
		out.refuse(http.StatusUnauthorized, "a key is wanted")
		return
	}
	if r.Lists {
		out.json(http.StatusOK, d.listed(s.models()))
		return
	}
	if r.Shows {
		out.json(http.StatusOK, ollamaShown)
		return
	}
	if err := d.read(r); err != nil {
		out.refuse(http.StatusBadRequest, err.Error())
		return
	}
	if r.Counts {
		out.json(http.StatusOK, d.counted(tokens(string(r.Body))))
		return
	}
	if err := r.check(d.tools); err != nil {
		out.refuse(http.StatusBadRequest, err.Error())
		return
	}
	a, failure, err := s.choose(r)
	switch {
	case err == nil && failure == nil && a.raw != nil:
		out.raw(a.raw)
	case err != nil:
		out.refuse(http.StatusBadRequest, err.Error())
	case failure != nil && failure.Status != 0:
		out.fail(*failure)
	case r.Stream && d == &gemini && hr.URL.Query().Get("alt") != "sse":
		out.json(http.StatusOK, chunks(d.frames(r, a)))
	case r.Stream:
		out.stream(d.frames(r, a), a, failure)
	case failure != nil:
		out.breakOff(*failure)
	default:
		out.json(http.StatusOK, d.whole(r, a))
	}
}

// chunks returns the pieces of a stream as one array, which is how Gemini streams unless events are
// requested.
func chunks(frames []frame) (list []any) {
	for _, f := range frames {
		list = append(list, f.data)
	}
	return list
}

// models returns the names for a list of models.
func (s *Server) models() []string {
	if len(s.script.Models) == 0 {
		return []string{"fake-1"}
	}
	return s.script.Models
}

// choose returns the script's answer to r, and the failure of this attempt, if any.
func (s *Server) choose(r *Request) (answer, *Failure, error) {
	at := slices.IndexFunc(s.script.Conversations, func(c Conversation) bool { return c.When.fits(r) })
	if at < 0 {
		return answer{}, nil, errors.New("no conversation of the script fits")
	}
	c := s.script.Conversations[at]
	if len(r.Tools) == 0 && c.hasCalls() {
		return newAnswer(r, Turn{Say: orDefault(c.Aside, "{}")}, nil), nil, nil
	}
	turn := r.answered(c.waitToolName(r))
	if turn >= len(c.Turns) {
		return answer{}, nil, fmt.Errorf("conversations[%d] of the script has %d turns and is asked for one more", at, len(c.Turns))
	}
	t := c.Turns[turn]
	calls, err := r.resolve(t.Call)
	if err != nil && c.Wait != nil {
		calls, err = r.resolve([]Call{*c.Wait})
		return newAnswer(r, Turn{}, calls), nil, err
	}
	if err != nil {
		return answer{}, nil, err
	}
	r.Turn, r.Attempt = turn, s.attempt(at, turn)
	a := newAnswer(r, t, calls)
	if r.Attempt < len(t.Fail) {
		return a, &t.Fail[r.Attempt], nil
	}
	return a, nil, nil
}

// waitToolName returns the name that the tool of Wait has in the history; empty if it is not there.
func (c Conversation) waitToolName(r *Request) string {
	if c.Wait == nil {
		return ""
	}
	tool, err := r.find(c.Wait.Tool)
	if err != nil {
		return ""
	}
	return tool.Namespace + tool.Name
}

// attempt counts the requests for a turn and returns how many there were before.
func (s *Server) attempt(conversation, turn int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.attempts[[2]int{conversation, turn}]
	s.attempts[[2]int{conversation, turn}]++
	return n
}

// orDefault returns s, or other if s is empty.
func orDefault(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
