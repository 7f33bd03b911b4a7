package system

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/action"
)

type notifyArgs struct {
	Msg     string `json:"msg" about:"text" req:"true" min:"1" max:"2000"`
	Level   string `json:"level" about:"kind of message" req:"true" enum:"info,error"`
	Timeout int    `json:"timeout" about:"milliseconds" default:"7000" min:"0" max:"600000"`
}

type notifyResult struct {
	Level string `json:"level" about:"kind of message"`
	ID    string `json:"id" about:"of the message"`
}

func notify() *action.Action {
	return action.New(action.Spec{
		Tool: "system", Name: "notify", Purpose: "Show a message to the person in front of SiYuan",
		Class: action.External, Unguarded: noNotes,
		Endpoints: []string{"notification/pushMsg", "notification/pushErrMsg"},
		Aliases:   map[string]string{"message": "msg"},
		Result:    notifyResult{},
		Example:   `{"msg":"Done 完成","level":"info"}`,
	}, func(ctx context.Context, r *action.Request, a notifyArgs) (any, error) {
		if strings.TrimSpace(a.Msg) == "" {
			return nil, r.Invalid("msg", "must not be blank")
		}
		id, err := r.Kernel.Notify(ctx, plain(a.Msg), a.Timeout, a.Level == "error")
		return notifyResult{a.Level, id}, err
	})
}

// plain takes the markup out of a text: SiYuan shows messages as HTML.
func plain(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
