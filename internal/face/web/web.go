// Package web is the API under /api/v1, with which the command line and the pages in the browser use a running
// gateway. Package httpserver decides who may connect. This package asks for the identity of a caller, and
// refuses management to everyone but a person: at a terminal, or at a page after signing in.
//
// The entry point is [New].
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"collie/internal/chat"
	"collie/internal/pipeline"
	"collie/internal/tool"
)

// Identity is who sent a request.
type Identity struct {
	Principal string
	Origin    tool.Origin
	Manage    bool
	// Browser says that a person sits at a page, and can be asked there.
	Browser bool
	// Profile returns the profile for a request that asks for one (empty: for none), or the reason of a
	// refusal. If Profile is nil, the request gets the profile it asks for.
	Profile func(asked string) (string, error)
	// Only is the profile whose conversations alone the caller may see; nil for one who may see all.
	Only *string
}

func (who Identity) profile(asked string) (string, error) {
	if who.Profile == nil {
		return asked, nil
	}
	return who.Profile(asked)
}

// Servers is the part of the upstream servers that this face needs.
type Servers interface {
	List() []tool.ServerStatus
	// Tail yields the lines of a server's log that f selects, oldest first. With f.Follow it goes on with new
	// ones until ctx ends. If the server is unknown, the error is of kind NotFound.
	Tail(ctx context.Context, name string, f tool.LogFilter) (iter.Seq2[tool.LogLine, error], error)
	// Start, Stop, Restart and Refresh return the state of the server after the operation.
	Start(ctx context.Context, name string) (tool.ServerStatus, error)
	Stop(ctx context.Context, name string) (tool.ServerStatus, error)
	Restart(ctx context.Context, name string) (tool.ServerStatus, error)
	Refresh(ctx context.Context, name string) (tool.ServerStatus, error)
	// Changes returns the tool definitions that wait for approval. Approve approves those in shown, which has their hashes by
	// tool, and returns how many there were; it fails with StateChanged if one of them is another now.
	Changes(name string) (map[string]tool.DefinitionChange, error)
	Approve(ctx context.Context, name string, shown map[string]string) (int, error)
	// Await waits until the named servers, or all if names is nil, have started or failed for the first time.
	Await(ctx context.Context, names []string) error
}

// Options are what the API gives access to. A gateway sets all fields; a field may be nil where nobody asks a route that uses it.
type Options struct {
	Pipeline *pipeline.Pipeline
	Servers  Servers
	// Editor changes which servers there are.
	Editor Editor
	// Tools returns what a profile sees, for display to people.
	Tools func(profile string) []tool.Tool
	// Prompts returns the prompts that a profile shows, for display to people.
	Prompts func(profile string) []tool.SourcePrompt
	// Switch switches a tool, or one of its actions, on or off, and returns when that is in effect.
	Switch func(ctx context.Context, name, action string, on bool) error
	// Describe sets the alias and the description of a server's tool, and returns when they are in effect; empty ones are the
	// server's own.
	Describe func(ctx context.Context, name, action, alias, description string) error
	// Rebalance chooses the views of servers anew, if that is automatic.
	Rebalance func() error
	// SettingsProblem returns what is wrong with the present settings, so that older ones are in effect; empty if
	// nothing is.
	SettingsProblem func() string
	// Reread reads the settings again, and returns when changes are in effect.
	Reread func(context.Context) error
	// CacheStats returns figures about the tool cache.
	CacheStats func() any
	// Cache is the tool cache itself.
	Cache Cache
	// Chat is the agent host, which is opened at its first use.
	Chat func(context.Context) (*chat.Service, error)
	// Providers are the providers of language models.
	Providers Providers
	// Agents are the files of agents.
	Agents Agents
	// Notes returns the management of the notes, or why there are none.
	Notes func() (Notes, error)
	// Kernels are the connections to SiYuan.
	Kernels Kernels
	// Grants are what people have allowed.
	Grants Grants
	// Clients are the MCP clients of this machine, and their tokens.
	Clients Clients
	// Settings are those that people change at a page.
	Settings Settings
	// Audit is the record of calls and changes.
	Audit Audit
	// Doctor looks for what could keep the gateway from working.
	Doctor Doctor
	// Browsers are the browsers in which a person has signed in.
	Browsers Browsers
	// Waiting are the calls of clients that wait for a person; nil for none.
	Waiting Waiting
	// Translate returns an English text of the gateway in a language such as zh; texts that it does not know, and all
	// in languages that it does not have, as they are.
	Translate func(language, text string) string
	// Record writes into the audit what a person has changed; nil does not. Commands of the command line record what
	// they change themselves.
	Record func(ctx context.Context, command string, detail map[string]any)
	// Admit returns an error to refuse a request to a route of this class; nil admits all.
	Admit func(*http.Request, Class) error
	// Streams is called when events of a stream were written; nil is allowed.
	Streams func()
	// Identify says who sent a request.
	Identify func(*http.Request) Identity
}

// Class says what a route does. A call goes through the pipeline; management is refused to callers that may
// not manage.
type Class string

// The classes of routes.
const (
	ClassCall   Class = "call"
	ClassRead   Class = "read"
	ClassManage Class = "manage"
	ClassChat   Class = "chat" // conversations; what they call goes through the pipeline with origin chat
)

// Route is one entry of the API.
type Route struct {
	Pattern string // in the syntax of net/http.ServeMux
	Class   Class
	handle  func(*api, http.ResponseWriter, *http.Request) error
	about   about
}

// about is what the API document says about a route; a route without a summary is left out.
type about struct {
	summary string
	query   []string // "name: what it is"
	in, out any      // values of the types of the bodies; nil for none
	status  int      // 0: 200, or 204 without a body
	framed  bool     // also from the panel, though it changes something; see checkFrame
	asks    bool     // as lines of JSON, a person's program is asked meanwhile: askLine and askAnswer
}

// Bodies that are not JSON.
type (
	eventStream struct{} // server-sent events
	file        struct{} // bytes of any type
	markdown    struct{}
)

// none is a body without members.
type none struct{}

// Routes returns every route of the API.
func Routes() []Route {
	return slices.Concat(toolRoutes(), editorRoutes(), switchRoutes(), auditRoutes(), doctorRoutes(), clientRoutes(), settingRoutes(), grantRoutes(), agentRoutes(), providerRoutes(), chatRoutes(), kernelRoutes(), personRoutes(), translateRoutes(), noteRoutes())
}

// toolRoutes returns the routes of tools and servers.
func toolRoutes() []Route {
	waits := "await: first waits until the server of that name, or all for *, has started; may be repeated"
	profile := "profile: as clients of this profile see it"
	return []Route{
		{"GET /api/v1/mcp/servers", ClassManage, (*api).servers, about{summary: "The MCP servers and how they are", out: serverList{}}},
		{"GET /api/v1/mcp/servers/{name}", ClassManage, (*api).server, about{summary: "How one server is", out: oneServer{}}},
		{"GET /api/v1/mcp/servers/{name}/logs", ClassManage, (*api).logs, about{summary: "What a server has logged", out: logLines{}, query: []string{
			"since: lines from this time on (RFC 3339)", "stream: lines of this stream; may be repeated", "lines: the last ones, this many",
			"follow: with 1, the answer is a stream of events that goes on with new lines",
		}}},
		{"GET /api/v1/mcp/servers/{name}/changes", ClassManage, (*api).changes, about{summary: "Tool definitions that wait for approval, by tool", out: changedTools{}}},
		{"POST /api/v1/mcp/servers/{name}/approve", ClassManage, (*api).approve, about{summary: "Accept changed tool definitions, all where none is named", in: approval{}, out: approved{}}},
		{"POST /api/v1/mcp/servers/{name}/start", ClassManage, serverOperation(Servers.Start), about{summary: "Start a server", out: oneServer{}}},
		{"POST /api/v1/mcp/servers/{name}/stop", ClassManage, serverOperation(Servers.Stop), about{summary: "Stop a server", out: oneServer{}}},
		{"POST /api/v1/mcp/servers/{name}/restart", ClassManage, serverOperation(Servers.Restart), about{summary: "Restart a server", out: oneServer{}}},
		{"POST /api/v1/mcp/servers/{name}/refresh", ClassManage, serverOperation(Servers.Refresh), about{summary: "Ask a server for its lists again", out: oneServer{}}},
		{"POST /api/v1/settings/reread", ClassManage, (*api).reread, about{summary: "Read the settings again, and answer once they are in effect", out: reread{}}},
		{"GET /api/v1/toolcache/stats", ClassManage, (*api).cacheStats, about{summary: "Figures about the tool cache", out: map[string]any{}}},
		{"POST /api/v1/toolcache/clear", ClassManage, (*api).clearCache, about{summary: "Forget the lists of the named servers, or all of them for an empty list", in: clearing{}, out: cleared{}}},
		{"POST /api/v1/toolcache/flush", ClassManage, (*api).flushCache, about{summary: "Write pending changes of the tool cache", out: none{}}},
		{"/api/v1/toolcache", ClassRead, (*api).sharingGone, about{}},
		{"/api/v1/toolcache/events", ClassRead, (*api).sharingGone, about{}},
		{"/api/v1/toolcache/leases/{server}", ClassRead, (*api).sharingGone, about{}},
		{"POST /api/v1/tools/rebalance", ClassManage, (*api).rebalance, about{summary: "Choose the views of servers anew", out: none{}}},
		{"GET /api/v1/openapi.json", ClassRead, (*api).document, about{summary: "This document, as OpenAPI 3.1", out: map[string]any{}}},
		{"GET /api/v1/tools", ClassRead, (*api).tools, about{summary: "What a profile sees, what is switched off too", out: toolList{}, query: []string{profile, waits}}},
		{"GET /api/v1/lists/{kind}", ClassRead, (*api).list, about{
			summary: "An MCP list as clients get it: tools, resources, resourceTemplates or prompts", out: json.RawMessage{}, query: []string{profile, waits},
		}},
		{"GET /api/v1/prompts", ClassRead, (*api).prompts, about{summary: "The prompts of all servers", out: promptList{}, query: []string{profile, waits}}},
		{"POST /api/v1/prompts", ClassCall, (*api).getPrompt, about{summary: "Fill in a prompt, and answer with its MCP result", in: promptRequest{}, out: json.RawMessage{}}},
		{"POST /api/v1/resources", ClassCall, (*api).readResource, about{summary: "Read a resource, and answer with its MCP result", in: resourceRequest{}, out: json.RawMessage{}}},
		{"POST /api/v1/calls", ClassCall, (*api).call, about{summary: "Call an action, and answer with its MCP result", in: callRequest{}, out: callAnswer{}}},
	}
}

type api struct {
	opts Options
	desk desk
}

// New returns the handler of the API.
func New(opts Options) http.Handler {
	a := &api{opts: opts, desk: desk{open: map[string]*deskQuestion{}}}
	if a.opts.Streams == nil {
		a.opts.Streams = func() {}
	}
	mux := http.NewServeMux()
	for _, r := range Routes() {
		mux.HandleFunc(r.Pattern, func(w http.ResponseWriter, req *http.Request) {
			if opts.Identify(req).Browser {
				req = req.WithContext(tool.ActingThrough(req.Context(), tool.PagesClient))
			}
			if opts.Admit != nil {
				if err := opts.Admit(req, r.Class); err != nil {
					refuse(w, err)
					return
				}
			}
			if r.Class == ClassManage && !opts.Identify(req).Manage {
				refuse(w, &tool.Error{
					Op: "manage", Kind: tool.Denied, Message: "only a person may ask this: at the command line of the same user, or at a page after signing in",
					Hint: "run collie on the machine of the gateway",
				})
				return
			}
			err := checkFrame(req, &r)
			if err == nil {
				err = a.checkReach(req, &r)
			}
			if err == nil {
				err = r.handle(a, w, req)
			}
			if err != nil {
				refuse(w, err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { noRoute(w, r, mux) })
	return mux
}

// record writes into the audit what a person at a page has changed.
func (a *api) record(r *http.Request, command string, detail map[string]any) {
	if a.opts.Record != nil && a.opts.Identify(r).Browser {
		a.opts.Record(r.Context(), command, detail)
	}
}

// noRoute answers a request with an unknown path, or with a method that the path does not have.
func noRoute(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	e := &tool.Error{
		Op: "ask", Kind: tool.NotFound, Subject: r.URL.Path, Message: "this API has no such path",
		Hint: "GET /api/v1/openapi.json lists the endpoints",
	}
	var methods []string
	asked := *r
	for _, asked.Method = range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if _, pattern := mux.Handler(&asked); pattern != "/" {
			methods = append(methods, asked.Method)
		}
	}
	if len(methods) == 0 {
		refuse(w, e)
		return
	}
	allow := strings.Join(methods, ", ")
	w.Header().Set("Allow", allow)
	e.Kind, e.Message = tool.Invalid, fmt.Sprintf("the method is %s, expected %s", r.Method, allow)
	Refuse(w, http.StatusMethodNotAllowed, e.Payload())
}

// reread reads the settings again, for callers that have changed them.
func (a *api) reread(w http.ResponseWriter, r *http.Request) error {
	if err := a.opts.Reread(r.Context()); err != nil {
		return err
	}
	return answer(w, reread{a.opts.SettingsProblem()})
}

type reread struct {
	Wrong string `json:"wrong"` // what is wrong with the settings, so that older ones are in effect
}

type toolList struct {
	Tools []tool.Tool `json:"tools"`
}

// rebalance chooses the views of servers anew.
func (a *api) rebalance(w http.ResponseWriter, _ *http.Request) error {
	if err := a.opts.Rebalance(); err != nil {
		return err
	}
	return answer(w, none{})
}

// tools lists what a profile sees, including tools that are off. With ?await=NAME, or ?await=* for all, it
// first waits until that server has started.
func (a *api) tools(w http.ResponseWriter, r *http.Request) error {
	if err := a.await(r); err != nil {
		return err
	}
	profile, err := a.opts.Identify(r).profile(r.URL.Query().Get("profile"))
	if err != nil {
		return err
	}
	return answer(w, toolList{a.opts.Tools(profile)})
}

// list answers with an MCP list, byte for byte as clients get it. It accepts ?await too.
func (a *api) list(w http.ResponseWriter, r *http.Request) error {
	if err := a.await(r); err != nil {
		return err
	}
	profile, err := a.opts.Identify(r).profile(r.URL.Query().Get("profile"))
	if err != nil {
		return err
	}
	raw, _ := a.opts.Pipeline.List(r.Context(), tool.ListKind(r.PathValue("kind")), profile)
	if raw == nil {
		return &tool.Error{Op: "list", Kind: tool.NotFound, Subject: r.PathValue("kind"), Message: "no such list", Hint: "tools, resources, resourceTemplates or prompts"}
	}
	return answer(w, raw)
}

func (a *api) await(r *http.Request) error {
	names := r.URL.Query()["await"]
	if len(names) == 0 {
		return nil
	}
	if slices.Contains(names, "*") {
		names = nil
	}
	return a.opts.Servers.Await(r.Context(), names)
}

func answer(w http.ResponseWriter, v any) error {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = encode(v); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // an error means that the client has gone
	return nil
}

// encode encodes v without escaping < > &.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// refuse writes an error.
func refuse(w http.ResponseWriter, err error) {
	status, body := errorBody(err)
	Refuse(w, status, body)
}

// Refuse answers with a status and an error in the form of [tool.Error.Payload].
func Refuse(w http.ResponseWriter, status int, body json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone
}

// errorBody returns an error in the form of [tool.Error.Payload], or a server's own error under
// "protocolError".
func errorBody(err error) (status int, body json.RawMessage) {
	if e, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return http.StatusBadGateway, slices.Concat(json.RawMessage(`{"protocolError":`), e.Raw, json.RawMessage(`}`))
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		e = &tool.Error{Op: "call", Kind: tool.Internal, Err: err}
		if errors.Is(err, context.Canceled) {
			e.Kind = tool.Canceled
		}
	}
	return statusOf(e.Kind), e.Payload()
}

// statusOf maps kinds of error to HTTP status codes.
func statusOf(kind tool.ErrorKind) int {
	switch kind.Class() {
	case tool.Invalid, tool.Conflicting, tool.Ambiguous:
		return http.StatusBadRequest
	case tool.Denied, tool.Disabled, tool.Unconfirmed, tool.Declined, tool.NeedsAuth:
		return http.StatusForbidden
	case tool.NotFound, tool.Removed:
		return http.StatusNotFound
	case tool.Exists, tool.Conflict, tool.StateChanged:
		return http.StatusConflict
	case tool.Busy:
		return http.StatusTooManyRequests
	case tool.Unavailable, tool.Crashed, tool.Upstream, tool.TooLarge, tool.Unauthorized, tool.LevelsUnknown:
		return http.StatusBadGateway
	case tool.Timeout:
		return http.StatusGatewayTimeout
	case tool.Unaudited:
		return http.StatusServiceUnavailable
	case tool.Canceled, tool.Internal:
	}
	return http.StatusInternalServerError
}
