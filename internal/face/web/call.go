package web

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"

	"collie/internal/tool"
)

// callRequest is the body of POST /api/v1/calls.
type callRequest struct {
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args"`
	Profile string          `json:"profile"`
	// Params and Capabilities are for a stream: further MCP parameters, such as a progress token, and the
	// capabilities of the caller, as an MCP client declares them.
	Params       json.RawMessage `json:"params"`
	Capabilities json.RawMessage `json:"capabilities"`
	// Confirms says that the caller has [tool.CanConfirm]. It counts only in a stream of the command line or of a browser that is signed in.
	Confirms bool `json:"confirms"`
	// Progress asks for progress notifications in a stream without a progress token.
	Progress bool `json:"progress"`
	// Trace asks for the steps of the call, in a stream of the command line or of a browser that is signed in.
	Trace bool `json:"trace"`
}

// call runs one action through the pipeline. A body of type application/x-ndjson starts a stream; see
// [dialogue].
func (a *api) call(w http.ResponseWriter, r *http.Request) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch media {
	case streamType:
		return a.runDialogue(w, r)
	case "application/json":
	default: // a page of a foreign site can send other types without a preflight
		return &tool.Error{Op: "call", Kind: tool.Invalid, Subject: "Content-Type", Message: "expected application/json or " + streamType}
	}
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	c, _, err := a.readCall(r, body)
	if err != nil {
		return err
	}
	result, err := a.opts.Pipeline.Do(r.Context(), c)
	if err != nil {
		return err
	}
	return answer(w, resultBody(result))
}

// readCall reads the request, and ignores claims that this caller may not make.
func (a *api) readCall(r *http.Request, body *json.Decoder) (tool.Request, callRequest, error) {
	var req callRequest
	if err := body.Decode(&req); err != nil {
		return tool.Request{}, req, &tool.Error{Op: "call", Kind: tool.Invalid, Subject: "body", Message: `expected {"name":…,"args":{…}}`, Err: err}
	}
	if len(req.Args) == 0 || string(req.Args) == "null" {
		req.Args = json.RawMessage("{}")
	}
	who := a.opts.Identify(r)
	profile, err := who.profile(req.Profile)
	if err != nil {
		return tool.Request{}, req, err
	}
	// A model may hold any key except that of the command line, and cannot sign a browser in.
	ours := who.Manage && who.Origin == tool.Direct
	req.Confirms, req.Trace = req.Confirms && ours, req.Trace && ours
	client := "collie call"
	if who.Browser {
		client = tool.PagesClient
	}
	return tool.Request{
		Kind: tool.KindCall, Name: req.Name, Args: req.Args, Profile: profile, Params: req.Params,
		Origin: who.Origin, Principal: who.Principal, Client: client,
	}, req, nil
}

// callAnswer is what resultBody writes.
type callAnswer struct {
	IsError bool            `json:"isError"`
	Result  json.RawMessage `json:"result"`
}

// resultBody returns {"isError":…,"result":…}; the result keeps its bytes.
func resultBody(r tool.Result) json.RawMessage {
	head := `{"isError":false,"result":`
	if r.IsError {
		head = `{"isError":true,"result":`
	}
	return slices.Concat(json.RawMessage(head), r.Raw, json.RawMessage(`}`))
}
