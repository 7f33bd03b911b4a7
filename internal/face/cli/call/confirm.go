package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file has the command `collie confirm`, with which a person allows or refuses a call that waits under a code.

// ConfirmCommand returns the command `collie confirm`.
func ConfirmCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	var deny string
	c := &cobra.Command{
		Use: "confirm [CODE]", Short: "Answer the calls that wait for a person", Args: cobra.MaximumNArgs(1),
		Long: "If a client cannot ask you, a dangerous call is refused and waits here for five minutes. Without\n" +
			"CODE this lists the waiting calls. With CODE it shows the call and asks; after a yes, the client\n" +
			"that was shown the code may make the same call once. Where the risk is critical, you agree by\n" +
			"typing the name that is shown. A client that has lost its session since then counts as a new one\n" +
			"and gets a new code. The first answer counts. It is read from the terminal, not from stdin, and\n" +
			"there is no --yes. That keeps pipes and scripts from answering by accident; it does\n" +
			"not keep out a program that has a shell on your account and opens a terminal itself.\n" +
			"What conversations in the browser wait for is listed and answered here too, while a gateway runs.",
		Example:           "  collie confirm\n  collie confirm K7RM4T\n  collie confirm --deny K7RM4T",
		ValidArgsFunction: p.completeCodes,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flag("deny").Changed && len(args) > 0 {
				return root.Usage("--deny takes one code, that of the call to refuse; leave out %s", args[0])
			}
			cfg, err := p.Load()
			switch {
			case err != nil:
				return err
			case c.Flag("deny").Changed:
				if q, ok := p.turnQuestion(c.Context(), cfg, deny); ok {
					return p.answerTurn(c.Context(), cfg, q.ID, map[string]any{"yes": false})
				}
				return p.answer(c.Context(), cfg, deny, false)
			case len(args) == 0:
				return p.listPending(c.Context(), cfg)
			}
			return p.confirm(c.Context(), cfg, args[0])
		},
	}
	c.Flags().StringVar(&deny, "deny", "", "refuse the call that has `CODE`, without a question")
	return c
}

// pendingCalls returns the calls that wait for an answer.
func pendingCalls(cfg *config.Config) ([]app.PendingCall, error) {
	list, err := app.OpenPending(cfg).List()
	out := []app.PendingCall{}
	for i := range list {
		if list[i].State == app.PendingWaiting {
			out = append(out, list[i])
		}
	}
	return out, err
}

// listPending prints the calls of clients and the questions of conversations that wait for a person.
func (p commands) listPending(ctx context.Context, cfg *config.Config) error {
	list, err := pendingCalls(cfg)
	turns := p.turnQuestions(ctx, cfg)
	switch {
	case err != nil:
		return err
	case p.JSON:
		all := map[string]any{"waiting": list}
		if len(turns) > 0 {
			all["conversations"] = turns
		}
		return p.PrintJSON(all)
	case len(list)+len(turns) == 0:
		p.Note("no call waits for a person")
		return nil
	}
	now := time.Now()
	rows := make([][]string, len(list))
	for i := range list {
		w := &list[i]
		rows[i] = []string{
			w.Code, output.Ago(w.Asked, now), describeCaller(w), w.Question.Tool + " " + w.Question.Action, strings.Join(w.Question.Targets, ", "),
		}
	}
	for i := range turns {
		q := &turns[i]
		rows = append(rows, []string{
			q.ID, output.Ago(q.Asked, now), locale.T("a conversation"), q.Question.Tool + " " + q.Question.Action, strings.Join(q.Question.Targets, ", "),
		})
	}
	return p.Table([]string{"CODE", "ASKED", "WHO", "CALL", "TARGETS"}, rows)
}

// describeCaller describes the client that made a call, as far as it is known.
func describeCaller(w *app.PendingCall) string {
	name := output.FirstNonEmpty(w.Client, w.Principal)
	if w.Origin == "" {
		return name
	}
	return name + " (" + string(w.Origin) + ")"
}

const opConfirm = "confirm"

// confirm shows a call to the person at the terminal and reads the answer.
func (p commands) confirm(ctx context.Context, cfg *config.Config, code string) error {
	q, inTurn := p.turnQuestion(ctx, cfg, code)
	var w app.PendingCall
	var err error
	if !inTurn {
		if w, err = app.OpenPending(cfg).Find(code); err != nil {
			return err
		}
	}
	t, err := p.OpenTerminal()
	if err != nil {
		return &tool.Error{
			Op: opConfirm, Kind: tool.Unconfirmed, Subject: output.FirstNonEmpty(w.Code, q.ID), Message: "there is no terminal to ask at",
			Hint: "run it in a terminal yourself; the answer is read only from there", Err: err,
		}
	}
	defer t.Close()
	if inTurn {
		return p.confirmTurn(ctx, cfg, &q, t)
	}
	yes, err := askPending(ctx, root.NewLines(t), t, &w)
	if err != nil {
		return err
	}
	if err := p.answer(ctx, cfg, code, yes); err != nil || yes {
		return err
	}
	return root.Exit(root.ExitUnconfirmed)
}

// askPending shows a waiting call on out and returns the answer typed on in. If the input ends without an answer, the
// error says that the call still waits.
func askPending(ctx context.Context, in *root.Lines, out io.Writer, w *app.PendingCall) (bool, error) {
	now := time.Now()
	text := QuestionText(&w.Question) + locale.Sprintf("  asked %s by %s for %s; this expires in %s\n",
		output.Ago(w.Asked, now), output.OneLine(describeCaller(w)), output.OneLine(w.Principal), max(w.Expires.Sub(now), 0).Truncate(time.Second))
	if w.Question.Name != "" {
		text += namePrompt(&w.Question)
	} else {
		text += locale.T("Let it run once? [y/N] ")
	}
	if _, err := io.WriteString(out, text); err != nil {
		return false, err
	}
	line, err := in.Next(ctx)
	if errors.Is(err, io.EOF) {
		_, _ = io.WriteString(out, "\n") // if this fails, the terminal is closed
		return false, &tool.Error{
			Op: opConfirm, Kind: tool.Unconfirmed, Subject: w.Code, Message: "not answered; the call still waits",
		}
	}
	return agrees(&w.Question, line), err
}

// answer stores the person's answer, puts it on record and prints it.
func (p commands) answer(ctx context.Context, cfg *config.Config, code string, yes bool) error {
	w, err := app.OpenPending(cfg).Answer(ctx, code, yes)
	if err != nil {
		return err
	}
	p.OnRecord(ctx, cfg, opConfirm, map[string]any{
		"code": w.Code, "answer": w.State, "tool": w.Question.Tool, "action": w.Question.Action, "targets": w.Question.Targets,
		"origin": w.Origin, "principal": w.Principal, "client": w.Client,
	})
	if p.JSON {
		return p.PrintJSON(map[string]any{"code": w.Code, "state": w.State, "expires": w.Expires})
	}
	message := locale.T("refused; the client is told so if it makes the call again")
	if yes {
		message = locale.Sprintf("confirmed; the client may make the call once, until %s", w.Expires.Local().Format(time.TimeOnly))
	}
	_, err = fmt.Fprintln(p.Out, message)
	return err
}

// completeCodes offers the codes of waiting calls.
func (p commands) completeCodes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	cfg, err := p.Load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := pendingCalls(cfg)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Code + "\t" + output.OneLine(list[i].Question.Tool+" "+list[i].Question.Action)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
