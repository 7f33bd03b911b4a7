package file

import (
	"path"
	"strings"
	"time"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// textRecord is the kind of the records that hold what was recognised in images, by asset.
const textRecord = "ocr"

// getImageOCRText answers what was recognised in an image, "" for an image nobody has looked at and for no image.
func getImageOCRText(tx *workspace.Tx, req api.Request) api.Reply {
	text := ""
	if p, ok := assetFile(req.OptStr("path")); ok {
		if r := tx.Record(textRecord, p); r != nil {
			text = string(r.Body)
		}
	}
	return api.OK(map[string]any{"text": text})
}

func setImageOCRText(tx *workspace.Tx, req api.Request) api.Reply {
	address, text := req.Str("path"), req.Str("text")
	p, ok := assetFile(address)
	switch {
	case !ok:
		return noAsset(address, 5000)
	case text == "":
		tx.RemoveRecord(textRecord, p)
	default:
		tx.PutRecord(workspace.Record{Kind: textRecord, ID: p, Body: []byte(text)})
	}
	return api.Done()
}

// annotationExt is what the name of a PDF gets for the file of what was marked in it.
const annotationExt = ".sya"

func getFileAnnotation(tx *workspace.Tx, req api.Request) api.Reply {
	address := req.Str("path")
	p, refused := annotated(tx, address, 5000)
	if refused != nil {
		return *refused
	}
	data := tx.ReadFile(p + annotationExt)
	if data == nil {
		return api.OK(map[string]any{"data": ""})
	}
	return api.OK(map[string]any{"data": string(data)})
}

func setFileAnnotation(tx *workspace.Tx, req api.Request) api.Reply {
	address, data := req.Str("path"), req.Str("data")
	p, refused := annotated(tx, address, 0)
	if refused != nil {
		return *refused
	}
	tx.WriteFile(p+annotationExt, []byte(data), time.Time{})
	return api.Done()
}

// annotated is the asset whose annotations have an address, or the answer when there is none.
func annotated(tx *workspace.Tx, address string, closeTimeout int) (p string, refused *api.Reply) {
	name := strings.TrimSuffix(address, annotationExt)
	p, ok := assetFile(name)
	if f := tx.Stat(p); ok && path.Ext(address) == annotationExt && f != nil && !f.Dir {
		return p, nil
	}
	rep := noAsset(name, closeTimeout)
	return "", &rep
}

// noAsset answers that an address names no asset.
func noAsset(address string, closeTimeout int) api.Reply {
	msg := "Query asset failed [" + address + "]"
	if closeTimeout == 0 {
		return api.Fail(-1, msg)
	}
	return api.Notice(msg, closeTimeout)
}
