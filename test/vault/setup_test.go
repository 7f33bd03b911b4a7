package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// This file holds requests that are not in the recordings, or that the vault has no endpoint for, and which later
// steps of a scenario depend on.

type object = map[string]any

// call is a request that prepares what a recorded step finds.
type call struct {
	endpoint string
	body     object
	// made are the recorded ids of what the call makes, by the JSON pointer to the new id in the answer.
	made map[string]string
	// upload is the content of a file that body["path"] names, nil for a call without one.
	upload []byte
}

// standIns do, with endpoints of the vault, what endpoints that no tool uses did in the recordings. They are for
// steps that succeeded, and their answers are not compared.
var standIns = map[string]func(body, answer gjson.Result) []call{
	"/api/block/batchAppendBlock":              repeatOperations,
	"/api/block/batchPrependBlock":             repeatOperations,
	"/api/block/updateTaskListItemMarker":      repeatOperations,
	"/api/block/batchUpdateTaskListItemMarker": repeatOperations,
	"/api/transactions/undo":                   repeatOperations,
	"/api/transactions/redo":                   repeatOperations,
	"/api/av/addAttributeViewKey": func(body, _ gjson.Result) []call {
		if !body.Get("keyIcon").Exists() {
			return nil // did nothing
		}
		return runOperations(object{
			"action": "addAttrViewCol", "avID": body.Get("avID").Str, "id": body.Get("keyID").Str, "name": body.Get("keyName").Str,
			"type": body.Get("keyType").Str, "data": body.Get("keyIcon").Str, "previousID": body.Get("previousKeyID").Str,
		})
	},
	"/api/av/removeAttributeViewKey": func(body, _ gjson.Result) []call {
		return runOperations(object{
			"action": "removeAttrViewCol", "avID": body.Get("avID").Str, "id": body.Get("keyID").Str, "removeDest": body.Get("removeRelationDest").Bool(),
		})
	},
	"/api/av/addAttributeViewBlocks": func(body, _ gjson.Result) []call {
		if body.Get("srcs.#").Int() != body.Get("srcs.#.isDetached|#").Int() {
			return nil // did nothing
		}
		return runOperations(object{
			"action": "insertAttrViewBlock", "avID": body.Get("avID").Str, "blockID": body.Get("blockID").Str, "srcs": body.Get("srcs").Value(),
		})
	},
	"/api/av/removeAttributeViewBlocks": func(body, _ gjson.Result) []call {
		return runOperations(object{"action": "removeAttrViewBlock", "avID": body.Get("avID").Str, "srcIDs": body.Get("srcIDs").Value()})
	},
	"/api/av/setAttributeViewBlockAttr": func(body, _ gjson.Result) []call { return runOperations(setCell(body.Get("avID"), body)...) },
	"/api/av/batchSetAttributeViewBlockAttrs": func(body, _ gjson.Result) []call {
		var cells []object
		for _, one := range body.Get("values").Array() {
			cells = append(cells, setCell(body.Get("avID"), one)...)
		}
		return runOperations(cells...)
	},
	"/api/av/appendAttributeViewDetachedBlocksWithValues": func(body, _ gjson.Result) []call {
		const row, last = "20261121033141-bulkrow", "20261121033140-lkia82q"
		ops := []object{{
			"action": "insertAttrViewBlock", "avID": body.Get("avID").Str, "previousID": last, "ignoreDefaultFill": true,
			"srcs": []object{{"itemID": row, "isDetached": true}},
		}}
		for _, one := range body.Get("blocksValues.0").Array() {
			value, _ := sjson.Set(one.Raw, "isDetached", true)
			ops = append(ops, object{
				"action": "updateAttrViewCell", "avID": body.Get("avID").Str, "keyID": one.Get("keyID").Str, "rowID": row, "data": json.RawMessage(value),
			})
		}
		return runOperations(ops...)
	},
	"/api/av/batchReplaceAttributeViewBlocks": func(body, _ gjson.Result) []call {
		var ops []object
		for row, block := range body.Get("oldNew.0").Map() {
			ops = append(ops, object{
				"action": "updateAttrViewCell", "avID": body.Get("avID").Str, "keyID": "20261121033140-vps8cro", "rowID": row,
				"data": object{"isDetached": false, "block": object{"id": block.Str}},
			})
		}
		return runOperations(ops...)
	},
	"/api/av/removeUnusedAttributeView": func(body, _ gjson.Result) []call {
		return []call{{endpoint: "/api/file/removeFile", body: object{"path": "/data/storage/av/" + body.Get("id").Str + ".json"}}}
	},
	"/api/asset/removeUnusedAssets": func(_, answer gjson.Result) []call {
		var calls []call
		for _, at := range answer.Get("data.paths").Array() {
			calls = append(calls, call{endpoint: "/api/asset/removeUnusedAsset", body: object{"path": strings.TrimPrefix(at.Str, "/workspace/data/")}})
		}
		return calls
	},
	"/api/filetree/li2Doc": func(body, _ gjson.Result) []call {
		item := body.Get("srcListItemID").Str
		return []call{{endpoint: "/api/block/deleteBlock", body: object{"id": item}}, {endpoint: "/api/filetree/createDocWithMd", body: object{
			"notebook": body.Get("targetNoteBook").Str, "path": "/item one", "markdown": "", "id": item,
		}}}
	},
	"/api/tag/removeTag": func(body, _ gjson.Result) []call {
		if body.Get("label").Str != "另一个" {
			return nil // there was no such tag
		}
		return []call{{endpoint: "/api/block/updateBlock", body: object{
			"dataType": "markdown", "data": "#subject/renamed 改名# 另一个 #subject#", "id": "20261121033124-hl6swmh",
		}}}
	},
	"/api/search/removeTemplate": func(body, _ gjson.Result) []call {
		at, ok := strings.CutPrefix(body.Get("path").Str, "/workspace/data/templates/")
		if !ok {
			return nil // the kernel removed it all the same
		}
		return []call{{endpoint: "/api/file/removeFile", body: object{"path": "/data/templates/" + at}}}
	},
	"/api/filetree/renameDoc": func(body, _ gjson.Result) []call {
		return []call{{endpoint: "/api/filetree/renameDocByID", body: object{"id": idOf(body.Get("path")), "title": body.Get("title").Str}}}
	},
	"/api/filetree/moveDocs": func(body, _ gjson.Result) []call {
		to := body.Get("toNotebook").Str
		if body.Get("toPath").Str != "/" {
			to = idOf(body.Get("toPath"))
		}
		return []call{{endpoint: "/api/filetree/moveDocsByID", body: object{"fromIDs": idsOf(body.Get("fromPaths")), "toID": to}}}
	},
	"/api/filetree/removeDoc": func(body, _ gjson.Result) []call { return removeDocuments(idOf(body.Get("path"))) },
	"/api/filetree/removeDocs": func(body, _ gjson.Result) []call {
		return removeDocuments(idsOf(body.Get("paths"))...)
	},
	"/api/notebook/changeSortNotebook": func(body, _ gjson.Result) []call {
		var calls []call
		for i, id := range body.Get("notebooks").Array() {
			calls = append(calls, call{endpoint: "/api/notebook/setNotebookConf", body: object{"notebook": id.Str, "conf": object{"sort": i + 1}}})
		}
		return calls
	},
	"/api/import/importSY": func(_, _ gjson.Result) []call {
		return []call{{endpoint: "/api/filetree/createDocWithMd", body: object{
			"notebook": "20261121033136-1waasxw", "path": "/Child 子", "markdown": "imported", "id": "20261121033136-fsll2bb",
		}}, {endpoint: "/api/filetree/changeSort", body: object{
			"notebook": "20261121033136-1waasxw", "paths": []string{"/20261121033136-fsll2bb.sy", "/20261121033136-hrtxfq0.sy"},
		}}}
	},
	"/api/block/moveOutlineHeading": func(body, _ gjson.Result) []call { // in the recording, the heading stayed in its place and became one of level 1
		return []call{{endpoint: "/api/block/updateBlock", body: object{"dataType": "markdown", "data": "# H2b", "id": body.Get("id").Str}}}
	},
	"/api/archive/unzip": func(body, _ gjson.Result) []call {
		return []call{{endpoint: "/api/file/putFile", body: object{"path": body.Get("path").Str + "/rec", "isDir": "true"}, upload: []byte{}}}
	},
	"/api/template/docSaveAsTemplate": func(body, _ gjson.Result) []call {
		if !body.Get("overwrite").Exists() || body.Get("id").Str == "20990101000000-zzzzzzz" {
			return nil // does nothing
		}
		name := strings.ReplaceAll(body.Get("name").Str, "/", "_")
		return []call{{endpoint: "/api/file/putFile", body: object{"path": "/data/templates/" + name + ".md"}, upload: []byte("a template")}}
	},
}

// unrecorded are requests that must be sent before a step, by its name, so that it finds what it shows: some were
// sent in bursts that were not recorded, some by scenarios that ran before, and some do what the kernel does in a
// step that the vault refuses.
var unrecorded = map[string]func(body, answer gjson.Result) []call{
	"concurrency#5": func(body, answer gjson.Result) []call {
		var calls []call
		for _, b := range answer.Get("data").Array()[1:] {
			calls = append(calls, appendBlock(body.Get("id").Str, b.Get("content").Str, b.Get("id").Str))
		}
		return calls
	},
	"concurrency#8": func(body, _ gjson.Result) []call {
		return []call{{endpoint: "/api/block/updateBlock", body: object{"dataType": "markdown", "data": "winner 48", "id": body.Get("id").Str}}}
	},
	"concurrency#9": func(body, answer gjson.Result) []call {
		var calls []call
		for name, value := range answer.Get("data").Map() {
			if strings.HasPrefix(name, "custom-") {
				calls = append(calls, call{endpoint: "/api/attr/setBlockAttrs", body: object{"id": body.Get("id").Str, "attrs": object{name: value.Str}}})
			}
		}
		return calls
	},
	"concurrency#10": func(body, answer gjson.Result) []call {
		var calls []call
		for _, id := range answer.Get("data").Array() {
			calls = append(calls, call{endpoint: "/api/filetree/createDocWithMd", made: map[string]string{"/data": id.Str}, body: object{
				"notebook": body.Get("notebook").Str, "path": body.Get("path").Str, "markdown": "",
			}})
		}
		return calls
	},
	"sql#19": func(_, _ gjson.Result) []call {
		const doc = "20261121033054-kr5mfy8"
		return []call{
			appendBlock(doc, "delay 1", "20261121033059-higo1dc"), appendBlock(doc, "delay 2", "20261121033102-11n6f67"),
			appendBlock(doc, "delay 3", "20261121033105-vcqyx22"), appendBlock(doc, "delay 4", "20261121033108-ukgmohx"),
		}
	},
	"search#76": func(_, answer gjson.Result) []call {
		return uploadFiles("/workspace", answer.Get("data.templates.#.path"), "a template")
	},
	"search#83": func(_, answer gjson.Result) []call {
		return uploadFiles("/data/", answer.Get("data.assetContents.#.path"), "hello asset text 你好")
	},
	"samples#19": func(_, answer gjson.Result) []call {
		row := answer.Get("data.20261121033340-ebcwqa0").Str
		return []call{{
			endpoint: "/api/av/renderAttributeView", body: object{"id": "20240801120000-avsampl", "blockID": "20240801120000-blsampl"},
			made: map[string]string{"/data/view/rows/0/id": row},
		}}
	},
	"samples#27": func(_, _ gjson.Result) []call {
		return uploadFiles("", gjson.Parse(`["/data/snippets/conf.json"]`), "[]")
	},
	"samples#28": func(_, _ gjson.Result) []call {
		return uploadFiles("/data/storage/", gjson.Parse(`["bazaar.json", "criteria.json", "local.json", "petal/x", "ref-used.json", "riff/x"]`), "{}")
	},
	"snippets#19": func(_, answer gjson.Result) []call {
		return uploadFiles("", gjson.Parse(`["/data/snippets/conf.json"]`), answer.Raw)
	},
	"closed_notebook#38": func(_, answer gjson.Result) []call {
		const box = "20261121033339-vn45as4"
		doc := func(title string) call {
			return call{endpoint: "/api/filetree/createDocWithMd", body: object{"notebook": box, "path": title, "markdown": ""}}
		}
		return []call{
			{endpoint: "/api/notebook/createNotebook", body: object{"name": "Samples 样本"}, made: map[string]string{"/data/notebook/id": box}},
			{endpoint: "/api/notebook/setNotebookConf", body: object{"notebook": box, "conf": object{"icon": "1f4d8", "sort": 1}}},
			doc("/A"), doc("/B"),
		}
	},
	"filetree#120": func(body, _ gjson.Result) []call { return removeDocuments(body.Get("id").Str) },
	"limits#26": func(body, _ gjson.Result) []call {
		return []call{{endpoint: "/api/filetree/createDocWithMd", made: map[string]string{"/data": body.Get("id").Str}, body: object{
			"notebook": "20261121033257-asowzsy", "path": "/Huge", "markdown": "# Huge",
		}}}
	},
}

// preparingCalls returns the requests to send before a row, or instead of it if the vault has no such endpoint. known
// says whether it has.
func preparingCalls(row kerneltest.Row, known bool) []call {
	body, answer := gjson.ParseBytes(row.ReqBody), gjson.ParseBytes(row.RespBody)
	if missing := unrecorded[stepName(row)]; missing != nil {
		return missing(body, answer)
	}
	standIn := standIns[row.Endpoint()]
	if known || standIn == nil || answer.Get("code").Int() != 0 {
		return nil
	}
	return standIn(body, answer)
}

// row returns the call in the form of a recorded row.
func (c call) row() kerneltest.Row {
	row := kerneltest.Row{Method: http.MethodPost, Path: c.endpoint, Status: http.StatusOK, Captures: map[string]kerneltest.Capture{}}
	for pointer, id := range c.made {
		row.Captures[pointer] = kerneltest.Capture{Pointer: pointer, Value: id}
	}
	if c.upload == nil {
		row.ReqBody, _ = json.Marshal(c.body)
		return row
	}
	for field, value := range c.body {
		row.ReqMultipart = append(row.ReqMultipart, kerneltest.Part{Name: field, Value: fmt.Sprint(value)})
	}
	text := string(c.upload)
	row.ReqMultipart = append(row.ReqMultipart, kerneltest.Part{Name: "file", Filename: "file", ContentType: "text/plain", Text: &text})
	return row
}

// repeatOperations returns a call that runs the operations that a recorded answer says were done.
func repeatOperations(_, answer gjson.Result) []call {
	done := answer.Get("data")
	if done.IsObject() {
		done = gjson.Parse("[" + done.Raw + "]")
	}
	var transactions []object
	for _, one := range done.Array() {
		if ops := one.Get("doOperations"); ops.Exists() {
			transactions = append(transactions, object{"doOperations": ops.Value(), "undoOperations": []any{}})
		}
	}
	return runTransactions(transactions...)
}

// runTransactions returns a call that runs transactions.
func runTransactions(transactions ...object) []call {
	if transactions == nil {
		return nil
	}
	return []call{{endpoint: "/api/transactions", body: object{"transactions": transactions, "reqId": 1, "app": "rec", "session": "rec1"}}}
}

// runOperations returns a call that runs operations in one transaction.
func runOperations(ops ...object) []call {
	return runTransactions(object{"doOperations": ops, "undoOperations": []any{}})
}

// setCell returns the operation that sets the cell that a request names, or none if it has no value.
func setCell(database, named gjson.Result) []object {
	if !named.Get("value").Exists() {
		return nil
	}
	return []object{{
		"action": "updateAttrViewCell", "avID": database.Str, "keyID": named.Get("keyID").Str, "rowID": named.Get("itemID").Str,
		"data": named.Get("value").Value(),
	}}
}

// appendBlock returns a call that appends a block, whose recorded id is made.
func appendBlock(parent, markdown, made string) call {
	return call{
		endpoint: "/api/block/appendBlock", body: object{"dataType": "markdown", "data": markdown, "parentID": parent},
		made: map[string]string{"/data/0/doOperations/0/id": made},
	}
}

// removeDocuments returns calls that remove documents.
func removeDocuments(ids ...string) []call {
	var calls []call
	for _, id := range ids {
		calls = append(calls, call{endpoint: "/api/filetree/removeDocByID", body: object{"id": id}})
	}
	return calls
}

// uploadFiles returns calls that write files into the workspace. folder is the prefix that the recorded paths have, or
// lack, before paths of the workspace.
func uploadFiles(folder string, paths gjson.Result, content string) []call {
	var calls []call
	for _, at := range paths.Array() {
		under := strings.TrimPrefix(at.Str, folder)
		if !strings.HasPrefix(under, "/") {
			under = folder + under
		}
		calls = append(calls, call{endpoint: "/api/file/putFile", body: object{"path": under}, upload: []byte(content)})
	}
	return calls
}

// idOf returns the id of the document at a path.
func idOf(at gjson.Result) string { return strings.TrimSuffix(path.Base(at.Str), ".sy") }

// idsOf returns the ids of the documents at paths.
func idsOf(paths gjson.Result) []string {
	var ids []string
	for _, at := range paths.Array() {
		ids = append(ids, idOf(at))
	}
	return ids
}

// longBodies are request bodies that were too long to be recorded, by step. The recordings have their hashes.
var longBodies = map[string]func() string{
	"limits#4": func() string {
		return `{"dataType": "markdown", "data": "` + strings.Repeat("word ", 20_000) + `", "parentID": "20261121033257-joqx2pu"}`
	},
	"limits#24": func() string {
		return `{"dataType": "markdown", "data": "` + strings.Repeat("y", 8<<20) + `", "parentID": "20990101000000-zzzzzzz"}`
	},
	"limits#27": func() string {
		return `{"id": "20261121033257-joqx2pu", "attrs": {"custom-huge": "` + strings.Repeat("v", 100_000) + `"}}`
	},
	"limits#28": func() string { return `{"stmt": "select 1 as x -- ` + strings.Repeat("c", 200_000) + `"}` },
}

// withBody puts the body into a row that was recorded without it, and checks its hash.
func withBody(t *testing.T, row kerneltest.Row) kerneltest.Row {
	long := longBodies[stepName(row)]
	if long == nil {
		return row
	}
	sum := sha256.Sum256([]byte(long()))
	want := gjson.GetBytes(row.ReqBodyBig, "sha256").Str + gjson.GetBytes(row.ReqRaw, "sha256").Str
	if hex.EncodeToString(sum[:]) != want {
		t.Fatalf("%s: this is not the body that was sent", stepName(row))
	}
	row.ReqBody, row.ReqBodyBig, row.ReqRaw = json.RawMessage(long()), nil, nil
	return row
}
