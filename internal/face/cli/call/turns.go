package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file lets `collie confirm` answer questions that wait in conversations of a running gateway.

// turnQuestion is a question that a turn of a conversation waits for. The gateway has started the turn for a page in the
// browser.
type turnQuestion struct {
	ID       string        `json:"id"`
	Turn     string        `json:"turnId"`
	Session  string        `json:"sessionId"`
	Question tool.Question `json:"question"`
	Asked    time.Time     `json:"asked"`
}

// gateway returns a client for the gateway of this home. It is nil if no gateway of this version answers; then there are
// no questions to list. The caller closes it.
func (p commands) gateway(ctx context.Context, cfg *config.Config) *remote.Client {
	r, _, err := p.Gateway(ctx, cfg)
	if err != nil {
		return nil
	}
	return r
}

// turnQuestions returns the questions that conversations of the running gateway wait for. It returns none if there is no
// gateway or it cannot be asked.
func (p commands) turnQuestions(ctx context.Context, cfg *config.Config) []turnQuestion {
	r := p.gateway(ctx, cfg)
	if r == nil {
		return nil
	}
	defer r.Close()
	raw, err := r.Do(ctx, http.MethodGet, "/questions", nil)
	var got struct{ Questions []turnQuestion }
	if err != nil || json.Unmarshal(raw, &got) != nil {
		return nil
	}
	return slices.DeleteFunc(got.Questions, func(q turnQuestion) bool { return q.Turn == "" }) // questions without a turn are calls of clients, which pendingCalls lists
}

// turnQuestion returns the question of a conversation with this code; ok is false if there is none.
func (p commands) turnQuestion(ctx context.Context, cfg *config.Config, code string) (turnQuestion, bool) {
	list := p.turnQuestions(ctx, cfg)
	i := slices.IndexFunc(list, func(q turnQuestion) bool { return strings.EqualFold(q.ID, code) })
	if i < 0 {
		return turnQuestion{}, false
	}
	return list[i], true
}

// confirmTurn shows the question of a conversation at a terminal and reads the answer.
func (p commands) confirmTurn(ctx context.Context, cfg *config.Config, q *turnQuestion, t io.ReadWriter) error {
	text := QuestionText(&q.Question) + locale.Sprintf("  asked %s in a conversation\n", output.Ago(q.Asked, time.Now()))
	if _, err := io.WriteString(t, text+Prompt(&q.Question)); err != nil {
		return err
	}
	line, err := root.NewLines(t).Next(ctx)
	if errors.Is(err, io.EOF) {
		_, _ = io.WriteString(t, "\n") // if this fails, the terminal is closed
		return &tool.Error{Op: opConfirm, Kind: tool.Unconfirmed, Subject: q.ID, Message: "not answered; the call still waits"}
	}
	if err != nil {
		return err
	}
	var given struct {
		Confirm bool   `json:"confirm"`
		Name    string `json:"name"`
		Grant   string `json:"grant"`
	}
	if err := json.Unmarshal(Answer(&q.Question, line), &given); err != nil {
		return err
	}
	if err := p.answerTurn(ctx, cfg, q.ID, map[string]any{"yes": given.Confirm, "name": given.Name, "grant": given.Grant}); err != nil || given.Confirm {
		return err
	}
	return root.Exit(root.ExitUnconfirmed)
}

// answerTurn sends an answer to the gateway. If the question was answered before, the gateway refuses it.
func (p commands) answerTurn(ctx context.Context, cfg *config.Config, id string, answer map[string]any) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	r := p.gateway(ctx, cfg)
	if r == nil {
		return &tool.Error{Op: opConfirm, Kind: tool.Unavailable, Subject: id, Message: "the gateway has ended, and the conversation with it"}
	}
	defer r.Close()
	if _, err := r.Do(ctx, http.MethodPost, "/questions/"+url.PathEscape(id), body); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"code": id, "yes": answer["yes"]})
	}
	message := locale.T("refused; the conversation continues without the call")
	if answer["yes"] == true {
		message = locale.T("confirmed; the conversation continues")
	}
	_, err = io.WriteString(p.Out, message+"\n")
	return err
}
