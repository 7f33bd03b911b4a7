package web

import (
	"encoding/json"
	"mime"
	"net/http"

	"collie/internal/chat"
	"collie/internal/tool"
)

// This file handles requests that branch, prune, export and import sessions.

type selection struct {
	Index *int `json:"index"` // the place of the child, from 0
}

type forking struct {
	Extent chat.Extent `json:"extent"` // path, unless it is subtree or all
}

// selectBranch continues the active path below a message with the child at an index.
func (a *api) selectBranch(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	var body selection
	if err := decodeBody(r, &body, `{"index":0}`); err != nil {
		return err
	}
	if body.Index == nil {
		return &tool.Error{Op: "select", Kind: tool.Invalid, Subject: "index", Message: "it is missing, expected the place of the child, from 0"}
	}
	v, err := s.Select(r.Context(), r.PathValue("id"), *body.Index)
	if err != nil {
		return err
	}
	return answer(w, v)
}

// fork creates a session with a copy of the messages around one; the default extent is path.
func (a *api) fork(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	body := forking{chat.ForkPath}
	if err := decodeBody(r, &body, `{"extent":"path"}, or subtree, or all`); err != nil {
		return err
	}
	made, err := s.Fork(r.Context(), r.PathValue("id"), body.Extent)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, made)
}

// deleteMessage deletes a message with everything below it, or with ?keepChildren=true only the message itself.
func (a *api) deleteMessage(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	if err := s.DeleteMessage(r.Context(), r.PathValue("id"), r.URL.Query().Get("keepChildren") == "true"); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// prune deletes all branches of a session except the active path.
func (a *api) prune(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	v, err := s.Prune(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return answer(w, v)
}

// export sends a session as a file: ?format=json, which import accepts, markdown or html. ?redact=true leaves out
// arguments and results of tools.
func (a *api) export(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	format, media := q.Get("format"), "application/json"
	switch format {
	case "", "json":
		format = "json"
	case "markdown":
		media = "text/markdown; charset=utf-8"
	case "html":
		media = "text/html; charset=utf-8"
		w.Header().Set("Content-Security-Policy", "sandbox; "+chat.PagePolicy)
	default:
		return &tool.Error{Op: "export", Kind: tool.Invalid, Subject: "format", Message: "expected json, markdown or html"}
	}
	data, err := s.Export(r.Context(), r.PathValue("id"), format, q.Get("redact") == "true")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(data) // a client that has gone needs no answer
	return nil
}

// noteRequest is the body of POST /api/v1/sessions/{id}/note.
type noteRequest struct {
	Path      string `json:"path"`      // of the document
	Overwrite bool   `json:"overwrite"` // replace the text of a document that exists
	Redact    bool   `json:"redact"`    // leave out what tools were called with and what they answered
}

// exportNote writes a session as Markdown into a document. It is a call like any other: the levels of notebooks hold, a
// person may be asked, and it is on record.
func (a *api) exportNote(w http.ResponseWriter, r *http.Request) error {
	var req noteRequest
	if err := decodeBody(r, &req, `{"path":"/Notebook/Title"}`); err != nil {
		return err
	}
	if req.Path == "" {
		return &tool.Error{Op: "export", Kind: tool.Invalid, Subject: "path", Message: "expected the path of a document, such as /Notebook/Title"}
	}
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	text, err := s.Export(r.Context(), r.PathValue("id"), "markdown", req.Redact)
	if err != nil {
		return err
	}
	args, err := json.Marshal(map[string]any{"path": req.Path, "markdown": string(text), "overwrite": req.Overwrite})
	if err != nil {
		return err
	}
	who := a.opts.Identify(r)
	profile, err := who.profile("")
	if err != nil {
		return err
	}
	result, err := a.opts.Pipeline.Do(r.Context(), tool.Request{
		Kind: tool.KindCall, Name: "fs/write", Args: args, Profile: profile, Origin: who.Origin, Principal: who.Principal, Client: "collie sessions export",
	})
	if err != nil {
		return err
	}
	return answer(w, resultBody(result))
}

// importSession adds a session that was exported as JSON.
func (a *api) importSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.chat(r)
	if err != nil {
		return err
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		return &tool.Error{Op: "import", Kind: tool.Invalid, Subject: "Content-Type", Message: "expected application/json"}
	}
	made, err := s.Import(r.Context(), r.Body, a.opts.Identify(r).Only)
	if err != nil {
		return err
	}
	return answerWith(w, http.StatusCreated, made)
}
