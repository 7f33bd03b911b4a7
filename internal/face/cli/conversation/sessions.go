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
	"collie/internal/face/cli/remote"
	"collie/internal/face/cli/root"
)

// SessionsCommand is `collie sessions`.
func SessionsCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	var format string
	var redact bool
	export := &cobra.Command{
		Use: "export ID", Short: "Print a conversation as JSON, which import takes, or as Markdown", Args: root.Named("id"),
		RunE: func(c *cobra.Command, args []string) error {
			q := url.Values{"format": {format}, "redact": {strconv.FormatBool(redact)}}
			return p.withAPI(c.Context(), func(a *api) error {
				return p.printResponse(c.Context(), a, "/sessions/"+url.PathEscape(args[0])+"/export?"+q.Encode())
			})
		},
	}
	export.Flags().StringVar(&format, "format", "json", "write json or markdown")
	export.Flags().BoolVar(&redact, "redact", false, "leave out what tools were called with and what they answered")
	return root.Group("sessions", "Conversations that are kept",
		&cobra.Command{
			Use: "list", Aliases: []string{"ls"}, Short: "Show the conversations, the newest first", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return p.withAPI(c.Context(), func(a *api) error { return p.list(c.Context(), a) })
			},
		},
		&cobra.Command{
			Use: "show ID", Short: "Show a conversation as it was read last", Args: root.Named("id"),
			RunE: func(c *cobra.Command, args []string) error {
				form := "markdown"
				if p.JSON {
					form = "json"
				}
				return p.withAPI(c.Context(), func(a *api) error {
					return p.printResponse(c.Context(), a, "/sessions/"+url.PathEscape(args[0])+"/export?format="+form)
				})
			},
		},
		&cobra.Command{
			Use: "search TEXT", Short: "Find messages that have a text", Args: root.Named("text"),
			RunE: func(c *cobra.Command, args []string) error {
				return p.withAPI(c.Context(), func(a *api) error { return p.search(c.Context(), a, args[0]) })
			},
		},
		export,
		&cobra.Command{
			Use: "import FILE", Short: "Add a conversation from what export wrote", Args: root.Named("file"),
			RunE: func(c *cobra.Command, args []string) error {
				raw, err := os.ReadFile(args[0])
				if err != nil {
					return err
				}
				if !json.Valid(raw) {
					return root.Usage("%s is not a session as JSON", args[0])
				}
				return p.withAPI(c.Context(), func(a *api) error { return p.made(c.Context(), a, "/sessions/import", json.RawMessage(raw)) })
			},
		},
		&cobra.Command{
			Use: "fork MESSAGE", Short: "Begin a conversation with a copy of what leads to a message", Args: root.Named("message"),
			RunE: func(c *cobra.Command, args []string) error {
				return p.withAPI(c.Context(), func(a *api) error {
					return p.made(c.Context(), a, "/messages/"+url.PathEscape(args[0])+"/fork", map[string]any{})
				})
			},
		},
		&cobra.Command{
			Use: "delete ID", Aliases: []string{"rm"}, Short: "Delete a conversation and all that is in it", Args: root.Named("id"),
			RunE: func(c *cobra.Command, args []string) error {
				return p.withAPI(c.Context(), func(a *api) error {
					return a.do(c.Context(), http.MethodDelete, "/sessions/"+url.PathEscape(args[0]), nil, nil)
				})
			},
		})
}

// with opens the API for a command that starts no server.
func (p commands) withAPI(ctx context.Context, do func(*api) error) error {
	a, err := p.api(ctx, []string{})
	if err != nil {
		return err
	}
	defer a.close()
	return do(a)
}

func (p commands) list(ctx context.Context, a *api) error {
	all, rows, cursor := []json.RawMessage{}, [][]string{}, ""
	for {
		var page struct {
			Sessions   []json.RawMessage
			NextCursor string
		}
		if err := a.do(ctx, http.MethodGet, "/sessions?cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return err
		}
		for _, raw := range page.Sessions {
			s := gjson.ParseBytes(raw)
			rows = append(rows, []string{s.Get("id").String(), s.Get("updatedAt").Time().Local().Format("2006-01-02 15:04"), output.First(s.Get("title").String(), "-")})
		}
		all = append(all, page.Sessions...)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"sessions": all})
	}
	return p.Table([]string{"ID", "CHANGED", "TITLE"}, rows)
}

func (p commands) search(ctx context.Context, a *api, text string) error {
	var answer struct{ Found []json.RawMessage }
	if err := a.do(ctx, http.MethodGet, "/search?q="+url.QueryEscape(text), nil, &answer); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"found": append([]json.RawMessage{}, answer.Found...)})
	}
	var rows [][]string
	for _, raw := range answer.Found {
		f := gjson.ParseBytes(raw)
		rows = append(rows, []string{f.Get("sessionId").String(), f.Get("messageId").String(), time.UnixMilli(f.Get("at").Int()).Format("2006-01-02 15:04"), f.Get("excerpt").String()})
	}
	return p.Table([]string{"SESSION", "MESSAGE", "WHEN", "TEXT"}, rows)
}

// made posts what makes a session, and prints its id.
func (p commands) made(ctx context.Context, a *api, path string, body any) error {
	var session json.RawMessage
	if err := a.do(ctx, http.MethodPost, path, body, &session); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(session)
	}
	_, err := fmt.Fprintln(p.Out, gjson.GetBytes(session, "id").String())
	return err
}

// copyOut prints what the API answers.
func (p commands) printResponse(ctx context.Context, a *api, path string) error {
	r, err := a.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return remote.Refused(resp.StatusCode, raw)
	}
	if json.Valid(raw) { // which escapes what a terminal would act on
		_, err = p.Out.Write(raw)
		return err
	}
	_, err = io.WriteString(p.Out, p.Safe(p.Out, string(raw)))
	return err
}

// UsageCommand is `collie usage`.
func UsageCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}
	var since, until string
	c := &cobra.Command{
		Use: "usage", Short: "Show what models were asked, by day, and what it cost", Args: cobra.NoArgs,
		Long: "Shows the tokens of each day and model, and what they cost where a price is known. A time is a duration\n" +
			"before now, such as 7d, or a day such as 2026-01-31.",
		RunE: func(c *cobra.Command, _ []string) error {
			q := url.Values{}
			for name, text := range map[string]string{"since": since, "until": until} {
				at, err := root.Moment("--"+name, text, time.Now())
				if err != nil {
					return err
				}
				if !at.IsZero() {
					q.Set(name, at.UTC().Format(time.RFC3339))
				}
			}
			return p.withAPI(c.Context(), func(a *api) error { return p.usage(c.Context(), a, q) })
		},
	}
	c.Flags().StringVar(&since, "since", "30d", "from `TIME` on")
	c.Flags().StringVar(&until, "until", "", "before `TIME`")
	return c
}

func (p commands) usage(ctx context.Context, a *api, q url.Values) error {
	var answer struct{ Rows []json.RawMessage }
	if err := a.do(ctx, http.MethodGet, "/usage?"+q.Encode(), nil, &answer); err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(map[string]any{"rows": append([]json.RawMessage{}, answer.Rows...)})
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
