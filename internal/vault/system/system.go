// Package system answers what a client asks before it does anything: version, clock, configuration, network and the
// place of the workspace. It also takes the messages and reloads that only a window would notice; the vault has none.
//
// The configuration is that of a kernel nobody has touched. The vault does not read it; it says how the vault behaves
// where there is a setting for it, and stands for itself elsewhere.
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
	for _, what := range []string{"Icon", "Filetree", "Tag"} {
		mux.Read("/api/ui/reload"+what, constant(nil))
	}
	for _, what := range []string{"Protyle", "AttributeView"} {
		mux.Read("/api/ui/reload"+what, func(_ *workspace.Tx, req api.Request) api.Reply {
			req.Str("id")
			return api.Done()
		})
	}
}

// getConf answers the configuration, with the one setting that a call leaves in it.
func getConf(tx *workspace.Tx, _ api.Request) api.Reply {
	data, err := sjson.SetBytes(conf, "conf.tag.sort", api.TagSort(tx))
	if err != nil {
		panic("vault: " + err.Error())
	}
	return api.OK(json.RawMessage(data))
}

// constant answers the same.
func constant(data any) api.Handler {
	return func(*workspace.Tx, api.Request) api.Reply { return api.OK(data) }
}

// pushMessage takes a message, which nobody sees, and answers an id to it.
func pushMessage(_ *workspace.Tx, req api.Request) api.Reply {
	req.NeedText("msg")
	req.OptNum("timeout", 7000)
	_, name, _ := strings.Cut(tree.RandomID(), "-")
	return api.OK(map[string]any{"id": name})
}
