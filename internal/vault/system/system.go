// Package system implements the endpoints that a client uses before all others: version, clock, configuration, network
// and the path of the workspace. It also accepts messages and reloads, which have no effect, since the vault has no
// window.
//
// The configuration is that of a kernel with default settings. The vault does not read it. Where there is a setting for
// something, the configuration says how the vault behaves.
package system

import (
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/sjson"

	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

//go:embed conf.json
var conf []byte

// Register adds the endpoints below /api/system, /api/notification and /api/ui.
func Register(mux *api.Mux) {
	mux.Read("/api/system/version", constant(api.Version))
	mux.Read("/api/system/bootProgress", constant(map[string]any{"details": "v" + api.Version + " Finishing boot...", "progress": 100}))
	mux.Read("/api/system/currentTime", func(*workspace.Tx, api.Request) api.Reply {
		return api.OK(time.Now().UnixMilli())
	})
	mux.Read("/api/system/getWorkspaceInfo", constant(map[string]any{
		"siyuanVer": api.Version, "workspaceDir": api.Root,
	}))
	mux.Read("/api/system/getNetwork", constant(map[string]any{
		"proxy": map[string]any{"scheme": "", "host": "", "port": ""},
	}))
	mux.Read("/api/system/getConf", getConf)
	mux.Read("/api/notification/pushMsg", pushMessage)
	mux.Read("/api/notification/pushErrMsg", pushMessage)
	for _, part := range []string{"Icon", "Filetree", "Tag"} {
		mux.Read("/api/ui/reload"+part, constant(nil))
	}
	for _, part := range []string{"Protyle", "AttributeView"} {
		mux.Read("/api/ui/reload"+part, func(_ *workspace.Tx, req api.Request) api.Reply {
			req.Str("id")
			return api.Done()
		})
	}
}

// getConf returns the configuration, with the only setting that a call changes.
func getConf(tx *workspace.Tx, _ api.Request) api.Reply {
	data, err := sjson.SetBytes(conf, "conf.tag.sort", api.TagSort(tx))
	if err != nil {
		panic("vault: " + err.Error())
	}
	return api.OK(json.RawMessage(data))
}

// constant returns a handler that always answers data.
func constant(data any) api.Handler {
	return func(*workspace.Tx, api.Request) api.Reply { return api.OK(data) }
}

// pushMessage accepts a message, which nobody sees, and answers with an id.
func pushMessage(_ *workspace.Tx, req api.Request) api.Reply {
	req.NeedText("msg")
	req.OptNum("timeout", 7000)
	_, name, _ := strings.Cut(tree.RandomID(), "-")
	return api.OK(map[string]any{"id": name})
}
