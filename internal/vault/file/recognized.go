package file

import (
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// textRecord is the kind of records with the text recognized in images, by the image's path.
const textRecord = "ocr"

// getImageOCRText returns the text recognized in an image, "" if none was stored or there is no such image.
func getImageOCRText(tx *workspace.Tx, req api.Request) api.Reply {
	text := ""
	if p, ok := assetFile(req.OptStr("path")); ok {
		if r := tx.Record(textRecord, p); r != nil {
			text = string(r.Body)
		}
	}
	return api.OK(map[string]any{"text": text})
}

// setImageOCRText stores the text that a client has recognised in an image. "" removes it.
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

// annotationExt is appended to the name of a PDF for the file with its annotations.
const annotationExt = ".sya"

// noAsset returns the error for an address that is not that of an asset.
func noAsset(address string) api.Reply {
	return api.Notice("Query asset failed ["+address+"]", 5000)
}
