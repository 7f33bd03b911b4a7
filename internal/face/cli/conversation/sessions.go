package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	"collie/internal/tool"
)

// This file has the commands `collie sessions` and `collie usage`, which list, search, export and import conversations
// and show their cost.

// SessionsCommand returns the command `collie sessions`.
func SessionsCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	return root.Group("sessions", "Conversations that are kept",
		&cobra.Command{
			Use: "list", Aliases: []string{"ls"}, Short: "Show the conversations, the newest first", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return p.withAPI(c.Context(), func(a *API) error { return p.list(c.Context(), a) })
			},
		},
		&cobra.Command{
			Use: "show ID", Short: "Show a conversation as it was read last", Args: root.NamedArgs("id"),
			RunE: func(c *cobra.Command, args []string) error {
				form := "markdown"
				if p.JSON {
					form = "json"
				}
				return p.withAPI(c.Context(), func(a *API) error {
					return p.printResponse(c.Context(), a, "/sessions/"+url.PathEscape(args[0])+"/export?format="+form)
				})
			},
		},
		&cobra.Command{
			Use: "search TEXT", Short: "Find messages that have a text", Args: root.NamedArgs("text"),
			RunE: func(c *cobra.Command, args []string) error {
				return p.withAPI(c.Context(), func(a *API) error { return p.search(c.Context(), a, args[0]) })
			},
		},
		p.exportCommand(),
		p.importCommand(),
		&cobra.Command{
			Use: "fork MESSAGE", Short: "Begin a conversation with a copy of what leads to a message", Args: root.NamedArgs("message"),
			RunE: func(c *cobra.Command, args []string) error {
				return p.withAPI(c.Context(), func(a *API) error {
					return p.createSession(c.Context(), a, "/messages/"+url.PathEscape(args[0])+"/fork", map[string]any{})
				})
			},
		},
		&cobra.Command{
			Use: "delete ID", Aliases: []string{"rm"}, Short: "Delete a conversation and all that is in it", Args: root.NamedArgs("id"),
			RunE: func(c *cobra.Command, args []string) error {
				return p.withAPI(c.Context(), func(a *API) error {
					return a.Do(c.Context(), http.MethodDelete, "/sessions/"+url.PathEscape(args[0]), nil, nil)
				})
			},
		})
}

func (p commands) exportCommand() *cobra.Command {
	var format, note string
	var redact, overwrite bool
	c := &cobra.Command{
		Use: "export ID", Short: "Print a conversation as JSON, which import takes, as Markdown or as a web page", Args: root.NamedArgs("id"),
		Example: "  collie sessions export ID --format markdown > talk.md\n  collie sessions export ID --format html > talk.html\n  collie sessions export ID --to-note /Notebook/Talk",
		RunE: func(c *cobra.Command, args []string) error {
			if note != "" {
				return p.withAPI(c.Context(), func(a *API) error { return p.writeNote(c.Context(), a, args[0], note, redact, overwrite) })
			}
			q := url.Values{"format": {format}, "redact": {strconv.FormatBool(redact)}}
			return p.withAPI(c.Context(), func(a *API) error {
				return p.printResponse(c.Context(), a, "/sessions/"+url.PathEscape(args[0])+"/export?"+q.Encode())
			})
		},
	}
	c.Flags().StringVar(&format, "format", "json", "write json, markdown or html")
	c.Flags().BoolVar(&redact, "redact", false, "leave out what tools were called with and what they answered")
	c.Flags().StringVar(&note, "to-note", "", "write it into the document at `PATH` of your notes, such as /Notebook/Title")
	c.Flags().BoolVar(&overwrite, "overwrite", false, "with --to-note, replace the text of a document that exists")
	c.MarkFlagsMutuallyExclusive("to-note", "format")
	return c
}

func (p commands) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Add conversations from a file", Args: root.NamedArgs("file"),
		Long: "Takes what export wrote, and the exports of ChatGPT (conversations.json), LibreChat and Open WebUI.\n" +
			"Their branches come along; what is not taken over is listed.",
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			if !json.Valid(raw) {
				return root.Usage("%s is not a session as JSON", args[0])
			}
			if gjson.GetBytes(raw, "format").String() == "" {
				return p.withAPI(c.Context(), func(a *API) error { return p.importTranscripts(c.Context(), a, args[0], raw) })
			}
			return p.withAPI(c.Context(), func(a *API) error { return p.createSession(c.Context(), a, "/sessions/import", json.RawMessage(raw)) })
		},
	}
}

// withAPI calls do with the API, for commands that need no servers.
func (p commands) withAPI(ctx context.Context, do func(*API) error) error {
	a, err := Open(ctx, p.Program, []string{})
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

// list prints all sessions, page after page of the API.
func (p commands) list(ctx context.Context, a *API) error {
	all, rows, cursor := []json.RawMessage{}, [][]string{}, ""
	for {
		var page struct {
			Sessions   []json.RawMessage
			NextCursor string
		}
		if err := a.Do(ctx, http.MethodGet, "/sessions?cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return err
		}
		for _, raw := range page.Sessions {
			s := gjson.ParseBytes(raw)
			rows = append(rows, []string{s.Get("id").String(), s.Get("updatedAt").Time().Local().Format("2006-01-02 15:04"), output.FirstNonEmpty(s.Get("title").String(), "-")})
		}
		all = append(all, page.Sessions...)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"sessions": all})
	}
	if len(rows) == 0 {
		p.Note("no conversation is kept; collie chat begins one")
	}
	return p.Table([]string{"ID", "CHANGED", "TITLE"}, rows)
}

// search prints the messages that contain a text.
func (p commands) search(ctx context.Context, a *API, text string) error {
	var answer struct{ Found []json.RawMessage }
	if err := a.Do(ctx, http.MethodGet, "/search?q="+url.QueryEscape(text), nil, &answer); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"found": append([]json.RawMessage{}, answer.Found...)})
	}
	if len(answer.Found) == 0 {
		p.Note("no message has these words")
	}
	var rows [][]string
	for _, raw := range answer.Found {
		f := gjson.ParseBytes(raw)
		rows = append(rows, []string{f.Get("sessionId").String(), f.Get("messageId").String(), time.UnixMilli(f.Get("at").Int()).Format("2006-01-02 15:04"), f.Get("excerpt").String()})
	}
	return p.Table([]string{"SESSION", "MESSAGE", "WHEN", "TEXT"}, rows)
}

// createSession sends a request that creates a session, and prints its id.
func (p commands) createSession(ctx context.Context, a *API, path string, body any) error {
	var session json.RawMessage
	if err := a.Do(ctx, http.MethodPost, path, body, &session); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(session)
	}
	_, err := fmt.Fprintln(p.Out, gjson.GetBytes(session, "id").String())
	return err
}

// writeNote writes a conversation into a document of the notes, and prints the path of the document.
func (p commands) writeNote(ctx context.Context, a *API, id, path string, redact, overwrite bool) error {
	var written struct {
		IsError bool            `json:"isError"`
		Result  json.RawMessage `json:"result"`
	}
	body := map[string]any{"path": path, "redact": redact, "overwrite": overwrite}
	if err := a.Do(ctx, http.MethodPost, "/sessions/"+url.PathEscape(id)+"/note", body, &written); err != nil {
		return err
	}
	data := gjson.GetBytes(written.Result, "structuredContent")
	if written.IsError {
		return &tool.Error{Op: "sessions export", Kind: tool.Upstream, Subject: path, Message: gjson.GetBytes(written.Result, "content.0.text").String()}
	}
	if p.JSON {
		return p.PrintJSON(json.RawMessage(data.Raw))
	}
	_, err := fmt.Fprintln(p.Out, p.Safe(p.Out, data.Get("path").String()))
	return err
}

// printResponse prints the body of the answer to a GET request.
func (p commands) printResponse(ctx context.Context, a *API, path string) error {
	raw, err := a.Send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if json.Valid(raw) {
		if output.IsTerminal(p.Out) {
			return p.WriteJSON(raw) // escapes control characters
		}
		_, err = p.Out.Write(raw)
		return err
	}
	_, err = io.WriteString(p.Out, p.Safe(p.Out, string(raw)))
	return err
}

// UsageCommand returns the command `collie usage`.
func UsageCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	var since, until string
	c := &cobra.Command{
		Use: "usage", Short: "Show what models were asked, by day, and what it cost", Args: cobra.NoArgs,
		Long: "Shows the tokens of each day and model, and what they cost where a price is known. A time is a duration\n" +
			"before now, such as 7d, or a day such as 2026-01-31.",
		RunE: func(c *cobra.Command, _ []string) error {
			q := url.Values{}
			from, to, err := root.Period(since, until, time.Now())
			if err != nil {
				return err
			}
			for name, at := range map[string]time.Time{"since": from, "until": to} {
				if !at.IsZero() {
					q.Set(name, at.UTC().Format(time.RFC3339))
				}
			}
			return p.withAPI(c.Context(), func(a *API) error { return p.usage(c.Context(), a, q) })
		},
	}
	c.Flags().StringVar(&since, "since", "30d", "from `TIME` on")
	c.Flags().StringVar(&until, "until", "", "before `TIME`")
	return c
}

// usage prints a row of tokens and cost for each day and model.
func (p commands) usage(ctx context.Context, a *API, q url.Values) error {
	var answer struct{ Rows []json.RawMessage }
	if err := a.Do(ctx, http.MethodGet, "/usage?"+q.Encode(), nil, &answer); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"rows": append([]json.RawMessage{}, answer.Rows...)})
	}
	if len(answer.Rows) == 0 {
		p.Note("no model was asked in this time; collie chat asks one")
	}
	var rows [][]string
	for _, raw := range answer.Rows {
		r := gjson.ParseBytes(raw)
		cost := "-"
		if micros := r.Get("costMicros").Int(); micros > 0 {
			cost = fmt.Sprintf("$%.4f", float64(micros)/1e6)
		}
		rows = append(rows, []string{
			r.Get("day").String(), r.Get("provider").String(), r.Get("model").String(), r.Get("steps").String(),
			r.Get("input").String(), r.Get("cached").String(), r.Get("output").String(), cost,
		})
	}
	return p.Table([]string{"DAY", "PROVIDER", "MODEL", "STEPS", "IN", "CACHED", "OUT", "COST"}, rows)
}
