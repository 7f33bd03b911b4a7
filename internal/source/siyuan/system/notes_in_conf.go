package system

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/action"
)

// withoutNotes are the sections of the configuration that tell nothing of notes. Others are the layout of the window,
// with ids and titles of what is open, the number of documents, where a tour was, and what is not known yet.
var withoutNotes = map[string]bool{
	"accessAuthCode": true, "account": true, "ai": true, "api": true, "appearance": true, "bazaar": true, "cloudRegion": true,
	"cookieKey": true, "dataIndexState": true, "editor": true, "export": true, "fileTree": true, "flashcard": true, "graph": true,
	"keymap": true, "lang": true, "langs": true, "logLevel": true, "mcpOAuth": true, "notebookCrypto": true, "publish": true,
	"readonly": true, "repo": true, "search": true, "secrets": true, "serverAddrs": true, "showChangelog": true, "snippet": true,
	"sync": true, "system": true, "tag": true, "userData": true,
}

// placeEnds are the ends of keys whose values name a notebook, a document or a place among them, in lower case.
var placeEnds = []string{"savebox", "savepath", "notebook", "notebookid", "documentid", "docid", "rootid", "blockid"}

// readableConf is the configuration without what tells of notes, where some notebook may not be read.
func readableConf(ctx context.Context, r *action.Request, raw json.RawMessage) (json.RawMessage, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return raw, err
	}
	out := []byte("{}")
	gjson.ParseBytes(raw).ForEach(func(section, value gjson.Result) bool {
		if withoutNotes[section.String()] {
			out, err = sjson.SetRawBytes(out, gjson.Escape(section.String()), []byte(withoutPlaces(value)))
		}
		return err == nil
	})
	return out, err
}

// withoutPlaces is a section without the places among notes that its keys name.
func withoutPlaces(v gjson.Result) string {
	switch {
	case v.IsObject():
		var parts []string
		v.ForEach(func(k, m gjson.Result) bool {
			text := withoutPlaces(m)
			if namesPlace(k.String()) && m.Type == gjson.String && m.Str != "" {
				text = `"` + hidden + `"`
			}
			parts = append(parts, k.Raw+":"+text)
			return true
		})
		return "{" + strings.Join(parts, ",") + "}"
	case v.IsArray():
		var parts []string
		v.ForEach(func(_, m gjson.Result) bool {
			parts = append(parts, withoutPlaces(m))
			return true
		})
		return "[" + strings.Join(parts, ",") + "]"
	}
	return v.Raw
}

func namesPlace(key string) bool {
	key = strings.ToLower(key)
	for _, end := range placeEnds {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}
