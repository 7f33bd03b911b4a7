package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
)

// This file sends messages to the API of conversations and follows the answers, for `collie agent` and `collie chat`.

// Asker asks the person questions while a turn runs.
type Asker interface {
	// Capabilities says what the person can be asked for, in the form of MCP client capabilities.
	Capabilities() json.RawMessage
	// Ask returns the answer to a question of the gate or of a server. It is called concurrently.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Newest returns the id of the session that changed last, empty if there is none.
func (a *API) Newest(ctx context.Context) (string, error) {
	var page struct{ Sessions []struct{ ID string } }
	if err := a.Do(ctx, http.MethodGet, "/sessions", nil, &page); err != nil || len(page.Sessions) == 0 {
		return "", err
	}
	return page.Sessions[0].ID, nil
}

// NewSession creates a session with a config and returns its id.
func (a *API) NewSession(ctx context.Context, config map[string]any) (string, error) {
	var made struct{ ID string }
	err := a.Do(ctx, http.MethodPost, "/sessions", map[string]any{"config": config}, &made)
	return made.ID, err
}

// lastMessage returns the id of the message that the next one of a session follows.
func (a *API) lastMessage(ctx context.Context, session string) (string, error) {
	view := struct {
		Path []struct{ ID string }
		Root string `json:"rootId"`
	}{}
	if err := a.Do(ctx, http.MethodGet, "/sessions/"+url.PathEscape(session), nil, &view); err != nil {
		return "", err
	}
	if n := len(view.Path); n > 0 {
		return view.Path[n-1].ID, nil
	}
	return view.Root, nil
}

// File is the API's description of an attachment that the gateway stores.
type File = json.RawMessage

// Attach uploads a picture or a text for messages of a session.
func (a *API) Attach(ctx context.Context, session, name string, data io.Reader) (File, error) {
	return a.Send(ctx, http.MethodPost, "/blobs?session="+url.QueryEscape(session)+"&name="+url.QueryEscape(name), data)
}

// parts returns the parts of a message with text and files.
func parts(text string, files []File) []map[string]any {
	list := []map[string]any{{"type": "text", "text": text}}
	for _, f := range files {
		list = append(list, map[string]any{"type": "file", "file": f})
	}
	return list
}

// Say adds a message to a session and waits for the answer. It calls event for each event of the turn and returns the
// turn's final state. Questions go to asker. If ctx ends, the turn is cancelled, and Say returns how it ended. Say is safe
// for concurrent use: a message that is sent while an answer is written waits until that answer is finished.
func (a *API) Say(
	ctx context.Context, session, text string, files []File, overrides map[string]any, asker Asker, event func(json.RawMessage),
) (json.RawMessage, error) {
	return a.answer(ctx, "/sessions/"+url.PathEscape(session)+"/turns", overrides, asker, event, func() (map[string]any, error) {
		parent, err := a.lastMessage(ctx, session)
		return map[string]any{"userMessage": map[string]any{"parts": parts(text, files), "parentId": parent}}, err
	})
}

// Again is like Say, but has the answer with the id message written once more, as a branch beside it.
func (a *API) Again(ctx context.Context, message string, overrides map[string]any, asker Asker, event func(json.RawMessage)) (json.RawMessage, error) {
	return a.answer(ctx, "/messages/"+url.PathEscape(message)+"/regenerate", overrides, asker, event, func() (map[string]any, error) {
		return map[string]any{}, nil
	})
}

// Edit is like Say, but sends another wording of the message with this id, as a branch beside it.
func (a *API) Edit(
	ctx context.Context, message, text string, files []File, overrides map[string]any, asker Asker, event func(json.RawMessage),
) (json.RawMessage, error) {
	return a.answer(ctx, "/messages/"+url.PathEscape(message)+"/edit", overrides, asker, event, func() (map[string]any, error) {
		return map[string]any{"parts": parts(text, files)}, nil
	})
}

// answer starts a turn with a request to path and follows it to its end. body returns the request without the overrides.
func (a *API) answer(
	ctx context.Context, path string, overrides map[string]any, asker Asker, event func(json.RawMessage), body func() (map[string]any, error),
) (json.RawMessage, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx)) // an interrupted turn is cancelled, and says how it ended
	defer cancel()
	heard, say := io.Pipe()
	defer say.Close()
	resp, err := a.startTurn(inner, path, overrides, asker, heard, say, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	t := &turn{api: a, asker: asker, event: event}
	defer context.AfterFunc(ctx, func() { t.stop(inner, cancel) })()
	return t.follow(ctx, json.NewDecoder(resp.Body), say)
}

// startTurn sends a message and returns once its turn is stored in the session, so that the next message follows it.
func (a *API) startTurn(
	ctx context.Context, path string, overrides map[string]any, asker Asker, heard io.Reader, say io.Writer, body func() (map[string]any, error),
) (*http.Response, error) {
	a.sendMu.Lock()
	defer a.sendMu.Unlock()
	message, err := body()
	if err != nil {
		return nil, err
	}
	overrides = maps.Clone(overrides)
	if overrides == nil {
		overrides = map[string]any{}
	}
	if dir, err := os.Getwd(); err == nil { // where an agent of another program works
		overrides["folder"] = dir
	}
	message["overrides"], message["capabilities"] = overrides, asker.Capabilities()
	first, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	r, err := a.request(ctx, http.MethodPost, path, heard)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	r.Header.Set("Expect", "100-continue")                // so that a refusal does not wait for the whole body
	go func() { _, _ = say.Write(append(first, '\n')) }() // ends when it is read, or with the pipe
	resp, err := a.client.Do(r)
	if err != nil || resp.StatusCode == http.StatusOK {
		return resp, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return nil, responseError(resp.StatusCode, raw)
}

// turn is a turn whose answer is being received.
type turn struct {
	api   *API
	asker Asker
	event func(json.RawMessage)

	mu sync.Mutex
	id string
}

// stop asks the API to cancel the turn, so that follow still gets its final state. If that is not possible, it closes the
// connection with cut.
func (t *turn) stop(ctx context.Context, cut context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	t.mu.Lock()
	id := t.id
	t.mu.Unlock()
	if id == "" || t.api.Do(ctx, http.MethodPost, "/turns/"+url.PathEscape(id)+"/cancel?reason=interrupted", map[string]any{}, nil) != nil {
		cut()
	}
}

// follow reads the stream of the turn to its end.
func (t *turn) follow(ctx context.Context, in *json.Decoder, out io.Writer) (json.RawMessage, error) {
	var mu sync.Mutex // held while the answer to a question is written, so that lines are not mixed
	asking, taken := context.WithCancel(ctx)
	defer taken() // withdraws the questions that are still open when the turn ends
	for {
		var line struct {
			Event json.RawMessage
			Ask   *struct {
				ID     int
				Method string
				Params json.RawMessage
			}
			Turn  json.RawMessage
			Error json.RawMessage
		}
		if err := in.Decode(&line); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the gateway ended the answer too early")
			}
			return nil, err
		}
		switch {
		case line.Error != nil:
			return nil, responseError(http.StatusOK, slices.Concat([]byte(`{"error":`), line.Error, []byte(`}`)))
		case line.Turn != nil:
			return line.Turn, nil
		case line.Ask != nil:
			ask := *line.Ask
			go func() {
				result, err := t.asker.Ask(asking, ask.Method, ask.Params)
				answer := map[string]any{"id": ask.ID, "result": result}
				if err != nil {
					answer = map[string]any{"id": ask.ID, "error": map[string]any{"code": remote.CodeInternal, "message": err.Error()}}
				}
				raw, err := json.Marshal(answer)
				if err != nil {
					return // cannot happen: a result and a text always encode
				}
				mu.Lock()
				defer mu.Unlock()
				_, _ = out.Write(append(raw, '\n')) // it fails only if the turn has ended
			}()
		case line.Event != nil:
			if id := gjson.GetBytes(line.Event, "turnId").String(); id != "" {
				t.mu.Lock()
				t.id = id
				t.mu.Unlock()
			}
			t.event(line.Event)
		}
	}
}

// OwnTools returns the note that the agent of another program answers, which runs tools of its own.
func OwnTools(agent string) string {
	if agent == "" {
		return locale.T("the agent of another program runs its own tools here, beside yours")
	}
	return locale.Sprintf("%s runs its own tools here, beside yours", output.OneLine(agent))
}

// Printer prints the events of turns line by line.
type Printer struct {
	*root.Program
	toolNames map[string]string // by call
	missed    Missed
	inText    bool // stdout is within a line of the answer
}

// NewPrinter returns a Printer that writes the answer to stdout and everything else to stderr.
func NewPrinter(p *root.Program) *Printer {
	return &Printer{Program: p, toolNames: map[string]string{}}
}

// End ends the output of a turn: it completes a partial line of the answer.
func (t *Printer) End() { t.newline() }

// newline completes a partial line of the answer.
func (t *Printer) newline() {
	if t.inText {
		fmt.Fprintln(t.Out)
		t.inText = false
	}
}

// Event prints an event; as JSON if the command was started with --json.
func (t *Printer) Event(raw json.RawMessage) {
	if t.JSON {
		_ = t.WriteJSON(raw) // the turn goes on even if nobody reads its events
		return
	}
	for _, e := range t.missed.Events(raw) {
		t.print(gjson.ParseBytes(e))
	}
}

// print prints one event for people.
func (t *Printer) print(e gjson.Result) {
	d := e.Get("data")
	switch e.Get("type").String() {
	case "turn.start":
		if d.Get("ownTools").Bool() {
			t.Note("%s", OwnTools(d.Get("agent").String()))
		}
	case "text.delta":
		text := t.Safe(t.Out, d.Get("text").String())
		_, _ = io.WriteString(t.Out, text)
		if text != "" {
			t.inText = !strings.HasSuffix(text, "\n")
		}
	case "tool.proposed":
		if d.Get("partial").Bool() {
			return
		}
		t.newline()
		title, args := CallTitle(d.Get("name").String(), d.Get("args").String())
		t.toolNames[d.Get("callId").String()] = title
		t.Note("%s", t.Dim("→ "+output.Truncate(title+"  "+args, 120)))
	case "tool.result":
		t.newline()
		mark := "✓"
		if !d.Get("ok").Bool() {
			mark = "✗"
		}
		words := []string{mark, t.toolNames[d.Get("callId").String()], d.Get("durationMs").String(), "ms", output.Truncate(ResultLine(d.Get("preview").String()), 80)}
		t.Note("%s", t.Dim(strings.Join(words, " ")))
	case "notice":
		t.newline()
		t.Note("%s", NoticeText(d))
	case "tool.asking":
		t.newline()
	case "retry":
		t.Note("%s", RetryText(d))
	}
}

// CallTitle returns a call as people read it, in two texts of one line. title is the name of the tool with that of the
// action. arguments reads like "path: /a, deep: true"; if args is not a JSON object, it is args unchanged.
func CallTitle(name, args string) (title, arguments string) {
	title = output.OneLine(name)
	parsed := gjson.Parse(args)
	if !gjson.Valid(args) || !parsed.IsObject() {
		return title, output.OneLine(args)
	}
	var words []string
	parsed.ForEach(func(key, value gjson.Result) bool {
		if key.String() == "action" && value.Type == gjson.String {
			title += " " + output.OneLine(value.String())
		} else {
			words = append(words, key.String()+": "+value.String())
		}
		return true
	})
	return title, output.OneLine(strings.Join(words, ", "))
}

// NoticeText returns the text of a notice in the language of the terminal. It is one line, except for a plan, which has a
// further line for each step, in the words of the agent.
func NoticeText(data gjson.Result) string {
	text := data.Get("text").String()
	if data.Get("code").String() != "plan" {
		return output.OneLine(locale.Sentence(text))
	}
	head, steps, _ := strings.Cut(output.Harmless(text), "\n")
	return locale.Sentence(head+"\n") + steps
}

// ResultLine returns a result of a call as one line. For a refusal, the line is its message and its hint.
func ResultLine(preview string) string {
	e := gjson.Get(preview, "error") // which may be cut off after its message
	if !strings.HasPrefix(preview, `{"error":`) || e.Get("message").String() == "" {
		return output.OneLine(preview)
	}
	line := locale.Sentence(e.Get("message").String())
	if hint := e.Get("hint").String(); hint != "" {
		line += locale.T("; ") + locale.Sentence(hint)
	}
	return output.OneLine(line)
}

// RetryText returns why and when a request to a model is repeated. data is that of the event.
func RetryText(data gjson.Result) string {
	var why string
	switch reason := data.Get("reason").String(); reason {
	case "rate_limit":
		why = locale.T("the provider limits how often it may be asked")
	case "overloaded":
		why = locale.T("the provider has too much to do")
	case "quota":
		why = locale.T("what the key may use is used up")
	case "credential":
		why = locale.T("the provider does not accept the key")
	case "permission", "model_access":
		why = locale.T("the key may not use this model")
	case "transient":
		why = locale.T("the provider did not answer as it should")
	case "all_keys_cooling":
		why = locale.T("all keys have to wait")
	default:
		why = output.OneLine(reason)
	}
	if wait := time.Duration(data.Get("waitMs").Int()) * time.Millisecond; wait >= time.Second {
		return locale.Sprintf("trying again in %s: %s", wait.Round(time.Second).String(), why)
	}
	return locale.Sprintf("trying again: %s", why)
}
