package kerneltest

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// This file reads the recordings of a real kernel.

//go:embed testdata/recordings/*.jsonl
var recordingFiles embed.FS

// Row is one recorded request with its answer, from a kernel of version 3.7.3.
type Row struct {
	// Scenario is the name of the row's file, Seq its line there from 1, Step a short name.
	Scenario string `json:"scenario"`
	Seq      int    `json:"seq"`
	Step     string `json:"step"`
	Note     string `json:"note"`

	Method     string            `json:"method"`
	Path       string            `json:"path"`
	ReqHeaders map[string]string `json:"reqHeaders"`
	// ReqBody is the JSON body; nil together with ReqRaw and ReqMultipart means no body at all.
	ReqBody json.RawMessage `json:"reqBody"`
	// ReqRaw is a body that is not JSON: a JSON text, or an object that describes a long one.
	ReqRaw json.RawMessage `json:"reqRaw"`
	// ReqBodyBig describes a JSON body too long to keep.
	ReqBodyBig   json.RawMessage `json:"reqBodyBig"`
	ReqMultipart []Part          `json:"reqMultipart"`

	Status      int               `json:"status"`
	RespHeaders map[string]string `json:"respHeaders"`
	// RespBody is the JSON answer, RespText any other text, RespBinary the size and hash of anything else.
	RespBody   json.RawMessage `json:"respBody"`
	RespText   *string         `json:"respText"`
	RespBinary json.RawMessage `json:"respBinary"`
	// RespTrimmed is set if lists or long texts of RespBody were cut.
	RespTrimmed json.RawMessage `json:"respTrimmed"`
	// TransportError says why there was no answer.
	TransportError string `json:"transportError"`

	// Captures are values of this answer that later requests use, by name; Uses names those that this request uses.
	Captures map[string]Capture `json:"captures"`
	Uses     []string           `json:"uses"`
	// MS is the time the answer took, in milliseconds.
	MS int `json:"ms"`
}

// Part is one part of a recorded multipart body.
type Part struct {
	Name        string  `json:"name"`
	Value       string  `json:"value"`
	Filename    string  `json:"filename"`
	ContentType string  `json:"contentType"`
	Size        int     `json:"size"`
	Text        *string `json:"text"`
}

// Capture is a value of an answer, found by a JSON Pointer into its body.
type Capture struct {
	Pointer string `json:"pointer"`
	Value   any    `json:"value"`
}

// Endpoint returns the row's path without its query.
func (r Row) Endpoint() string {
	endpoint, _, _ := strings.Cut(r.Path, "?")
	return endpoint
}

// Code returns the code of a JSON answer; ok is false for every other answer.
func (r Row) Code() (code int, ok bool) {
	var envelope struct{ Code *int }
	if json.Unmarshal(r.RespBody, &envelope) != nil || envelope.Code == nil {
		return 0, false
	}
	return *envelope.Code, true
}

// Recordings returns every recorded row: the scenarios in the order of their names, the rows of each as they were sent.
func Recordings(t testing.TB) []Row {
	t.Helper()
	rows, err := recordings()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(rows)
}

// recordings reads the rows once for the process.
var recordings = sync.OnceValues(func() ([]Row, error) {
	const dir = "testdata/recordings"
	entries, err := recordingFiles.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, entry := range entries {
		data, err := recordingFiles.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var row Row
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return rows, nil
})
