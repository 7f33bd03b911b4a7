package file

import (
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
		return noAsset(address)
	case text == "":
		tx.RemoveRecord(textRecord, p)
	default:
		tx.PutRecord(workspace.Record{Kind: textRecord, ID: p, Body: []byte(text)})
	}
	return api.Done()
}

// annotationExt is what the name of a PDF gets for the file of what was marked in it.
const annotationExt = ".sya"

// noAsset answers that an address names no asset.
func noAsset(address string) api.Reply {
	return api.Notice("Query asset failed ["+address+"]", 5000)
}
