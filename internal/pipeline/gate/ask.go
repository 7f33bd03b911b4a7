package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/gate/decision"
	"collie/internal/tool"
	"collie/internal/units"
)

// This file asks the person behind a caller: through a program of ours, or through a form that an MCP client shows.

// askResult is the result of asking the caller.
type askResult struct {
	asked bool        // a person saw the question
	yes   bool        // the person agreed
	how   string      // what the person did instead of agreeing
	grant string      // id of the offered grant that the person chose
	by    string      // how the person was asked: program or client; beforehand if the person had agreed before
	err   *tool.Error // the call has ended
}

// answerWord returns the outcome as a word for the audit and for notices: yes, no or none.
func (a *askResult) answerWord(err error) string {
	switch {
	case err != nil || !a.asked:
		return "none"
	case a.yes:
		return "yes"
	}
	return "no"
}

// ask asks the person behind the caller, if there is a way. If the caller fails to answer, it counts as one
// that cannot be asked.
func (s *Stage) ask(ctx context.Context, c *tool.Call, q tool.Question) askResult {
	by := "program"
	var put func(context.Context, tool.Caller, tool.Question) (askResult, error)
	switch {
	case c.Caller == nil:
		return askResult{}
	case c.Caller.Supports(tool.CanConfirm):
		put = askOwnProgram
	case canAskByForm(c.Caller):
		put, by = askByElicitation, "client"
	default:
		return askResult{}
	}
	if by == "client" && !decision.RiskCounts(c.Origin, s.clients()) {
		q.Name = "" // the risk does not count for such a client, so a yes is enough
	}
	defer s.pause(ctx)()
	inner, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	s.asked.Publish(Asked{Call: c})
	a, err := put(inner, c.Caller, q)
	if a.by == "" {
		a.by = by
	}
	s.asked.Publish(Asked{Call: c, Answer: a.answerWord(err)})
	switch {
	case err == nil:
		return a
	case ctx.Err() != nil:
		return askResult{err: &tool.Error{
			Op: "call", Kind: tool.Canceled, Subject: c.Subject(), Message: "it ended while a person was asked", Err: context.Cause(ctx),
		}}
	case inner.Err() != nil:
		return askResult{err: noAnswerError(c, s.wait)}
	}
	return askResult{}
}

// noAnswerError returns the error for a person who was asked and did not answer.
func noAnswerError(c *tool.Call, wait time.Duration) *tool.Error {
	e := cannotAskError(c, fmt.Sprintf("a person was asked and did not answer within %s; nothing was done", units.DurationText(wait)), "call it again when the person is there")
	e.Code = "no_answer"
	return e
}

// askOwnProgram asks by [tool.MethodConfirm], which only our own programs answer.
func askOwnProgram(ctx context.Context, caller tool.Caller, q tool.Question) (askResult, error) {
	raw, err := json.Marshal(q)
	if err != nil {
		return askResult{}, err
	}
	if raw, err = caller.Ask(ctx, tool.MethodConfirm, raw); err != nil {
		return askResult{}, err
	}
	answer := gjson.ParseBytes(raw)
	a := readAnswer(&q, answer)
	if a.yes && answer.Get("beforehand").Bool() {
		a.by = "beforehand"
	}
	return a, nil
}

// readAnswer reads the filled-in form: confirm and, if q demands it, name. A grant that q does not offer counts as a no, since whoever makes one up
// has not understood the question.
func readAnswer(q *tool.Question, answer gjson.Result) askResult {
	a := askResult{asked: true, yes: answer.Get("confirm").Type == gjson.True, how: "decline"}
	if a.yes && q.Name != "" && strings.TrimSpace(answer.Get("name").String()) != q.Name {
		a.yes, a.how = false, wrongName
	}
	if chosen := answer.Get("grant"); a.yes && chosen.Exists() {
		a.grant = chosen.String()
		if !slices.ContainsFunc(q.Grants, func(o tool.GrantOffer) bool { return o.ID == a.grant }) {
			a.yes, a.how, a.grant = false, "unknown_grant", ""
		}
	}
	return a
}

// canAskByForm reports whether the caller shows forms whose answers count as a person's.
func canAskByForm(caller tool.Caller) bool {
	return showsForms(caller) && caller.Supports(tool.SpeaksForPerson)
}

// showsForms reports whether the caller can show a form with fields. An empty capability means forms (MCP
// 2025-11-25); one that names only URLs does not.
func showsForms(caller tool.Caller) bool {
	if !caller.Supports(tool.CanElicit) {
		return false
	}
	can := gjson.GetBytes(caller.Capabilities(), string(tool.CanElicit))
	return can.Get("form").Exists() || !can.Get("url").Exists()
}

// askByElicitation asks through an MCP client. Only an accepted form with confirm true means yes.
func askByElicitation(ctx context.Context, caller tool.Caller, q tool.Question) (askResult, error) {
	params, err := json.Marshal(map[string]any{"message": message(q), "requestedSchema": formSchema(&q)})
	if err != nil {
		return askResult{}, err
	}
	raw, err := caller.Ask(ctx, "elicitation/create", params)
	if err != nil {
		return askResult{}, err
	}
	root := gjson.ParseBytes(raw)
	switch root.Get("action").String() {
	case "accept":
		return readAnswer(&q, root.Get("content")), nil
	case "cancel":
		return askResult{asked: true, how: "cancel"}, nil
	}
	return askResult{asked: true, how: "decline"}, nil
}

// formSchema returns the schema of the form for q: a check box, and a field for the name.
func formSchema(q *tool.Question) map[string]any {
	fields, required := map[string]any{"confirm": map[string]any{
		"type": "boolean", "title": "Run it", "description": "Yes lets it run once. No, or closing this, refuses it.",
	}}, []string{"confirm"}
	if q.Name != "" {
		fields["name"] = map[string]any{"type": "string", "title": "Name", "description": "To let it run, type: " + q.Name}
		required = append(required, "name")
	}
	return map[string]any{"type": "object", "properties": fields, "required": required}
}
